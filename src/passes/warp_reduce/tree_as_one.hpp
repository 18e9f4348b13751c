// Rounds that are one reduction over the lanes of a warp: `redux.sync` in their place.
//
// Of a tree of width 16 that has its elements in registers, lane 0 is left with what one operation
// makes of all 32 of them, in an order that the tree chooses. Sums, minima, maxima and the bitwise
// operations of integers do not hang on the order. Conditions, and where each is checked:
//   one array of words, and a tree of the first warp alone                       is_plain
//   a round is: load the own element and the one w further on, apply the
//   operation, store the own; no other access, each on registers of its own      operation
//   at each of the widths 16, 8, 4, 2 and 1 that is done by the threads below
//   the width, by all of them and by no others                                   by_those_below
//   these are the widths, in this order, and the rounds end behind the last      all_widths
//   behind the rounds nothing that they computed is read but the element of
//   thread 0, by thread 0, and what does not hang on the rounds            only_the_first
// The chip has to have the instruction: sm_80, PTX 7.0.
#pragma once

#include "passes/warp_reduce/find.hpp"

namespace ptxasw::passes {

// Sets `combined` and `combined_from` where all of that holds. `width`: of rounds in a loop.
void find_reduction(emulator::Kernel& kernel, sym::Solver& solver, sym::Term width,
                    TreeReduction& rounds);

} // namespace ptxasw::passes
