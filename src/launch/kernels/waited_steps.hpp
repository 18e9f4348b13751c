// Time steps behind each of which the program waits for the device, by the host's clock: what it
// takes from one launch to the next, as they come and made ahead (steps/merge.hpp).
#pragma once

#include "target/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ptxasw::launch {

class WaitedSteps {
public:
  using Clock = std::chrono::steady_clock;

  // The last run of the shape was such a one: so will be the next.
  bool is_usual = false;
  // So many launches in a row, before one is made ahead.
  unsigned needed = numbers::launch::waited_needed;

  void begin() { begun_ = Clock::now(); }
  // From there on the program has launched so many.
  void end(unsigned steps, bool were_ahead) {
    const double each = std::chrono::duration<double, std::micro>(Clock::now() - begun_).count() /
                        static_cast<double>(steps);
    double& least = were_ahead ? ahead_ : singly_;
    least = std::min(least, each);
    if (were_ahead) ++groups_;
  }
  // False: so many groups have told that launches of their own are as fast.
  [[nodiscard]] bool pays() const {
    return groups_ < enough || !(ahead_ > numbers::launch::merged_worth_it * singly_);
  }

private:
  static constexpr unsigned enough = 3;
  Clock::time_point begun_;
  double singly_ = std::numeric_limits<double>::infinity(),
         ahead_ = singly_; // microseconds of a step
  unsigned groups_ = 0;
};

} // namespace ptxasw::launch
