// What a coarsened kernel gains where the host divides the grid, in one launch.
//
// Two things differ from the model of coarsening.hpp: no block returns at once, and fewer blocks
// have to start.
#pragma once

#include "passes/coarsen/cost/cost.hpp"

namespace ptxasw::passes {

// The least of what it gains with its data in DRAM and in the L2 cache; 0 where ptxas was not
// asked. `waves`: threads of the original launch over those that the chip holds.
double launched_gain(const target::Profile& profile, const CoarsenBaseline& original,
                     const CoarsenCandidate& candidate, unsigned threads, double waves);

} // namespace ptxasw::passes
