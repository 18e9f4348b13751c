// The time of all launches of a run, for each candidate and each limit from which it is merged.
#include "passes/coarsen/measured.hpp"

#include "passes/coarsen/cost.hpp"
#include "passes/coarsen/launched.hpp"
#include "profile/version_name.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace ptxasw::passes {
namespace {

namespace limits = numbers::measured;

// Launches of one shape whose time by the kernel as it is is known.
struct Launch {
  const profile::Shape* shape;
  double blocks = 0;
  unsigned threads = 0;    // of a block
  std::uint64_t size = 0;  // threads of all blocks
  double microseconds = 0; // of all these launches
};

std::vector<Launch> launches_of(const profile::Kernel& run) {
  std::vector<Launch> all;
  for (const profile::Shape& shape : run.shapes) {
    const double time = profile::time_as_it_is(shape);
    if (time <= 0 || shape.threads() == 0) continue;
    const unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
    all.push_back({.shape = &shape,
                   .blocks = static_cast<double>(shape.threads()) / threads,
                   .threads = threads,
                   .size = shape.threads(),
                   .microseconds = static_cast<double>(shape.launches) * time});
  }
  std::ranges::sort(all, {}, &Launch::size);
  return all;
}

double time_of(const std::vector<Launch>& launches) {
  double sum = 0;
  for (const Launch& launch : launches)
    sum += launch.microseconds;
  return sum;
}

// Of the version with these factors, whose grid a launcher divided; 0: it was not timed.
double gain_in_run(const profile::Shape& shape, const std::array<unsigned, 3>& factors) {
  for (const auto& [name, time] : shape.versions)
    if (profile::factors_of(name) == factors) return profile::gain_of(shape, name);
  return 0;
}

class Chooser {
public:
  Chooser(const target::Profile& target, const CoarsenBaseline& original,
          const profile::Kernel& run, const std::vector<CoarsenCandidate>& candidates)
      : target_(target), original_(original), candidates_(candidates), launches_(launches_of(run)),
        before_(time_of(launches_)) {}

  // Sets the gain, the limit, and why it is not to be taken.
  void weigh(CoarsenCandidate& candidate) const {
    candidate.gain = 1;
    candidate.worst = 1;
    double best = std::numeric_limits<double>::infinity();
    std::size_t first = launches_.size(); // that is merged
    for (std::size_t n = launches_.size(); n-- > 0;) {
      const double gain = gain_of(candidate, launches_[n]);
      const bool is_little = launches_[n].microseconds < limits::little * before_;
      if (gain < limits::least_each && !is_little) break;
      if (n > 0 && launches_[n - 1].size == launches_[n].size) continue;
      if (const double time = time_from(candidate, n); time < best) {
        best = time;
        first = n;
      }
    }
    if (first == launches_.size()) return;
    candidate.gain = before_ / best;
    for (std::size_t n = first; n < launches_.size(); ++n)
      candidate.worst = std::min(candidate.worst, gain_of(candidate, launches_[n]));
    const std::uint64_t least = size_of_gain(candidate, first, 1) + 1,
                        most = size_of_gain(candidate, first, limits::clear_gain);
    candidate.how.least_threads =
        std::clamp(candidate.how.least_threads, least, std::max(least, most));
  }

private:
  // Between the launch that is merged first and the one below it: from which size on it gains so
  // much, along the logarithm of sizes.
  [[nodiscard]] std::uint64_t size_of_gain(const CoarsenCandidate& candidate, std::size_t first,
                                           double gain) const {
    const Launch& merged = launches_[first];
    if (first == 0) return gain > 1 ? merged.size : 0;
    const Launch& below = launches_[first - 1];
    const double least = gain_of(candidate, below), most = gain_of(candidate, merged);
    const double part = most > least ? std::clamp((gain - least) / (most - least), 0.0, 1.0) : 1;
    const double apart = static_cast<double>(merged.size) / static_cast<double>(below.size);
    const double size = static_cast<double>(below.size) * std::pow(apart, part);
    return std::clamp(static_cast<std::uint64_t>(size), below.size,
                      merged.size - (gain > 1 ? 0 : 1));
  }

  // All launches, of which those from the n-th on are merged. The others ask for their size in
  // vain.
  [[nodiscard]] double time_from(const CoarsenCandidate& candidate, std::size_t n) const {
    double sum = 0;
    for (std::size_t i = 0; i < launches_.size(); ++i)
      sum += launches_[i].microseconds /
             (i < n ? numbers::variants::asked_for_size : gain_of(candidate, launches_[i]));
    return sum;
  }

  // What a launch gains by it; what was not timed counts only where it is predicted to lose.
  [[nodiscard]] double gain_of(const CoarsenCandidate& candidate, const Launch& launch) const {
    const double predicted =
        std::min(in_kernel(candidate, launch, false), in_kernel(candidate, launch, true));
    const double timed = gain_in_run(*launch.shape, candidate.how.factors);
    if (timed == 0) return std::min(1.0, predicted);
    const double held = original_.at_work * static_cast<double>(target_.processors) *
                        static_cast<double>(target_.threads_per_sm);
    double divided = 0; // by the best of its like: the launcher had one
    for (const CoarsenCandidate& other : candidates_)
      if (other.how.factors == candidate.how.factors && other.usage)
        divided = std::max(divided, launched_gain(target_, original_, other, launch.threads,
                                                  static_cast<double>(launch.size) / held));
    return divided > 0 ? timed * std::min(1.0, predicted / divided) : timed;
  }

  [[nodiscard]] double in_kernel(const CoarsenCandidate& candidate, const Launch& launch,
                                 bool in_l2) const {
    return launch_gain(target_, original_, candidate,
                       {.blocks = launch.blocks, .threads = launch.threads, .in_l2 = in_l2});
  }

  const target::Profile& target_;
  const CoarsenBaseline& original_;
  const std::vector<CoarsenCandidate>& candidates_;
  std::vector<Launch> launches_;
  double before_;
};

Why why_not_measured(const profile::Kernel& run, const CoarsenCandidate& candidate) {
  if (candidate.gain < limits::least_gain)
    return {Reason::never_gained,
            fmt::format("gains too little in the launches of the profile: {:.2f} is asked for",
                        limits::least_gain)};
  if (!candidate.body_changed.empty() && has_smaller(run, candidate.how.least_threads))
    return {Reason::body_changed,
            fmt::format("launches that are not merged would run other machine code ({})",
                        candidate.body_changed)};
  return {};
}

} // namespace

bool is_timed(const profile::Kernel& run, const std::array<unsigned, 3>& factors) {
  return std::ranges::any_of(
      run.shapes, [&](const profile::Shape& shape) { return gain_in_run(shape, factors) > 0; });
}

bool has_smaller(const profile::Kernel& run, std::uint64_t threads) {
  const std::vector<Launch> launches = launches_of(run);
  double smaller = 0;
  for (const Launch& launch : launches)
    if (launch.size < threads) smaller += launch.microseconds;
  return smaller > limits::little * time_of(launches);
}

void choose_measured(const target::Profile& target, const CoarsenBaseline& original,
                     const profile::Kernel& run, std::vector<CoarsenCandidate>& candidates) {
  for (CoarsenCandidate& candidate : candidates) {
    candidate.chosen = false;
    candidate.verdict = why_not(original, candidate);
  }
  const Chooser chooser(target, original, run, candidates);
  for (CoarsenCandidate& candidate : candidates) {
    if (!candidate.verdict.empty()) continue;
    chooser.weigh(candidate);
    candidate.verdict = why_not_measured(run, candidate);
  }
  std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) {
    return std::tuple(!a.verdict.empty(), -a.gain) < std::tuple(!b.verdict.empty(), -b.gain);
  });
  for (CoarsenCandidate& candidate : candidates) {
    if (!candidate.verdict.empty()) continue;
    if (&candidate == candidates.data())
      candidate.chosen = true;
    else
      candidate.verdict = {Reason::another_way, "gains less in the launches of the profile"};
  }
}

} // namespace ptxasw::passes
