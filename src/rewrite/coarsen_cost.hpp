// How much work coarsening leaves: the figures from which the factors are chosen.
//
// Instructions that nothing needs any more (the address of a covered load) are left out, as ptxas
// leaves them out. Each counts as often as it runs, a loop being taken to make 16 trips.
#pragma once

#include "reuse/block.hpp"

namespace ptxasw::rewrite {

struct CopyWork {
  double loads = 0, load_bytes = 0; // per thread, of all memory but parameters and constants
  double stores = 0;
  double other = 0; // arithmetic, moves, branches; moves of covered loads cost nothing
};

struct CoarsenCost {
  CopyWork before; // of C copies of the original body
  CopyWork after;  // of the lockstep form, its frame not counted
};

CoarsenCost coarsen_cost(const emulator::Kernel& kernel, const reuse::BlockPlan& plan);

} // namespace ptxasw::rewrite
