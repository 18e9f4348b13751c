// The straight way through a kernel's machine code: from its first instruction to an exit that
// nothing guards, never back, and where it can go two ways along the one that stores more. That is
// what most warps of a kernel without loops do, and in a coarsened kernel the form in which all
// copies run together.
//
// From sm_70 on an instruction has 128 bits: the opcode in bits 0..11, its guard in 12..15, where a
// branch leads from bit 32 on, and in bits 105..121 what the compiler tells the scheduler: cycles
// to wait before the next instruction, the barriers that are raised when a result has come or a
// source has been read, and those to wait for. So a compiler's schedule can be timed without
// running it: how many loads are under way at once is in the code, and with it how much of their
// latency a warp sees.
#pragma once

#include "ptxasw/assembler.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::cost {

// `load_latency`: cycles that a load from global memory takes. Nothing where no exit is found.
std::optional<StraightPath> straight_path(std::string_view code, double load_latency);

// The way of fewest instructions among those that store at least once. In a kernel that merges
// blocks of large launches only it is the form that stands for a block by itself.
std::optional<StraightPath> shortest_path(std::string_view code, double load_latency);

// Every loop, inner ones before what is around them.
std::vector<LoopPath> loop_paths(std::string_view code);

} // namespace ptxasw::cost
