// The time that this thread has had of a processor: what it has cost, however busy the machine is.
#pragma once

#include <chrono>
#include <ctime>

namespace ptxasw::sym {

inline std::chrono::nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

} // namespace ptxasw::sym
