// Trees in which a thread works for others:
//
//     for (w = 1; w < n; w *= 2) { k = 2 * w * t; if (k < n) s[k] += s[k + w]; barrier; }
//
// At width w thread u works on the elements 2wu and 2wu + w, in each round on others. If instead
// thread t = 2wu did what thread u does, each would stay with its own element, and up to width 16
// within its warp: lane t takes the loop's body with t / 2w in place of its number. Nothing else
// than the number may tell threads apart there. Conditions, and where each is checked:
//   the width doubles, from 1 on (Rounds::grows)                       rounds.cpp: doubles
//   stores at base + 2w * t elements, other accesses there or w
//   further on, for each of the widths                                 place
//   a register that holds %tid.x and is never written again; all else
//   that the loop is entered with is the same for the whole block      same_for_all
//   what is live in the next trip or behind the loop, too              same_for_all
//   who gets to an access has 2w * t < %ntid.x: its work has a lane    works_for_a_thread
//   arrays are named and lie apart, as far as threads have elements    apart
#pragma once

#include "passes/warp_reduce/find.hpp"

#include <string>
#include <vector>

namespace ptxasw::passes {

// Cells, accesses and the register of the thread into `rounds`, a loop, and the width; `why`, what
// spoke against other trees, is empty then. False: it is none, and all is as it was.
bool find_strided(emulator::Kernel& kernel, sym::Solver& solver, Rounds& rounds,
                  std::vector<std::size_t>& events, sym::Term& width, std::string& why);

} // namespace ptxasw::passes
