// By the clock: when the next launch of a shape is timed.
#include "launch/choose/sampler.hpp"

#include "target/numbers.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

constexpr std::int64_t usual_cost = 10'000; // nanoseconds
constexpr std::int64_t between = 200, between_originals = 100;

std::int64_t nanoseconds_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// What one launch of the original loses, as measured; the shape's mutex is held.
std::int64_t lost_by_original(const Shape& shape, unsigned chosen) {
  const Timing &original = shape.timings[0], &variant = shape.timings[chosen];
  if (original.samples == 0 || variant.samples == 0) return 0;
  return static_cast<std::int64_t>(1000 * std::max(0.0, original.mean() - variant.mean()));
}

// Before anything is measured: as the model says.
bool is_one_of_many(const Shape& shape, unsigned chosen, std::uint64_t number) {
  const double gain = std::max(numbers::launch::usual_gain, shape.predicted[chosen]);
  return static_cast<double>(number) >= between_originals * (gain - 1);
}

} // namespace

unsigned variant_to_sample(Shape& shape, std::uint64_t number) {
  const std::int64_t now = nanoseconds_now();
  std::int64_t next = shape.next_sample.load(std::memory_order_relaxed);
  if (now < next || !shape.next_sample.compare_exchange_strong(next, now + between * usual_cost) ||
      next == 0)
    return no_variant;
  collect(shape);
  const std::lock_guard lock(shape.mutex);
  const unsigned chosen = shape.chosen;
  if (chosen == 0) return 0;
  if (shape.timings[0].samples > shape.timings[chosen].samples ||
      now < shape.last_original + between_originals * lost_by_original(shape, chosen) ||
      !is_one_of_many(shape, chosen, number))
    return chosen;
  shape.last_original = now;
  return 0;
}

void sampled(Shape& shape, std::chrono::nanoseconds cost) {
  shape.next_sample = nanoseconds_now() + between * std::max(usual_cost, cost.count());
}

} // namespace ptxasw::launch
