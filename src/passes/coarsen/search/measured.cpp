// The time of all launches of a run, for each candidate and each limit from which it is merged.
#include "passes/coarsen/search/measured.hpp"

#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/cost/launched.hpp"
#include "profile/version_name.hpp"
#include "target/numbers.hpp"
#include "target/residency.hpp"

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

// Whether some version that the run has tried there does not lose. None tried: all were expected
// to.
bool some_hold_in_run(const profile::Shape& shape) {
  return std::ranges::any_of(shape.versions, [&](const auto& version) {
    return version.first != profile::baseline_of(shape) &&
           profile::gain_of(shape, version.first) >= limits::least_each;
  });
}

class Chooser {
public:
  Chooser(const target::Profile& target, const CoarsenBaseline& original,
          const profile::Kernel& run, const std::vector<CoarsenCandidate>& candidates)
      : target_(target), original_(original), candidates_(candidates), launches_(launches_of(run)),
        before_(time_of(launches_)) {}

  // Sets the gain and the limit. Why it is not to be taken, or nothing.
  Why weigh(CoarsenCandidate& candidate) const {
    candidate.gain = 1;
    candidate.worst = 1;
    double best = std::numeric_limits<double>::infinity();
    std::size_t first = launches_.size(); // that is merged
    bool is_held_back = false;
    for (std::size_t n = launches_.size(); n-- > 0;) {
      if (loses(launches_[n], gain_of(candidate, launches_[n]))) break;
      if (n > 0 && launches_[n - 1].size == launches_[n].size) continue;
      const double time = time_from(candidate, n);
      if (time >= best) continue;
      if (loses_below(candidate, n)) {
        is_held_back = is_held_back || before_ / time >= limits::least_gain;
        continue;
      }
      best = time;
      first = n;
    }
    if (first == launches_.size() && is_held_back) return why_held_back(candidate);
    if (first == launches_.size() || before_ / best < limits::least_gain)
      return {Reason::never_gained,
              fmt::format("gains too little in the launches of the profile: {:.2f} is asked for",
                          limits::least_gain)};
    candidate.gain = before_ / best;
    for (std::size_t n = first; n < launches_.size(); ++n)
      candidate.worst = std::min(candidate.worst, gain_of(candidate, launches_[n]));
    const std::uint64_t least = size_of_gain(candidate, first, 1) + 1,
                        most = size_of_gain(candidate, first, limits::clear_gain);
    candidate.how.least_threads =
        std::clamp(candidate.how.least_threads, least, std::max(least, most));
    return {};
  }

private:
  // More than a little, and more than a little of the kernel's time.
  [[nodiscard]] bool loses(const Launch& launch, double gain) const {
    return gain < limits::least_each &&
           launch.microseconds * (1 / gain - 1) >= limits::little * before_;
  }

  // One of those that are not merged, if those from the n-th on are.
  [[nodiscard]] bool loses_below(const CoarsenCandidate& candidate, std::size_t n) const {
    return std::any_of(
        launches_.begin(), launches_.begin() + static_cast<std::ptrdiff_t>(n),
        [&](const Launch& launch) { return loses(launch, gain_unmerged(candidate, launch)); });
  }

  static Why why_held_back(const CoarsenCandidate& candidate) {
    constexpr std::string_view lose = "launches that are not merged would lose";
    if (!candidate.body_changed.empty())
      return {Reason::body_changed,
              fmt::format("{}: they run other machine code ({})", lose, candidate.body_changed)};
    return {Reason::registers,
            fmt::format("{}: the kernel has {} registers", lose, candidate.usage->registers)};
  }

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
             (i < n ? gain_unmerged(candidate, launches_[i]) : gain_of(candidate, launches_[i]));
    return sum;
  }

  // By the model: it asks for its size, and runs the original's body as ptxas has it now.
  [[nodiscard]] double gain_unmerged(const CoarsenCandidate& candidate,
                                     const Launch& launch) const {
    if (!candidate.body_changed.empty() && !candidate.beside) return limits::unknown_body;
    CoarsenCandidate body{.work = original_.work, .usage = original_.usage};
    body.usage->registers = candidate.usage->registers;
    if (candidate.beside) body.usage->path = candidate.beside;
    return numbers::variants::asked_for_size *
           std::min({at_work(candidate, launch), in_kernel(body, launch, false),
                     in_kernel(body, launch, true)});
  }

  // Where an SM would hold more blocks of the launch than the registers leave room for.
  [[nodiscard]] double at_work(const CoarsenCandidate& candidate, const Launch& launch) const {
    const double blocks = std::ceil(launch.blocks / target_.processors);
    const auto room = [&](const Usage& usage) {
      return std::min<double>(blocks, target::resident_blocks(usage.registers, launch.threads));
    };
    return room(*candidate.usage) < room(*original_.usage) ? limits::fewer_at_work : 1;
  }

  // What a launch gains by it. A version that the run has not tried there does not gain, and loses
  // where those that it has tried do.
  [[nodiscard]] double gain_of(const CoarsenCandidate& candidate, const Launch& launch) const {
    const double predicted =
        std::min(in_kernel(candidate, launch, false), in_kernel(candidate, launch, true));
    const double timed = gain_in_run(*launch.shape, candidate.how.factors);
    if (timed == 0)
      return std::min(predicted, some_hold_in_run(*launch.shape) ? 1.0 : limits::not_tried);
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
    if (candidate.verdict.empty()) candidate.verdict = chooser.weigh(candidate);
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
