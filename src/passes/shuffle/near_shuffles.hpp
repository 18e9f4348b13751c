// Shuffles between lanes that lie near each other in memory.
//
// Each may be cheaper than its load and the kernel slower for it: what a request of lines of 32 to
// 528 bytes costs hangs on how they fall into banks and sets, and small launches see the latency of
// a shuffle. bench/results/h200/pitches.json.gz (bench/gpu/prepare --suite C): 2 of 3 loads as
// shuffles ran at 0.83 to 1.50 of the speed, by the distance and the launch; 1024 bytes and more
// apart, at 1.02 and more. 8 of 9 loads ran at 0.97 and more at every distance.
#pragma once

#include "target/profile.hpp"

#include "target/numbers.hpp"

#include <cstdlib>

namespace ptxasw::passes {

inline bool near_shuffles_pay(double shuffles, double loads) {
  return shuffles >= numbers::shuffles::least_share * loads;
}

inline bool lanes_are_near(const target::ShuffleCandidate& candidate) {
  return candidate.lane_stride && std::abs(*candidate.lane_stride) < numbers::shuffles::far_lanes;
}

} // namespace ptxasw::passes
