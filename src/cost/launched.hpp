// What a coarsened kernel gains where the host divides the grid, for one block size.
//
// Two things differ from the model of coarsening.hpp. No block returns at once, so nothing is paid
// for that. And blocks launch at a limited rate, whatever they do: on an H200 an SM takes a new
// block every 140 cycles or so (vecadd, 2^26 elements in blocks of 128 threads: 0.61 ns a block on
// 132 SMs), which small blocks of short kernels wait for, and which fewer blocks do not.
#pragma once

#include "cost/coarsening.hpp"

namespace ptxasw::cost {

// In launches of many waves; 0 where ptxas was not asked.
double launched_gain(const Profile& profile, const CoarsenBaseline& original,
                     const CoarsenCandidate& candidate, unsigned threads);

} // namespace ptxasw::cost
