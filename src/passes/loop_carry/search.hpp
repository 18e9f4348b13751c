// How many registers do rotated kernels get, and how many trips stand one after another? Asked of
// an assembler and of the cost model together, as coarsening is (passes/coarsen/search/search.hpp).
//
// Left to itself ptxas gives a kernel few registers, for the sake of warps, and then a trip waits
// for a few of its loads at a time. With a limit written down it takes more of them
// (passes/loop_carry/cost.hpp). Neither a limit nor the number of trips is a matter of soundness.
#pragma once

#include "passes/loop_carry/choose.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/report.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::passes {

// Nobody was asked.
inline LoopCarryCandidate rotation_without_limit(const Options& options) {
  return {.iterations = std::max(options.loop_carry_iterations, 1U)};
}

// A kernel that is rotated, and may have a limit of registers written down.
struct LoopCarrySearched {
  std::string name;
  std::optional<BlockSizes> resident; // of which as many have to stay on an SM
  LoopCarryCandidate* way = nullptr;  // what is chosen is left here
  std::function<std::vector<ptx::Edit>(const LoopCarryCandidate&)>
      emit; // that form and nothing else
};

// Leaves the ways in the kernels, and the number of trials in the report.
void choose_loop_carry_candidates(const ptx::Module& module,
                                  std::span<const LoopCarrySearched> kernels,
                                  const Options& options, Assembler& assembler, Report& report);

} // namespace ptxasw::passes
