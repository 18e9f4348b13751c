// Which arrays of a step are taken for the ones that the program exchanges.
#include "passes/time_tile/step/step_pairs.hpp"

#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

using Chosen = std::vector<unsigned>;

Chosen pairs(const std::vector<StepCandidates>& arrays) {
  return pair_arrays(arrays);
}

TEST(StepPairs, OfTheMostOffsets) {
  EXPECT_EQ(pairs({{1, {{0, 5}, {2, 1}}}}), Chosen{0});
  EXPECT_EQ(pairs({{1, {{0, 1}, {2, 5}}}}), Chosen{2});
}

TEST(StepPairs, OfOneArrayOnlyOnce) {
  EXPECT_EQ(pairs({{1, {{0, 5}}}, {3, {{0, 5}}}}), Chosen{});
  EXPECT_EQ(pairs({{1, {{0, 5}, {2, 2}}}, {3, {{0, 5}}}}), (Chosen{2, 0}));
}

TEST(StepPairs, AreWantingWhereNothingFits) {
  EXPECT_EQ(pairs({{1, {}}}), Chosen{});
}

// (u, u2, v, v2) and (u2, v2, u, v): whoever is read at more offsets, the order tells.
TEST(StepPairs, KeepTheOrder) {
  EXPECT_EQ(pairs({{1, {{0, 1}, {2, 4}}}, {3, {{0, 1}, {2, 4}}}}), (Chosen{0, 2}));
  EXPECT_EQ(pairs({{3, {{0, 1}, {2, 4}}}, {1, {{0, 1}, {2, 4}}}}), (Chosen{2, 0}));
  EXPECT_EQ(pairs({{0, {{2, 1}, {3, 4}}}, {1, {{2, 1}, {3, 4}}}}), (Chosen{2, 3}));
}

// (in, out, c, ..., in2, out2), where as much is read from c as from in2.
TEST(StepPairs, LieSideBySide) {
  EXPECT_EQ(pairs({{1, {{0, 2}, {2, 2}, {6, 2}}}, {7, {{0, 2}, {2, 2}, {6, 2}}}}), (Chosen{0, 6}));
}

TEST(StepPairs, OfManyArraysEndInTime) {
  std::vector<StepCandidates> arrays;
  for (unsigned n = 0; n < 16; ++n) {
    StepCandidates& made = arrays.emplace_back(StepCandidates{.out = 100 + n, .in = {}});
    for (unsigned in = 0; in < 16; ++in)
      made.in[in] = 1 + in % 3;
  }
  EXPECT_EQ(pairs(arrays).size(), 16U);
}

std::pair<unsigned, unsigned> rotated(const StepCandidates& array) {
  const auto chosen = choose_buffers(array);
  return chosen ? std::pair(chosen->old, chosen->now) : std::pair(99U, 99U);
}

using Pair = std::pair<unsigned, unsigned>;

TEST(StepRotation, NowIsReadAtMostOffsets) {
  EXPECT_EQ(rotated({2, {{0, 1}, {1, 5}}}), (Pair{0, 1}));
  EXPECT_EQ(rotated({2, {{0, 5}, {1, 1}}}), (Pair{1, 0}));
  EXPECT_EQ(rotated({1, {{0, 1}, {2, 5}}}), (Pair{0, 2}));
}

TEST(StepRotation, LiesSideBySideInTheOrderOfAge) {
  EXPECT_EQ(rotated({2, {{0, 1}, {1, 1}}}), (Pair{0, 1}));
  EXPECT_EQ(rotated({0, {{1, 1}, {2, 1}}}), (Pair{2, 1}));
  EXPECT_EQ(rotated({2, {{0, 1}, {1, 5}, {3, 1}}}), (Pair{0, 1})) << "3 holds coefficients";
  EXPECT_EQ(rotated({0, {{1, 5}, {2, 1}, {6, 1}}}), (Pair{2, 1}));
}

TEST(StepRotation, TakesThree) {
  EXPECT_EQ(rotated({1, {{0, 5}}}), (Pair{99, 99}));
}

} // namespace
} // namespace ptxasw::passes
