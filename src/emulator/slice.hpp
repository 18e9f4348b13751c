// The backward slice of addresses and branch conditions: which registers have to be followed.
//
// Flow-insensitive: a register is needed when an address, a branch, a guard of a memory access or a
// needed instruction reads it. Everything else (the floating-point work of a kernel) is not
// emulated at all, unless what stores write is asked for.
#pragma once

#include "emulator/emulate.hpp"

#include <vector>

namespace ptxasw::emulator {

struct Slice {
  std::vector<std::uint32_t> index;  // by RegId: dense number among the needed ones, or ptx::none
  std::vector<ptx::RegId> registers; // the needed ones
  bool calls = false;                // results of calls are among them
  bool values = false;               // what stores write is followed
  [[nodiscard]] bool needs(ptx::RegId reg) const { return index[reg] != ptx::none; }
};

Slice slice_of(const ptx::Body& body, Follow follow);

} // namespace ptxasw::emulator
