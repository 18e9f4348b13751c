// What is chosen by the launches of a run, and from which size on it is merged.
#include "oracle/straight_path.hpp"
#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/cost/launched.hpp"
#include "passes/coarsen/search/measured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

using testing::HasSubstr;

const target::Profile& chip() {
  return *target::find_profile("sm_90");
}

Usage needs(unsigned registers, unsigned path, double latency, unsigned stores) {
  return {.registers = registers,
          .path = StraightPath{.instructions = path, .stores = stores, .latency = latency}};
}

CoarsenBaseline kernel() {
  return {.work = {.wavefronts = 12.2, .loads = 7, .instructions = 60},
          .memory_bytes = 256,
          .stored_bytes = 128,
          .usage = needs(22, 56, 573, 1)};
}

CoarsenCandidate along_y(unsigned copies, std::uint64_t least = 500'000) {
  return {.how = {.factors = {1, copies, 1}, .least_threads = least},
          .work = {.wavefronts = 9.9, .loads = 5.5, .instructions = 43},
          .usage = needs(32, 40 * copies, 300.0 * copies, copies)};
}

// Launches of blocks of 512 threads; times in microseconds, 0: not timed.
profile::Shape launches(unsigned blocks, std::uint64_t count, double original, double y2,
                        double y4) {
  profile::Shape made{.grid = {blocks, 1, 1}, .block = {512, 1, 1}, .launches = count};
  for (const auto& [name, time] : {std::pair{"original", original}, {"y:2", y2}, {"y:4", y4}})
    if (time > 0) made.versions[name] = {.samples = 3, .least = time, .mean = time};
  return made;
}

CoarsenCandidate chosen(std::vector<profile::Shape> shapes,
                        std::vector<CoarsenCandidate> candidates = {along_y(2), along_y(4)},
                        const CoarsenBaseline& original = kernel()) {
  const profile::Kernel run{.name = "k", .text = 1, .shapes = std::move(shapes)};
  choose_measured(chip(), original, run, candidates);
  return candidates.at(0);
}

TEST(Measured, TheFastestOfTheRunIsTaken) {
  CoarsenCandidate best = chosen({launches(20'000, 100, 100, 60, 80)});
  EXPECT_TRUE(best.chosen);
  EXPECT_EQ(best.how.copies(), 2U);
  EXPECT_GT(best.gain, 1.3);
  EXPECT_LE(best.gain, 100.0 / 60) << "blocks that return at once cost something";
  best = chosen({launches(20'000, 100, 100, 90, 60)});
  EXPECT_EQ(best.how.copies(), 4U);
}

TEST(Measured, WhatNeverGainsIsNotTaken) {
  const CoarsenCandidate best = chosen({launches(20'000, 100, 100, 101, 120)});
  EXPECT_FALSE(best.chosen);
  EXPECT_EQ(best.verdict.reason, Reason::never_gained);
}

// How often a launch is made decides, not how many sizes there are.
TEST(Measured, LaunchesCount) {
  const auto runs = [&](std::uint64_t often) {
    return std::vector{launches(20'000, often, 100, 60, 90),
                       launches(30'000, 1000 - often, 150, 140, 85)};
  };
  EXPECT_EQ(chosen(runs(950)).how.copies(), 2U);
  EXPECT_EQ(chosen(runs(50)).how.copies(), 4U);
}

// The limit is where the run's own launches, one that loses and one that gains, tell that a gain
// begins; how clear a gain, the model says.
TEST(Measured, TheLeastLaunchFollowsFromTheRun) {
  const auto limit = [&](std::vector<profile::Shape> shapes, std::uint64_t by_model) {
    const CoarsenCandidate best = chosen(std::move(shapes), {along_y(2, by_model)});
    EXPECT_TRUE(best.chosen) << best.verdict.text;
    return best.how.least_threads;
  };
  const std::vector both{launches(100, 10, 10, 20, 0), launches(20'000, 100, 100, 60, 0)};
  const std::uint64_t least = limit(both, 1), most = limit(both, std::uint64_t{1} << 40);
  EXPECT_GT(least, 2000 * 512 / 4U) << "half way between half and twice the speed, about";
  EXPECT_LT(least, most);
  EXPECT_LT(most, 20'000 * 512 / 4U);
  EXPECT_EQ(limit(both, (least + most) / 2), (least + most) / 2);
  const std::vector hardly{launches(100, 10, 10, 10.1, 0), launches(20'000, 100, 100, 60, 0)};
  EXPECT_LT(limit(hardly, 1), 200 * 512U);
  EXPECT_LT(limit(hardly, std::uint64_t{1} << 40), 400 * 512U);
  const std::vector gains_always{launches(100, 1000, 10, 5, 0), launches(20'000, 100, 100, 60, 0)};
  EXPECT_EQ(limit(gains_always, 500'000), 100 * 512U);
  EXPECT_EQ(limit(gains_always, 500), 500U);
}

// One launch that would lose keeps all smaller ones as they are, unless it is hardly ever made.
TEST(Measured, NoLaunchLoses) {
  const auto limit = [&](std::uint64_t often) {
    return chosen({launches(1000, 1000, 10, 6, 0), launches(3000, often, 15, 20, 0),
                   launches(20'000, 100, 100, 60, 0)},
                  {along_y(2)})
        .how.least_threads;
  };
  EXPECT_GT(limit(300), 3000 * 512U);
  EXPECT_LE(limit(1), 1000 * 512U);
}

TEST(Measured, WhatWasNotTimedGainsNothing) {
  const CoarsenCandidate best = chosen({launches(20'000, 100, 100, 0, 60)}, {along_y(2)});
  EXPECT_FALSE(best.chosen);
  const profile::Kernel run{.shapes = {launches(20'000, 100, 100, 0, 60)}};
  EXPECT_FALSE(is_timed(run, {1, 2, 1}));
  EXPECT_TRUE(is_timed(run, {1, 4, 1}));
}

// Where the run has tried others, all of which lose, one that it has not tried would, too.
TEST(Measured, WhatWasNotTriedLosesWhereOthersDo) {
  const auto limit = [&](double y4) {
    return chosen({launches(5000, 1000, 30, 0, y4), launches(20'000, 100, 100, 60, 90)},
                  {along_y(2, 1)})
        .how.least_threads;
  };
  EXPECT_LE(limit(29), 5000 * 512U);
  EXPECT_GT(limit(31), 5000 * 512U);
}

// Of which the second one gains by a merged version.
std::vector<profile::Shape> small_and_large() {
  return {launches(100, 200, 10, 20, 0), launches(20'000, 100, 100, 60, 0)};
}

// Where no smaller launch is made nobody notices that the original's body is another program. Else
// what it costs is predicted.
TEST(Measured, TheBodyOfSmallerLaunchesCountsWhereThereAreSome) {
  CoarsenCandidate other = along_y(2);
  other.body_changed = "a load waits";
  EXPECT_TRUE(chosen({launches(20'000, 100, 100, 60, 0)}, {other}).chosen);
  const CoarsenCandidate unknown = chosen(small_and_large(), {other});
  EXPECT_FALSE(unknown.chosen);
  EXPECT_EQ(unknown.verdict.reason, Reason::body_changed);
  EXPECT_THAT(unknown.verdict.text, HasSubstr("a load waits"));
  other.beside = kernel().usage->path;
  EXPECT_TRUE(chosen(small_and_large(), {other}).chosen);
  other.beside->latency = 3000;
  EXPECT_FALSE(chosen(small_and_large(), {other}).chosen);
}

// Registers that leave room for fewer blocks at a time, where a launch has as many.
TEST(Measured, RegistersOfSmallerLaunchesCount) {
  CoarsenBaseline any = kernel();
  any.resident.reset(); // fewer may be resident
  CoarsenCandidate more = along_y(2);
  more.usage->registers = 64; // two blocks of 512 threads
  EXPECT_TRUE(chosen(small_and_large(), {more}, any).chosen) << "less than a block on each SM";
  const CoarsenCandidate fewer =
      chosen({launches(2000, 200, 20, 30, 0), launches(20'000, 100, 100, 60, 0)}, {more}, any);
  EXPECT_FALSE(fewer.chosen);
  EXPECT_EQ(fewer.verdict.reason, Reason::registers);
}

TEST(Measured, WhatMightNotLaunchIsNeverTaken) {
  CoarsenCandidate large = along_y(2);
  large.usage->registers = 65;
  EXPECT_FALSE(chosen({launches(20'000, 100, 100, 10, 0)}, {large}).chosen);
}

} // namespace
} // namespace ptxasw::passes
