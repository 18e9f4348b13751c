// What lies between a branch and the place where all ways from it have joined.
#pragma once

#include "analysis/cfg.hpp"

#include <vector>

namespace ptxasw::analysis {

// By BlockId: the blocks on a way from the end of `branch` to its immediate post-dominator, which
// is left out; to the exit and in endless loops where it has none. `branch` itself is one of them
// if a way leads back to it.
std::vector<bool> influence_region(const Cfg& cfg, BlockId branch);

} // namespace ptxasw::analysis
