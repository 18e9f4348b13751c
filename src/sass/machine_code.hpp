// The machine code of the kernels in a cubin.
#pragma once

#include "sass/instruction.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::sass {

// Contents of the .text.KERNEL sections by kernel; empty for anything that is not a 64-bit
// little-endian ELF file.
std::map<std::string, std::string> machine_code(std::string_view cubin);
// The same in instructions.
std::map<std::string, std::vector<Instruction>, std::less<>> decoded(std::string_view cubin);

} // namespace ptxasw::sass
