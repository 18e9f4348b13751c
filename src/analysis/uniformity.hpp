// Divergence analysis: over which threads a register holds the same value, and which branches can
// send threads different ways.
//
// A monotone fixpoint over registers (flow-insensitive, as compilers name their registers almost in
// SSA form). Three rules raise a register:
//   data      a definition is as varying as its sources and its guard;
//   sync      two paths that a varying branch separates join in a block where the register is live,
//             and one of the paths defines it;
//   temporal  a register defined in a loop that threads leave at different trips.
// Anything that is not a plain function of its operands (loads that memory may change under,
// atomics, shuffles, votes, lane masks, clocks, calls) varies by lane.
#pragma once

#include "analysis/cfg.hpp"
#include "analysis/liveness.hpp"

#include <vector>

namespace ptxasw::analysis {

// The largest set of threads that are sure to agree. Ordered: a larger value varies more.
enum class Uniform : std::uint8_t { grid, block, warp, lane };

Uniform uniformity_of(ptx::Special special);

struct Uniformity {
  std::vector<Uniform> registers; // by RegId
  std::vector<Uniform> branches;  // by BlockId: how the block's terminator varies
  std::vector<Uniform> loops;     // by loop: how the number of trips varies
  [[nodiscard]] bool divergent(BlockId block) const { return branches[block] == Uniform::lane; }
};

Uniformity find_uniformity(const ptx::Body& body, const Cfg& cfg, const LoopForest& loops,
                           const Liveness& liveness);

} // namespace ptxasw::analysis
