// Divisions by the width of a step, where the copy at hand is of one width.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/warp_reduce/find.hpp"

#include <cstdint>
#include <optional>

namespace ptxasw::passes {

// By what power of two the instruction divides a register in an iteration that begins with `width`
// (0: not known), if that depends on the width alone: ptxas does not make a shift of it.
std::optional<std::uint32_t> known_divisor(const emulator::Kernel& kernel,
                                           const TreeReduction& tree, std::uint32_t width,
                                           ptx::InstId inst);

} // namespace ptxasw::passes
