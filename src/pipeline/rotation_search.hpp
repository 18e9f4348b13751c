// How many registers do rotated kernels get, and how many trips stand one after another? Asked of
// an assembler and of the cost model together, as coarsening is (coarsen_search.hpp).
//
// Left to itself ptxas gives a kernel few registers, for the sake of warps, and then a trip waits
// for a few of its loads at a time. With a limit written down it takes more of them
// (passes/loop_carry/cost.hpp). Neither a limit nor the number of trips is a matter of soundness.
#pragma once

#include "pipeline/kernel_job.hpp"

#include <algorithm>
#include <span>

namespace ptxasw::pipeline {

// Nobody was asked.
inline passes::RotationWay rotation_without_limit(const Options& options) {
  return {.trips = std::max(options.rotate_trips, 1U)};
}

// Of kernels that are rotated; leaves the ways in the jobs, and the number of trials in the report.
void choose_rotation_ways(const ptx::Module& module, std::span<KernelJob* const> jobs,
                          const Options& options, Assembler& assembler, Report& report);

} // namespace ptxasw::pipeline
