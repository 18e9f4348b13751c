// Reuse along a loop into code: loads whose bytes the iteration before had become moves.
//
// What is emitted, for a load D of address register a that the iteration before had in register s:
//
//     $L_loop:                            entered from outside
//       add.s64       t, b, i;            what D's address takes, on copies of the registers
//       ld.global.f32 c, [t+8];           D of the first trip
//     $ptxasw_rotated_0:
//       ...
//       mov.b32       d, c;               where D was
//       ...
//       mov.b32       c, s;               at the end of the trip, for the next one
//       @p bra $ptxasw_rotated_0;         which came back to $L_loop
//
// Where indices have to be checked, a test of all of them stands behind the label, and the loop as
// it was behind the whole, to which a thread goes on whose index would wrap. An index that is only
// computed in the trip is checked at the load:  @!ok ld.global.f32 c, [a+8];  mov.b32 d, c;
//
// PROOF.md argues that this is sound. It costs a register and two moves a trip for each value,
// of which ptxas keeps one, and about four instructions for each check.
#pragma once

#include "passes/loop_carry/find.hpp"
#include "ptx/parse.hpp"

#include <vector>

namespace ptxasw::passes {

// The edits for all loops of the plan. Loads whose registers cannot be named where they are needed
// (nested scopes) leave the plan, with a reason.
std::vector<ptx::Edit> rotate(const emulator::Kernel& kernel, LoopCarryPlan& plan);

} // namespace ptxasw::passes
