// How much work coarsening leaves: the figures from which the factors are chosen.
//
// Instructions that nothing needs any more (the address of a covered load) are left out, as ptxas
// leaves them out. Each counts as often as it runs, a loop being taken to make 16 trips.
#pragma once

#include "passes/coarsen/find/block.hpp"

#include <span>

namespace ptxasw::passes {

struct CopyWork {
  double loads = 0;     // per thread, of all memory but parameters and constants
  double far_loads = 0; // and but shared memory
  double load_bytes = 0;
  double stores = 0;
  double cycles = 0;   // of the load/store pipe, per warp
  double once = 0;     // instructions, each counted one time
  double other = 0;    // arithmetic, moves, branches; moves of covered loads cost nothing
  double barriers = 0; // of the block, also counted in `other`
};

struct CoarsenCost {
  CopyWork before; // of C copies of the original body
  CopyWork after;  // of the lockstep form, its frame not counted
};

// `cycles`: what one execution of each event's access costs a warp; empty: not asked for.
CoarsenCost coarsen_cost(const emulator::Kernel& kernel, const BlockPlan& plan,
                         std::span<const double> cycles = {});

} // namespace ptxasw::passes
