// Which operands of an instruction are written, and in which format the others are read.
#pragma once

#include "ptx/module.hpp"

#include <cstddef>
#include <span>

namespace ptxasw::ptx {

// Leading operands that the instruction writes, modifiers considered.
std::size_t result_count(Op op, const Modifiers& mods, std::span<const Operand> operands);

// The type in whose format source number `index` is read.
Type source_type(Op op, const Modifiers& mods, std::size_t index);

} // namespace ptxasw::ptx
