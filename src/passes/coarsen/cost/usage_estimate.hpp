// What an assembler would make of a kernel and of a way to coarsen it, guessed from the work that
// the plans count: to choose what is worth asking about, or to do without asking.
//
// Logarithms of path, latency and registers are linear in logarithms of the work; bench/fit_usage
// fits the numbers to what ptxas said and judges each kernel by a fit without it. Over 38 kernels
// of the benchmarks for sm_90 (ptxas 13.0), root mean square of the logarithm: path 0.18, latency
// 0.36, registers 0.23 for kernels as they stand; 0.16, 0.44, 0.26 for 258 ways to coarsen them.
#pragma once

#include "ptxasw/coarsening.hpp"

namespace ptxasw::passes {

// Of the kernel as it stands.
Usage estimated_usage(const CoarsenBaseline& original);

// Of the way, from what is known or guessed of the original (its `usage` must be there).
Usage estimated_usage(const CoarsenBaseline& original, const CoarsenCandidate& way);

} // namespace ptxasw::passes
