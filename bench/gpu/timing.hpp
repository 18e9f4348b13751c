// Times of variants of one case, launched in turn.
#pragma once

#include "lines.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace harness {

// A variant that survived the check, with its samples.
struct Contestant {
  const Variant* variant;
  Kernel kernel;
  Checked checked;
  std::vector<double> samples; // microseconds a launch
  Event start, stop;
};

inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

// How much faster than another one, round by round: what a clock or a host does to a round it does
// to both, and short launches differ by less than that.
inline double gain_in_pairs(const Contestant& one, const Contestant& over) {
  std::vector<double> gains;
  for (std::size_t n = 0; n < std::min(one.samples.size(), over.samples.size()); ++n)
    gains.push_back(over.samples[n] / one.samples[n]);
  return quantile(gains, 0.5);
}

struct Timing {
  unsigned batch = 1, rounds = 0;
  std::size_t sets = 1;
};

// A launcher may try this and that in the first launches of a kernel.
inline void settle(const Case& c, const Kernel& kernel, const Arrays& arrays) {
  constexpr unsigned at_least = 64, at_most = 400, between_waits = 8;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < at_most; n += between_waits) {
    for (unsigned k = 0; k < between_waits; ++k)
      launch(c, kernel, arrays.arguments(0));
    check(cuCtxSynchronize(), "settling");
    if (n >= at_least && std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(40))
      return;
  }
}

inline Timing time_contestants(const Settings& s, const Case& c, const Device& device,
                               std::vector<std::unique_ptr<Contestant>>& field,
                               std::vector<Arrays>& sets) {
  Buffer flush;
  if (c.l2 == "cold") flush = Buffer(2 * static_cast<std::size_t>(device.l2));
  std::size_t turn = 0;
  const auto sample = [&](Contestant& one, unsigned batch) {
    if (flush.bytes()) check(cuMemsetD8Async(flush.at(), 1, flush.bytes(), nullptr), "flushing");
    one.start.record();
    for (unsigned n = 0; n < batch; ++n)
      run_steps(c, one.kernel, sets[turn++ % sets.size()], c.steps);
    one.stop.record();
  };
  Timing timing;
  timing.sets = sets.size();
  double total = 0, slowest = 0;
  for (auto& one : field) { // warm up, and see how long it takes
    if (one->kernel.through_launcher()) settle(c, one->kernel, sets[0]);
    for (int n = 0; n < 3; ++n)
      sample(*one, 1);
    check(cuCtxSynchronize(), "warming up");
    const double us = one->stop.microseconds_since(one->start);
    total += us;
    slowest = std::max(slowest, us);
  }
  if (c.l2 != "cold") timing.batch = slowest < 200 ? static_cast<unsigned>(200 / slowest) + 1 : 1;
  const double rounds = s.seconds * 1e6 / (total * timing.batch);
  timing.rounds = static_cast<unsigned>(std::clamp(rounds, 9.0, static_cast<double>(s.rounds)));
  for (unsigned round = 0; round < timing.rounds; ++round) {
    for (std::size_t n = 0; n < field.size(); ++n)
      sample(*field[(round + n) % field.size()], timing.batch);
    check(cuCtxSynchronize(), "timing");
    for (auto& one : field)
      one->samples.push_back(one->stop.microseconds_since(one->start) / (timing.batch * c.steps));
  }
  return timing;
}

// Launches of one contestant, one after another, without what a host needs for each.
class Graph {
public:
  Graph(const Case& c, const Kernel& kernel, const Arrays& arrays, unsigned launches) {
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
    for (unsigned n = 0; n < launches; ++n)
      launch(c, kernel, arrays.arguments(0), stream);
    CUgraph graph = nullptr;
    check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    const CUresult made = cuGraphInstantiate(&graph_, graph, 0);
    cuGraphDestroy(graph);
    cuStreamDestroy(stream);
    check(made, "cuGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cuGraphExecDestroy(graph_); }
  void run() const { check(cuGraphLaunch(graph_, nullptr), "cuGraphLaunch"); }

private:
  CUgraphExec graph_ = nullptr;
};

// Times many short launches: from a graph, so that the host does not count, or one by one.
inline Timing sweep_contestants(const Settings& s, const Case& c,
                                std::vector<std::unique_ptr<Contestant>>& field,
                                const Arrays& arrays) {
  const bool graph = s.mode == "sweep";
  constexpr double sample_us = 200, most_launches = 100;
  constexpr double fewest_rounds = 7, most_rounds = 41;
  double slowest = 0;
  for (auto& one : field) // warm up, and see how long it takes
    for (int n = 0; n < 3; ++n) {
      one->start.record();
      run_steps(c, one->kernel, arrays, 1);
      one->stop.record();
      check(cuCtxSynchronize(), "warming up");
      if (n > 0) slowest = std::max(slowest, one->stop.microseconds_since(one->start));
    }
  Timing timing;
  timing.batch =
      static_cast<unsigned>(std::clamp(std::ceil(sample_us / slowest), 1.0, most_launches));
  std::vector<std::unique_ptr<Graph>> graphs;
  const auto run = [&](std::size_t n) {
    if (graph) return graphs[n]->run();
    for (unsigned k = 0; k < timing.batch; ++k)
      launch(c, field[n]->kernel, arrays.arguments(0));
  };
  for (std::size_t n = 0; n < field.size(); ++n) {
    if (field[n]->kernel.through_launcher()) settle(c, field[n]->kernel, arrays);
    if (graph) graphs.push_back(std::make_unique<Graph>(c, field[n]->kernel, arrays, timing.batch));
    run(n);
  }
  check(cuCtxSynchronize(), "warming up");
  const double round_us = slowest * timing.batch * static_cast<double>(field.size());
  timing.rounds =
      static_cast<unsigned>(std::clamp(s.seconds * 1e6 / round_us, fewest_rounds, most_rounds));
  for (unsigned round = 0; round < timing.rounds; ++round) {
    for (std::size_t n = 0; n < field.size(); ++n) {
      const std::size_t turn = (round + n) % field.size();
      field[turn]->start.record();
      run(turn);
      field[turn]->stop.record();
    }
    check(cuCtxSynchronize(), "timing");
    for (auto& one : field)
      one->samples.push_back(one->stop.microseconds_since(one->start) / timing.batch);
  }
  return timing;
}

} // namespace harness
