// The numbers are bench/fit_usage's. A guess has no spills and the stores that it should have.
#include "cost/usage_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptxasw::cost {
namespace {

constexpr unsigned most_registers = 255;

// By 1, log(instructions), log(1 + loads)
constexpr std::array<double, 3> original_path{0.636, 0.727, 0.209};
constexpr std::array<double, 3> original_latency{4.353, 0.245, 0.523};
constexpr std::array<double, 3> original_registers{1.486, 0.328, 0.145};

// Over the original's. By 1, log(instructions of all copies over the original's), order
constexpr std::array<double, 3> way_path{0.189, 0.862, 0.002};
// By the same, log(loads of all copies over the original's), order * log(copies)
constexpr std::array<double, 5> way_latency{0.037, 0.460, 0.170, 0.579, -0.241};
// By 1, log(copies), order, order * log(copies), log(loads over the original's),
// log(registers of the original), log(1 + loads of the original)
constexpr std::array<double, 7> way_registers{0.488, -0.220, -0.151, 0.177, 0.457, 0.736, 0.208};

template <std::size_t N>
double estimate(const std::array<double, N>& by, const std::array<double, N>& values) {
  double sum = 0;
  for (std::size_t n = 0; n < N; ++n)
    sum += by[n] * values[n];
  return std::exp(sum);
}

double positive(double value) {
  return std::max(value, 1.0);
}

// As the text has them, loops not unrolled.
double once(double count, const CoarsenWork& work) {
  return positive(count / std::max(work.repeats, 1.0));
}

unsigned registers(double count) {
  return static_cast<unsigned>(std::clamp(std::lround(count), 1L, long{most_registers}));
}

} // namespace

KernelUsage estimated_usage(const CoarsenBaseline& original) {
  const CoarsenWork& work = original.work;
  const std::array<double, 3> by{1, std::log(once(work.instructions, work)),
                                 std::log(1 + once(work.loads, work))};
  return {.registers = registers(estimate(by, original_registers)),
          .path = static_cast<unsigned>(std::lround(positive(estimate(by, original_path)))),
          .stores = 1,
          .latency = estimate(by, original_latency)};
}

KernelUsage estimated_usage(const CoarsenBaseline& original, const CoarsenCandidate& way) {
  const KernelUsage& before = *original.usage;
  const double copies = way.how.copies();
  const double order = way.how.order == CoarsenOrder::instructions ? 1 : 0;
  const double loads_before = once(original.work.loads, original.work);
  const double instructions = std::log(once(way.work.instructions, way.work) * copies /
                                       once(original.work.instructions, original.work));
  const double loads = std::log(once(way.work.loads, way.work) * copies / loads_before);
  const double path = positive(before.path) * estimate<3>({1, instructions, order}, way_path);
  const double latency =
      positive(before.latency) *
      estimate<5>({1, instructions, order, loads, order * std::log(copies)}, way_latency);
  const double count =
      estimate<7>({1, std::log(copies), order, order * std::log(copies), loads,
                   std::log(positive(before.registers)), std::log(1 + loads_before)},
                  way_registers);
  unsigned used = registers(count);
  if (way.how.registers != 0) used = std::min(used, way.how.registers);
  return {.registers = used,
          .path = static_cast<unsigned>(std::lround(positive(path))),
          .stores = before.stores * way.how.copies(),
          .latency = latency};
}

} // namespace ptxasw::cost
