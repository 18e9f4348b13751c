// How long something takes.
#pragma once

#include <chrono>

namespace ptxasw::passes {

class Stopwatch {
public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

} // namespace ptxasw::passes
