// What stands behind a stretch of rounds (find.hpp): whether it needs what the stretch has left.
#pragma once

#include "passes/warp_reduce/find.hpp"

namespace ptxasw::passes {

// May the register be read from `inst` on, before it is written?
bool is_live(const emulator::Kernel& kernel, ptx::InstId inst, ptx::RegId reg);

// Nothing that can be reached from the end of the stretch needs a barrier there: no barrier, call,
// or store or atomic on shared memory, no generic access, and of loads from shared memory only
// those that are proven to be of the element that the thread itself has stored.
bool reads_own_only(emulator::Kernel& kernel, sym::Solver& solver, const TreeReduction& rounds);

// Sets own_behind, and rest_copied with the loads that it takes: the rest is plain text of which
// nothing branches back, and each load is proven to be by a thread below twice the width.
void look_at_rest(emulator::Kernel& kernel, sym::Solver& solver, TreeReduction& rounds);

} // namespace ptxasw::passes
