// Groups of a run that is to come, as RunMaker would make them.
#include "launch/steps/forecast.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

struct Group {
  unsigned launches = 0;
  double step = 0; // microseconds
  bool is_timed = false;
};

// Of as many launches as are left; of several such entries one that was timed.
Group next_group(const Run& run, unsigned left, double singly) {
  StepTimes& times = run.shape->step_times;
  Group best;
  for (unsigned number = 0; number < run.kernel->contract.steps.size(); ++number) {
    const contract::Steps& steps = run.kernel->contract.steps[number];
    const unsigned launches = launches_at_a_time(steps);
    if (!contract::move_alike(steps, *run.motion) || launches + singles_behind(steps) > left ||
        launches < best.launches || !times.pays(number))
      continue;
    const double known = times.step_of(number);
    if (launches == best.launches && (best.is_timed || known == 0)) continue;
    best = {launches, known == 0 ? numbers::launch::fastest_step * singly : known, known != 0};
  }
  return best;
}

} // namespace

Forecast forecast(const Run& run, unsigned launches, unsigned first) {
  Forecast found;
  const double singly = run.shape->step_times.step_of(StepTimes::singly);
  if (singly == 0) return found;
  found.device.singly = launches * singly;
  found.is_timed = true;
  unsigned left = launches - std::min(first, launches);
  while (left != 0) {
    const Group group = next_group(run, left, singly);
    if (group.launches == 0) break;
    if (found.waits == 0)
      found.waits =
          numbers::launch::put_off_run +
          numbers::launch::put_off_launch * (group.launches + singles_behind(*run.motion));
    found.device.merged += group.launches * group.step;
    found.is_timed = found.is_timed && group.is_timed;
    left -= group.launches;
  }
  found.device.merged += (left + std::min(first, launches)) * singly;
  return found;
}

} // namespace ptxasw::launch
