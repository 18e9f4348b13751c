// The search for a coarsening without a ptxas: what is tried, and what happens when nothing comes
// back. tests/driver/coarsen.sh has the real one.
#include "driver/coarsen_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw::driver {
namespace {

using testing::HasSubstr;

Report two_ways() {
  KernelReport kernel;
  kernel.name = "k";
  kernel.original.work.instructions = 100;
  for (const unsigned factor : {2U, 4U}) {
    kernel.candidates.push_back({.how = {.factors = {1, factor, 1}}, .work = {.instructions = 80}});
  }
  Report report;
  report.kernels = {kernel};
  return report;
}

struct Tried {
  std::vector<std::string> texts, kernels;
};

CoarsenSearch search(const Options& options, Tried& tried, std::string_view target = "sm_90") {
  return find_coarsenings(
      "original", two_ways(), options, {.architecture = std::string(target)},
      [](const Options& o) { return "as " + to_string(o.coarsen_kernels.at("k")); },
      [&](const auto& texts, const auto& kernels) {
        tried = {texts, kernels};
        return std::vector<std::optional<Assembled>>(texts.size());
      });
}

TEST(CoarsenSearch, EveryWayIsTriedBesideTheOriginal) {
  Tried tried;
  const CoarsenSearch found = search({}, tried);
  EXPECT_THAT(tried.texts,
              testing::ElementsAre("original", "as y:2 by copies", "as y:4 by copies"));
  EXPECT_THAT(tried.kernels, testing::ElementsAre("k"));
  EXPECT_EQ(found.trials, 3U);
}

TEST(CoarsenSearch, WhatIsNotAssembledIsNotChosen) {
  Tried tried;
  const CoarsenSearch found = search({}, tried);
  EXPECT_EQ(found.choices().at("k"), Coarsening{});
  Report report = two_ways();
  describe(found, report);
  EXPECT_THAT(report.kernels[0].coarsening, HasSubstr("not coarsened"));
  EXPECT_EQ(report.trials, 3U);
}

TEST(CoarsenSearch, TheBudgetCountsInstructions) {
  Tried tried;
  Options options;
  options.coarsen_budget = 0;
  const CoarsenSearch found = search(options, tried);
  EXPECT_EQ(found.trials, 0U);
  EXPECT_TRUE(tried.texts.empty());
  EXPECT_EQ(found.choices().at("k"), Coarsening{});
  Report report = two_ways();
  describe(found, report);
  EXPECT_THAT(report.kernels[0].coarsening, HasSubstr("--coarsen-budget=0"));
}

TEST(CoarsenSearch, AnUnknownArchitectureIsLeftAlone) {
  Tried tried;
  EXPECT_TRUE(search({}, tried, "sm_42").choices().empty());
}

} // namespace
} // namespace ptxasw::driver
