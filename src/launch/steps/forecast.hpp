// What a run of so many launches takes as they come and merged, by the times of its steps
// (step_times.hpp) and by what the device waits for the first group. Entries that nobody has timed
// are taken to be as fast as the fastest ever seen: where even that does not pay, nothing is tried.
#pragma once

#include "launch/kernels/period.hpp"
#include "launch/steps/run.hpp"

namespace ptxasw::launch {

struct Forecast {
  RunTimes device;       // of all launches and groups; 0: not known
  double waits = 0;      // microseconds until the first group is there
  bool is_timed = false; // each entry that would be used was

  [[nodiscard]] bool pays() const {
    return device.singly == 0 ||
           device.merged + waits <= numbers::launch::merged_worth_it * device.singly;
  }
  // As far as they were measured.
  [[nodiscard]] RunTimes measured() const { return {device.singly, is_timed ? device.merged : 0}; }
};

// `launches` of `run`, of which the first ones, so many, are made as they come.
[[nodiscard]] Forecast forecast(const Run& run, unsigned launches, unsigned first);

} // namespace ptxasw::launch
