// A loop over places of which the compiler made two, as one thread for each place:
//
//   for (; 4 places are left; z += 4) { place z; z + 1; z + 2; z + 3 }     four at a time, and
//   for (; z < end; ++z) { place z }                                       what is left
//
// Or the second one is no loop, where at most one place is left. The kernel that is made does what
// is left for the place %ctaid.z, as if all in front of it were done. Steps are looked for in that
// kernel; it is never launched. PROOF.md, "A loop that was unrolled", says why that is the same.
#pragma once

#include "passes/time_tile/other_kernel/sweep.hpp"

namespace ptxasw::passes {

// No module: the kernel has no such loops, or `refused` says what is in the way.
Swept reroll(const emulator::Kernel& kernel, const emulator::Budget& budget = {});

} // namespace ptxasw::passes
