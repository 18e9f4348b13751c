// The straight way through a kernel's machine code: from its first instruction to an exit that
// nothing guards, never back, and where it can go two ways along the one that stores more. That is
// what most warps of a kernel without loops do, and in a coarsened kernel the form in which all
// copies run together.
//
// The code has in it what the compiler tells the scheduler (sass/instruction.hpp), so a schedule
// can be timed without running it: how many loads are under way at once, and with it how much of
// their latency a warp sees.
#pragma once

#include "ptxasw/assembler.hpp"
#include "sass/instruction.hpp"

#include <optional>
#include <span>

namespace ptxasw::oracle {

// `load_latency`: cycles that a load from global memory takes. Nothing where no exit is found.
std::optional<StraightPath> straight_path(std::span<const sass::Instruction> code,
                                          double load_latency);

// The same where the first branch leads the other way: of a coarsened kernel, where launches go
// that are not merged.
std::optional<StraightPath> other_path(std::span<const sass::Instruction> code,
                                       double load_latency);

} // namespace ptxasw::oracle
