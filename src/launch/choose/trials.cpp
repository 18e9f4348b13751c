// Chooses among what is left to be tried what costs least.
#include "launch/choose/trials.hpp"

#include "launch/kernels/passing.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <limits>

namespace ptxasw::launch {
namespace {

namespace limits = numbers::launch;

constexpr unsigned most_pending = 16; // launches whose events are not read yet

// Events tell such times badly: microseconds.
bool is_short(const Shape& shape) {
  return shape.timings[0].least < limits::is_short;
}

double least_of_all(const Shape& shape) {
  double least = std::numeric_limits<double>::infinity();
  for (const Timing& timing : shape.timings)
    least = std::min(least, timing.least);
  return least;
}

// What one launch by it costs that is timed.
double cost_of(const Shape& shape, unsigned variant) {
  const Timing& timing = shape.timings[variant];
  const double least = least_of_all(shape);
  return limits::of_events +
         (timing.samples == 0 ? limits::if_unknown * least : timing.mean() - least);
}

double time_so_far(const Shape& shape) {
  return static_cast<double>(shape.launches.load(std::memory_order_relaxed)) * least_of_all(shape);
}

unsigned tried(const Shape& shape, unsigned variant) {
  const auto same = [&](const Shape::Pending& pending) { return pending.variant == variant; };
  return shape.timings[variant].samples +
         static_cast<unsigned>(std::ranges::count_if(shape.pending, same));
}

// What stays unless another one is clearly faster: the model's choice if it was no slower than the
// original, at its best and mostly.
unsigned kept(const Shape& shape) {
  if (!shape.can_use(shape.by_model)) return 0;
  const Timing &original = shape.timings[0], &chosen = shape.timings[shape.by_model];
  return original.least < chosen.least || original.at(0.5) < chosen.at(0.25) ? 0 : shape.by_model;
}

// Of those that were tried so often.
unsigned fastest(const Shape& shape) {
  const auto time = [&](unsigned n) { return shape.timings[n].least; };
  const unsigned stays = kept(shape);
  unsigned best = 0;
  for (unsigned n = 1; n < shape.timings.size(); ++n)
    if (shape.can_use(n) && shape.timings[n].samples >= limits::few_tries && time(n) < time(best))
      best = n;
  const bool is_clear = shape.timings[best].at(0.5) <= shape.timings[stays].at(0.25);
  return is_clear && time(best) * (1 + limits::noise) + limits::resolution < time(stays) ? best
                                                                                         : stays;
}

// After a few tries so slow that it is not worth another one.
bool is_out(const Shape& shape, unsigned variant) {
  const Timing& timing = shape.timings[variant];
  return variant != 0 && timing.samples >= limits::few_tries &&
         timing.least > limits::hopeless * least_of_all(shape);
}

// The original and the model's choice in turn.
unsigned next_of_first(const Shape& shape) {
  const unsigned original = tried(shape, 0), chosen = tried(shape, shape.by_model);
  if ((original <= chosen || !shape.can_use(shape.by_model)) && original < limits::few_tries)
    return 0;
  return chosen < limits::few_tries && shape.can_use(shape.by_model) ? shape.by_model : no_variant;
}

// One of those that were not tried often enough, the cheapest.
unsigned next_of_rest(const Shape& shape) {
  const unsigned enough = is_short(shape) ? limits::tries_of_short : limits::tries;
  unsigned best = no_variant;
  for (unsigned n = 0; n < shape.timings.size(); ++n)
    if (shape.can_use(n) && tried(shape, n) < enough && !is_out(shape, n) &&
        (best == no_variant || cost_of(shape, n) < cost_of(shape, best)))
      best = n;
  return best;
}

// Short launches: what stays and what would replace it.
unsigned next_of_pair(Shape& shape) {
  if (!shape.is_paired) {
    shape.is_paired = true;
    shape.pair = {kept(shape), fastest(shape)};
    if (!is_short(shape) || shape.pair[0] == shape.pair[1]) shape.pair_turn = 2 * limits::pairs;
  }
  return shape.pair_turn < 2 * limits::pairs ? shape.pair[shape.pair_turn % 2] : no_variant;
}

// Is there time for it now? If not, nothing is asked until there will be.
bool can_be_paid(Shape& shape, double cost) {
  const double before = (spent(shape) + cost) / limits::share;
  if (before <= time_so_far(shape)) return true;
  const double launches = before / least_of_all(shape);
  shape.next_trial = shape.launches +
                     static_cast<std::uint64_t>(
                         std::min(limits::at_once, launches - static_cast<double>(shape.launches)));
  return false;
}

// One of the first two was not timed often enough.
bool is_young(const Shape& shape) {
  const auto was_timed = [&](unsigned variant) {
    return shape.timings[variant].samples >= limits::few_tries || !shape.can_use(variant);
  };
  return !was_timed(0) || !was_timed(shape.by_model);
}

// The model's choice, as far as the two were timed.
bool seems_slower(const Shape& shape) {
  const Timing &original = shape.timings[0], &chosen = shape.timings[shape.by_model];
  return original.samples != 0 && chosen.samples != 0 &&
         chosen.least > (1 + limits::noise) * original.least + limits::resolution_of_few;
}

} // namespace

// What a report or a profile times has its own share of the time (sampler.hpp).
double spent(const Shape& shape) {
  const double least = least_of_all(shape);
  double sum = 0;
  for (const Timing& timing : shape.timings)
    if (timing.trials != 0)
      sum += timing.sum_of_trials + timing.trials * (limits::of_events - least);
  for (const Shape::Pending& pending : shape.pending)
    if (pending.is_trial) sum += cost_of(shape, pending.variant);
  return sum;
}

std::uint64_t launches_until_trial(const Shape& shape) {
  if (shape.decided.load()) return for_good;
  const std::uint64_t next = shape.next_trial.load(std::memory_order_relaxed);
  const std::uint64_t behind = shape.launches.load(std::memory_order_relaxed) + 1;
  return next > behind ? next - behind : 0;
}

bool knows_choice(Shape& shape) {
  if (shape.decided.load() || shape.by_model == 0 || !shape.can_use(shape.by_model)) return true;
  collect(shape);
  const std::lock_guard lock(shape.mutex);
  if (shape.timings[0].samples == 0 || shape.timings[shape.by_model].samples == 0) return false;
  if (is_young(shape) && seems_slower(shape)) shape.chosen = 0;
  return true;
}

unsigned next_trial(Shape& shape) {
  if (shape.pending.size() + shape.being_read >= most_pending) return no_variant;
  const bool young = is_young(shape);
  if (young && seems_slower(shape)) shape.chosen = 0;
  if (const unsigned variant = next_of_first(shape); variant != no_variant) {
    if (tried(shape, variant) == 0) return variant;
    const bool is_known = shape.timings[0].samples != 0; // what time there is
    return is_known && can_be_paid(shape, cost_of(shape, variant)) ? variant : no_variant;
  }
  if (young) return no_variant; // they are not read yet
  if (!shape.is_paired) shape.chosen = fastest(shape);
  if (const unsigned variant = next_of_rest(shape); variant != no_variant)
    return can_be_paid(shape, cost_of(shape, variant)) ? variant : no_variant;
  if (!shape.is_paired && shape.pending.size() + shape.being_read != 0) return no_variant;
  if (const unsigned variant = next_of_pair(shape); variant != no_variant) {
    if (!can_be_paid(shape, cost_of(shape, variant))) return no_variant;
    ++shape.pair_turn;
    return variant;
  }
  if (shape.pending.size() + shape.being_read != 0) return no_variant;
  shape.chosen = fastest(shape);
  shape.decided = true;
  return no_variant;
}

} // namespace ptxasw::launch
