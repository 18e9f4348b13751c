// The backward slice of addresses and branch conditions: which registers have to be followed.
//
// Flow-insensitive: a register is needed when an address, a branch, a guard of a memory access or a
// needed instruction reads it. Everything else (the floating-point work of a kernel) is not
// emulated at all.
#pragma once

#include "ptx/body.hpp"

#include <vector>

namespace ptxasw::emulator {

struct Slice {
  std::vector<std::uint32_t> index;  // by RegId: dense number among the needed ones, or ptx::none
  std::vector<ptx::RegId> registers; // the needed ones
  [[nodiscard]] bool needs(ptx::RegId reg) const { return index[reg] != ptx::none; }
};

Slice address_slice(const ptx::Body& body);

} // namespace ptxasw::emulator
