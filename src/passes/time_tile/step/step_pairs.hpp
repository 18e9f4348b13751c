// Which arrays of a step the program exchanges, as far as the kernel tells: for step.cpp.
//
// A kernel may read several arrays at constant offsets of what it writes, of which some only hold
// coefficients. Whatever is chosen here is sound: that arrays change places from launch to launch
// is seen at the launches (contract::follows). A wrong choice costs the merging.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ptxasw::passes {

// Numbers of parameters: an array that is written, and how many offsets those have that it could be
// read from.
struct StepCandidates {
  unsigned out = 0;
  std::map<unsigned, std::size_t> in;
};

// For each array that is written another one that is read; empty if there are not enough. The
// choice number `rank`: first those with the most offsets (coefficients are read at few), then with
// the fewest pairs in another order than the parameters, then with arrays as near to each other as
// can be.
std::vector<unsigned> pair_arrays(std::span<const StepCandidates> arrays, std::size_t rank = 0);

struct OldAndNow {
  unsigned old = 0, now = 0;
};

// For the one array that is written two that are read, if they rotate: now is one with the most
// offsets; then the three are as near to each other as can be, then in the order of their age.
std::optional<OldAndNow> choose_buffers(const StepCandidates& array);

} // namespace ptxasw::passes
