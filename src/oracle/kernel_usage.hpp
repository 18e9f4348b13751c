// What an assembler made of each kernel of a text, as the cost model wants to know it.
#pragma once

#include "ptxasw/assembler.hpp"
#include "sass/instruction.hpp"
#include "target/profile.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::oracle {

struct MadeKernel {
  Usage usage;
  std::vector<sass::Instruction> code; // empty: it could not be read
};
// By name; kernels of which it says nothing are left out.
std::map<std::string, MadeKernel> kernels_made(const std::optional<Assembled>& assembled,
                                               const target::Profile& profile);

} // namespace ptxasw::oracle
