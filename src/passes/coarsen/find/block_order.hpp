// In which order the lockstep form runs the instructions of the copies.
//
// By instructions: each in all copies before the next one begins. All loads of all copies can be
// under way at once, and all their values need registers.
//
// By copies: within a segment, a stretch of straight-line code with at most one store, its last
// instruction, copy after copy. The temporaries of
// one are dead before the next begins; only loaded values that several need stay in registers.
// Measured on an H200 (512 threads, registers held at what the original used): 1.65 against 1.48
// for a 5x5 blur in four copies, 1.31 against 1.19 for 25 points in 3-D; by instructions is better
// where much is computed from few loads (1.13 against 0.86 for tricubic interpolation in two).
#pragma once

#include "analysis/replica_divergence.hpp"
#include "passes/coarsen/find/calls.hpp"
#include "ptx/body.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptxasw::passes {

enum class CopyOrder : std::uint8_t { instructions, copies };

struct Step {
  ptx::InstId inst = 0;
  unsigned copy = 0;
};

struct Schedule {
  std::vector<std::uint32_t> segment; // by instruction; the numbers grow with the program
  std::vector<Step> steps;            // segment by segment
};

Schedule make_schedule(const ptx::Body& body, const analysis::ReplicaDivergence& replica_divergence,
                       unsigned copies, CopyOrder order, std::span<const Region> regions = {});

} // namespace ptxasw::passes
