// What is typical of times, of which a few are always far too long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ptxasw::launch {

// Of two in the middle the larger one; there has to be one at least.
inline double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

} // namespace ptxasw::launch
