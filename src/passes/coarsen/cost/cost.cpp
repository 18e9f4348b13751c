// The gain of each candidate by the model, and which one is taken.
#include "passes/coarsen/cost/cost.hpp"

#include "passes/coarsen/cost/block_uniform_cost.hpp"
#include "target/numbers.hpp"
#include "target/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <tuple>

namespace ptxasw::passes {
namespace {

namespace limits = numbers::coarsen;
using numbers::sm::register_unit;

// The launches over which a gain is a mean.
constexpr std::array<unsigned, 5> usual_blocks{64, 128, 256, 512, 1024};
constexpr std::array<double, 3> waves_over_least{1, 2, 6};

// What takes time at the same time: 1 adds up, infinity is the largest of them.
double overlapping(std::initializer_list<double> parts, double exponent) {
  double sum = 0;
  for (const double part : parts)
    sum += std::pow(part, exponent);
  return std::pow(sum, 1 / exponent);
}

// Nothing, where the machine code was not read.
StraightPath path_of(const Usage& usage) {
  return usage.path.value_or(StraightPath{});
}

struct Passed {
  double instructions = 0, latency = 0;
};

// What a warp passes for all copies, trips of loops among it. How often ptxas has written a loop's
// body one after the other is another number with and without copies: the loads of one trip tell.
Passed passed(const Usage& usage, const CoarsenWork& work, double copies) {
  const StraightPath path = path_of(usage);
  if (work.repeats == 1 || work.barriers > 0 || path.loop.loads == 0)
    return {path.instructions * work.repeats, path.latency * work.repeats};
  const double further = std::max(0.0, work.loads * copies / path.loop.loads - 1);
  return {path.instructions + further * path.loop.instructions,
          path.latency + further * path.loop.latency};
}

// Among those that gain nearly the same.
bool is_preferred(const CoarsenCandidate& one, const CoarsenCandidate& other) {
  if (one.how.copies() != other.how.copies()) return one.how.copies() < other.how.copies();
  const auto waits = [](const CoarsenCandidate& candidate) {
    return passed(*candidate.usage, candidate.work, candidate.how.copies()).latency;
  };
  return one.work.repeats > 1 && waits(one) < waits(other);
}

// Where small launches run as before, none of them may notice that others do not.
bool must_not_harm(const target::Profile& profile, const CoarsenCandidate& candidate) {
  return profile.coarsen.harmless && candidate.how.least_threads != 0;
}

// ptxas may make another program of the original's body beside the merged form; then all launches
// that are not merged pay for it.
Why body_changed(const CoarsenCandidate& candidate) {
  if (candidate.body_changed.empty()) return {};
  return {Reason::body_changed,
          fmt::format("launches that are not merged would run other machine code ({})",
                      candidate.body_changed)};
}

double length(const CoarsenBaseline& original) {
  return passed(*original.usage, original.work, 1).instructions;
}

} // namespace

double launch_cycles(const target::Profile& profile, const CoarsenBaseline& original,
                     const CoarsenWork& work, const Usage& usage, const Coarsening& how,
                     const LaunchShape& launch) {
  const target::CoarsenConstants& cost = profile.coarsen;
  const double copies = how.copies();
  const Passed path = passed(usage, work, copies);
  const double in_block =
      std::max(1U, (launch.threads + target::warp_lanes - 1) / target::warp_lanes);
  const double per_sm = launch.blocks * in_block / profile.processors;
  const double fit =
      std::min<double>(target::resident_warps(profile, usage.registers, launch.threads),
                       blocks_with_shared(profile, work.shared) * in_block);
  const double there = std::min(fit, std::max(in_block, per_sm / copies));

  const double share =
      original.memory_bytes > 0 ? original.stored_bytes / original.memory_bytes : 0;
  const double scattered = 1 + cost.scattered * (1 - 1 / copies) * std::max(0.0, 2 * share - 1);
  const double memory = (launch.in_l2 ? cost.l2 : cost.memory) * original.memory_bytes * scattered;
  const double wavefronts = cost.wavefront * work.wavefronts;
  const double instructions = cost.instruction * path.instructions / copies;
  const double run =
      cost.start + cost.latency * path.latency + waiting_cycles(profile, work, how.copies());
  const double latency = (run + cost.idle * (copies - 1)) / copies / there;

  const double full = profile.threads_per_sm / static_cast<double>(target::warp_lanes);
  const double apart = 1 + cost.apart * (1 - 1.0 / how.factors[2]);
  const double missing = 1 + cost.occupancy * std::max(0.0, full / fit - 1) / work.repeats;
  const double each =
      overlapping({memory, wavefronts, instructions, latency}, cost.overlap) * apart * missing;
  return cost.launch + cost.tail * run +
         per_sm * overlapping({each, cost.block / in_block}, cost.cover);
}

double launch_gain(const target::Profile& profile, const CoarsenBaseline& original,
                   const CoarsenCandidate& candidate, const LaunchShape& launch) {
  return launch_cycles(profile, original, original.work, *original.usage, {}, launch) /
         launch_cycles(profile, original, candidate.work, *candidate.usage, candidate.how, launch);
}

target::Profile for_large_launches(const target::Profile& profile) {
  target::Profile large = profile;
  large.coarsen.harmless = false;
  large.coarsen.least_waves = limits::few_waves;
  return large;
}

std::uint64_t least_threads(const target::Profile& profile, const Coarsening& how) {
  return static_cast<std::uint64_t>(profile.coarsen.least_waves * profile.processors *
                                    profile.threads_per_sm * how.copies());
}

ExpectedGain expected_gain(const target::Profile& profile, const CoarsenBaseline& original,
                           const CoarsenCandidate& candidate) {
  if (!original.usage || !candidate.usage) return {};
  double logarithms = 0, worst = std::numeric_limits<double>::max();
  unsigned launches = 0;
  const auto threads = static_cast<double>(least_threads(profile, candidate.how));
  const auto validate_code = [&](unsigned block) {
    for (const double times : waves_over_least) {
      for (const bool in_l2 : {false, true}) {
        const double gain =
            launch_gain(profile, original, candidate,
                        {.blocks = times * threads / block, .threads = block, .in_l2 = in_l2});
        logarithms += std::log(gain);
        worst = std::min(worst, gain);
        ++launches;
      }
    }
  };
  if (original.threads != 0) {
    validate_code(original.threads);
  } else {
    const unsigned registers = target::allocated_registers(candidate.usage->registers);
    for (const unsigned block : usual_blocks)
      if (registers * block <= profile.registers_per_sm && may_be_launched_in(original.work, block))
        validate_code(block);
  }
  if (launches == 0) return {};
  return {.mean = std::exp(logarithms / launches), .worst = worst};
}

double coarsening_gain(const target::Profile& profile, const CoarsenBaseline& original,
                       const CoarsenCandidate& candidate) {
  return expected_gain(profile, original, candidate).mean;
}

Why never_taken(const target::Profile& profile, const CoarsenBaseline& original,
                const CoarsenCandidate& candidate) {
  if (!must_not_harm(profile, candidate)) return {};
  if (original.at_work < 1)
    return {Reason::may_lose,
            "blocks beside a diagonal leave at once, which launches that are not merged pay for"};
  const double saved = 1 - candidate.work.loads / std::max(1.0, original.work.loads);
  const bool meets = candidate.work.barriers > 0;
  const bool is_long = meets || original.work.repeats > 1;
  const double least = is_long ? limits::least_share_of_loops : limits::least_share;
  if (saved < least)
    return {Reason::may_lose,
            fmt::format("saves too little: {:.0f} % of the loads, {:.0f} % are asked for",
                        100 * saved, 100 * least)};
  if (meets && !leaves_room(profile, original.work, candidate.work))
    return {Reason::may_lose, "launches that are not merged would have less room in shared memory"};
  const unsigned most = is_long && !meets ? limits::few_copies_of_loops : limits::few_copies;
  if (candidate.how.copies() > most)
    return {Reason::may_lose,
            fmt::format("{} replicas are merged in large launches only", candidate.how.copies())};
  return {};
}

unsigned most_copies(const target::Profile& profile) {
  return profile.coarsen.harmless ? limits::few_copies : std::numeric_limits<unsigned>::max();
}

Why too_short(const target::Profile& profile, const CoarsenBaseline& original, double least) {
  if (!profile.coarsen.harmless || length(original) >= least * limits::least_length) return {};
  return {
      Reason::may_lose,
      fmt::format("too short: {:.0f} instructions, of which a small launch would notice those of "
                  "the run-time guard; {:.0f} are asked for",
                  length(original), limits::least_length)};
}

Why why_not(const CoarsenBaseline& original, const CoarsenCandidate& candidate) {
  if (!original.usage || !candidate.usage) return {Reason::not_assembled, "not assembled"};
  const Usage &before = *original.usage, &after = *candidate.usage;
  const unsigned known = original.threads;
  const BlockSizes sizes = known != 0 ? BlockSizes{known, known} : BlockSizes{};
  if (const unsigned size = target::block_that_fails(before.registers, after.registers, sizes);
      size != 0 && !original.bounded)
    return {Reason::registers,
            fmt::format("{} registers instead of {}: blocks of {} threads could not be launched",
                        after.registers, before.registers, size)};
  if (original.resident.has_value()) {
    if (const unsigned size =
            target::block_that_loses(before.registers, after.registers, *original.resident))
      return {Reason::registers,
              fmt::format("{} registers instead of {}: an SM would hold {} blocks of {} threads "
                          "instead of {}",
                          after.registers, before.registers,
                          target::resident_blocks(after.registers, size), size,
                          target::resident_blocks(before.registers, size))};
    if (const unsigned size = target::block_that_loses({before.registers, original.work.shared},
                                                       {after.registers, candidate.work.shared},
                                                       *original.resident, original.shared_per_sm))
      return {Reason::shared_memory,
              fmt::format("{} bytes of shared memory instead of {}: an SM would hold fewer blocks "
                          "of {} threads",
                          candidate.work.shared, original.work.shared, size)};
  }
  if (after.spill_stores > before.spill_stores || after.spill_loads > before.spill_loads)
    return {Reason::spills, fmt::format("spills {} bytes", after.spill_stores + after.spill_loads)};
  if (after.stack > before.stack)
    return {Reason::stack, fmt::format("needs {} bytes of stack", after.stack)};
  if (!before.path || !after.path ||
      after.path->stores != before.path->stores * candidate.how.copies())
    return {Reason::machine_code, "its machine code has another shape than expected"};
  return {};
}

void choose_coarsening(const target::Profile& profile, const CoarsenBaseline& original,
                       std::vector<CoarsenCandidate>& candidates) {
  double best = 0, best_of_few = 0;
  for (CoarsenCandidate& candidate : candidates) {
    candidate.chosen = false;
    const ExpectedGain expected = expected_gain(profile, original, candidate);
    candidate.gain = expected.mean;
    candidate.worst = expected.worst;
    candidate.verdict = why_not(original, candidate);
    if (candidate.verdict.empty() && candidate.worst < profile.coarsen.worst)
      candidate.verdict = {
          Reason::may_lose,
          fmt::format("may lose: {:.2f} for the launch that it suits least, {:.2f} is asked for",
                      candidate.worst, profile.coarsen.worst)};
    if (candidate.verdict.empty()) candidate.verdict = never_taken(profile, original, candidate);
    if (candidate.verdict.empty() && must_not_harm(profile, candidate))
      candidate.verdict = too_short(profile, original);
    if (candidate.verdict.empty() && must_not_harm(profile, candidate))
      candidate.verdict = body_changed(candidate);
    if (!candidate.verdict.empty()) continue;
    best = std::max(best, candidate.gain);
    if (candidate.how.copies() <= limits::few_copies)
      best_of_few = std::max(best_of_few, candidate.gain);
  }
  if (best < limits::worth_many * best_of_few) best = best_of_few;
  std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) {
    return std::tuple(!a.verdict.empty(), -a.gain) < std::tuple(!b.verdict.empty(), -b.gain);
  });
  CoarsenCandidate* chosen = nullptr;
  for (CoarsenCandidate& candidate : candidates) {
    if (!candidate.verdict.empty()) continue;
    if (candidate.gain < profile.coarsen.margin) {
      candidate.verdict = {
          Reason::gains_too_little,
          fmt::format("gains too little: {:.2f} is asked for", profile.coarsen.margin)};
    } else if (candidate.gain * limits::nearly_the_same >= best &&
               (chosen == nullptr || is_preferred(candidate, *chosen))) {
      chosen = &candidate;
    }
  }
  for (CoarsenCandidate& candidate : candidates) {
    if (&candidate == chosen || !candidate.verdict.empty()) continue;
    candidate.verdict = {Reason::another_way, candidate.gain > chosen->gain
                                                  ? "hardly gains more, with more replicas"
                                                  : "gains less"};
  }
  if (chosen == nullptr) return;
  chosen->chosen = true;
  const auto at = candidates.begin() + (chosen - candidates.data());
  std::rotate(candidates.begin(), at, at + 1);
}

std::vector<unsigned> register_limits(const target::Profile& profile, const CoarsenBaseline& kernel,
                                      unsigned registers) {
  const Usage& original = *kernel.usage;
  if (kernel.resident) {
    const unsigned most = target::registers_that_keep_blocks(original.registers, *kernel.resident);
    return registers > most ? std::vector{most} : std::vector<unsigned>{};
  }
  std::vector<unsigned> limits;
  const unsigned block = limits::usual_block;
  const unsigned warps = target::resident_warps(profile, original.registers, block);
  const unsigned held = std::min(255U, profile.registers_per_sm / (warps * target::warp_lanes) /
                                           register_unit * register_unit);
  if (registers > held) limits.push_back(held);
  if (registers > target::registers_for_any_block && held < target::registers_for_any_block)
    limits.push_back(target::registers_for_any_block);
  return limits;
}

bool may_want_more_registers(const target::Profile& profile, const CoarsenBaseline& kernel,
                             unsigned registers) {
  const Usage& original = *kernel.usage;
  if (kernel.resident &&
      target::block_that_loses(original.registers, target::registers_for_any_block,
                               *kernel.resident) != 0)
    return false;
  const unsigned block = limits::usual_block;
  return registers < target::registers_for_any_block &&
         target::resident_warps(profile, registers, block) <
             target::resident_warps(profile, original.registers, block);
}

} // namespace ptxasw::passes
