// When a shuffle is cheaper than the load it replaces, per architecture.
//
// A covered load reads what another lane of the same warp loaded a moment ago, so it hits L1. What
// such a hit costs is the number of cycles it keeps the SM's load/store pipe busy, and that grows
// with the number of 128-byte lines its lanes touch. The shuffle goes through the same pipe, once
// per 32 bits, and so does the corner-case load of the lanes that have no partner. On every chip
// since Volta the three together cost more than one coalesced hit and far less than a hit that
// touches 32 lines. The profile says how much; target/chips.cpp holds them.
#pragma once

#include "target/access.hpp"
#include "target/chips.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::target {

using numbers::CoarsenConstants;
using numbers::Cost;
using numbers::Provenance;
using Profile = numbers::Chip;

// A thread block of 1024 threads has 64 registers a thread; no launch fails below that.
inline constexpr unsigned registers_for_any_block = 64;

// "sm_90", also with a feature suffix (sm_90a, sm_100f); nullptr when there is no profile.
inline const Profile* find_profile(std::string_view architecture) {
  return numbers::find_chip(architecture);
}

struct ShuffleCandidate {
  unsigned bytes = 4;                      // of the covered load, per lane
  Lane lane = Lane::unknown;               // how its address depends on the lane
  std::optional<std::int64_t> lane_stride; // bytes, when constant
  Range sectors{1, warp_lanes};            // per request
  int delta = 0;                           // lane + delta holds the value; 0 is a register move
  bool far_apart = false; // lanes a parametric distance apart are in lines of their own: a promise
};

struct Verdict {
  bool pays = false;
  double load_cycles = 0;    // as it stands
  double shuffle_cycles = 0; // rewritten: shuffles, guard and corner-case load
  std::string reason;        // for people: the numbers behind the decision

  [[nodiscard]] double gain() const { return load_cycles - shuffle_cycles; }
};

Verdict shuffle_verdict(const Profile& profile, const ShuffleCandidate& candidate);

// Cycles of the load/store pipe for an access as it stands.
double access_cycles(const Profile& profile, const ShuffleCandidate& access);

// A few cheap loads among many dear ones change nothing: the pipe must be relieved as a whole. On
// an H200 `heat_t` (2 of 5 column loads covered, predicted 1.3) ran at 0.95, `transposed1` (2 of 3,
// predicted 2.4) at 1.6 and `transposed4` (8 of 9) at 3.3 times the speed of the untouched kernel.
bool kernel_pays(const Profile& profile, double cycles_before, double cycles_after);

// By name: an architecture without a profile never pays.
Verdict shuffle_verdict(std::string_view architecture, const ShuffleCandidate& candidate);

inline bool shuffle_pays(const Profile& profile, const ShuffleCandidate& candidate) {
  return shuffle_verdict(profile, candidate).pays;
}

} // namespace ptxasw::target
