// Lengths of runs, and the times from the begin of one to the begin of the next.
#include "launch/period.hpp"

#include "launch/log.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <cstddef>

namespace ptxasw::launch {
namespace {

// Periods of either kind, so many in a row, of which the first one is not counted, until there are
// times enough of both.
constexpr unsigned in_a_row = 4, enough = 6;
constexpr unsigned most_needed = 64;

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

} // namespace

bool Period::is_tried() const {
  return expected() != 0 && expected() < numbers::launch::least_run && !is_decided_;
}

bool Period::merges() const {
  if (expected() >= numbers::launch::least_run) return true;
  return is_decided_ ? goes_merged_ : passes_ / in_a_row % 2 != 0;
}

void Period::time(Clock::time_point now) {
  if (is_timed_ && passes_ % in_a_row != 1)
    times_[was_merged_ ? 1 : 0].push_back(
        std::chrono::duration<double, std::micro>(now - begun_).count());
  begun_ = now;
  is_timed_ = true;
  if (std::min(times_[0].size(), times_[1].size()) < enough) return;
  is_decided_ = true;
  const double singly = median(times_[0]), merged = median(times_[1]);
  goes_merged_ = merged <= numbers::launch::merged_worth_it * singly;
  log("runs of %u steps: a period takes %.1f us as they come, %.1f us merged", length_, singly,
      merged);
}

void Period::end(unsigned length, bool was_merged, bool wasted) {
  const bool again = length == length_ && !wasted;
  was_merged_ = was_merged;
  if (again) {
    seen_ = std::min(seen_ + 1, most_needed);
    if (expected() != 0) ++passes_;
    return;
  }
  const bool is_other = length != length_;
  if (wasted) needed_ = std::min(2 * needed_, most_needed);
  length_ = length;
  seen_ = wasted ? 0 : 1;
  is_timed_ = false;
  passes_ = 0;
  if (is_other) is_decided_ = false;
  for (auto& times : times_)
    times.clear();
}

} // namespace ptxasw::launch
