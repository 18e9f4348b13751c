// A guess has no spills and the stores that it should have.
#include "passes/coarsen/cost/usage_estimate.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptxasw::passes {
namespace {

constexpr unsigned most_registers = 255;

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

unsigned rounded(double count) {
  return static_cast<unsigned>(std::lround(positive(count)));
}

unsigned registers(double count) {
  return static_cast<unsigned>(std::clamp(std::lround(count), 1L, long{most_registers}));
}

} // namespace

Usage estimated_usage(const CoarsenBaseline& original) {
  const CoarsenWork& work = original.work;
  const std::array<double, 3> by{1, std::log(once(work.instructions, work)),
                                 std::log(1 + once(work.loads, work))};
  return {.registers = registers(estimate(by, numbers::guess::registers)),
          .path = StraightPath{.instructions = rounded(estimate(by, numbers::guess::path)),
                               .stores = 1,
                               .latency = estimate(by, numbers::guess::latency)}};
}

Usage estimated_usage(const CoarsenBaseline& original, const CoarsenCandidate& candidate) {
  const Usage& before = *original.usage;
  const StraightPath now = before.path.value_or(StraightPath{});
  const double copies = candidate.how.copies();
  const double order = candidate.how.order == CoarsenOrder::instructions ? 1 : 0;
  const double loads_before = once(original.work.loads, original.work);
  const double instructions = std::log(once(candidate.work.instructions, candidate.work) * copies /
                                       once(original.work.instructions, original.work));
  const double loads = std::log(once(candidate.work.loads, candidate.work) * copies / loads_before);
  const double path =
      positive(now.instructions) * estimate<3>({1, instructions, order}, numbers::guess::way_path);
  const double latency =
      positive(now.latency) * estimate<5>({1, instructions, order, loads, order * std::log(copies)},
                                          numbers::guess::way_latency);
  const double count =
      estimate<7>({1, std::log(copies), order, order * std::log(copies), loads,
                   std::log(positive(before.registers)), std::log(1 + loads_before)},
                  numbers::guess::way_registers);
  unsigned used = registers(count);
  if (candidate.how.registers != 0) used = std::min(used, candidate.how.registers);
  LoopPath loop = now.loop;
  loop.instructions = rounded(loop.instructions * path / positive(now.instructions));
  loop.loads = rounded(loop.loads * std::exp(loads));
  loop.latency *= latency / positive(now.latency);
  return {.registers = used,
          .path = StraightPath{.instructions = rounded(path),
                               .stores = now.stores * candidate.how.copies(),
                               .latency = latency,
                               .loop = now.loop.loads != 0 ? loop : LoopPath{}}};
}

} // namespace ptxasw::passes
