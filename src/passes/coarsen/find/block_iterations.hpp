// Before a loop is entered: how many trips can it make at most?
//
// An exit that every trip passes tells: where the loop goes on as long as  a + s*trip < n  with a
// constant step s > 0 (or counts down likewise), trip number t is reached only if the comparison
// held in all trips before, so that nothing wrapped on the way and  s*(t - 1) < n - a.
#pragma once

#include "emulator/emulate.hpp"

#include <cstdint>
#include <optional>

namespace ptxasw::passes {

struct TripCountLimit {
  sym::Term first, last; // 32-bit numbers: where the count begins and what it runs up (down) to
  std::uint64_t step = 1;
  bool up = true;
  bool is_signed = true;
  // t <= |last - first| / step + 1, if first and last as integers do not wrap, and last + step
  // does not either.
};

std::optional<TripCountLimit> trip_count_limit(const emulator::Kernel& kernel, std::uint32_t loop);

} // namespace ptxasw::passes
