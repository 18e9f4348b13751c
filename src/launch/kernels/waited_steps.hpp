// Time steps behind each of which the program waits for the device, by the host's clock: what it
// takes from one launch to the next, as they come and made ahead (steps/merge.hpp).
#pragma once

#include "launch/median.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

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
    Last& last = were_ahead ? ahead_ : singly_;
    last.times.at(last.count++ % last.times.size()) =
        std::chrono::duration<double, std::micro>(Clock::now() - begun_).count() / steps;
  }
  // False: some groups have told that launches of their own are as fast.
  [[nodiscard]] bool pays() const {
    return ahead_.count < enough || singly_.count < enough ||
           ahead_.usual() <= numbers::launch::merged_worth_it * singly_.usual();
  }

private:
  static constexpr unsigned enough = 3;
  struct Last {
    std::array<double, 8> times{}; // microseconds of a step
    std::size_t count = 0;
    [[nodiscard]] double usual() const {
      return median({times.begin(), times.begin() + std::min(count, times.size())});
    }
  };
  Clock::time_point begun_;
  Last singly_, ahead_;
};

} // namespace ptxasw::launch
