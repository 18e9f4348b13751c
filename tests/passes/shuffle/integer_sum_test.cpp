// Sums of integers within bounds, against trying all of them.
#include "passes/shuffle/integer_sum.hpp"

#include "simt/random.hpp"

#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

bool tried(const IntegerSum& sum, Interval wanted, std::size_t n = 0, bool one_thread = true) {
  if (n == sum.summands.size())
    return sum.constant >= wanted.low && sum.constant <= wanted.high &&
           !(one_thread && sum.tells_threads);
  const Summand& s = sum.summands[n];
  IntegerSum next = sum;
  for (std::int64_t v = s.bounds.low; v <= s.bounds.high; ++v) {
    next.constant = sum.constant + s.coefficient * v;
    if (tried(next, wanted, n + 1, one_thread && (!s.of_threads || v == 0))) return true;
  }
  return false;
}

TEST(IntegerSum, AsTryingAllOfThem) {
  simt::Random random(7);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  unsigned found = 0, not_found = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    IntegerSum sum{.constant = number(-40, 40), .tells_threads = random.one_in(2)};
    for (std::uint64_t n = random.below(4); n-- > 0;) {
      const std::int64_t low = number(-4, 3);
      sum.summands.push_back(
          {random.one_in(6) ? 0 : number(-20, 20), {low, low + number(-1, 4)}, random.one_in(2)});
    }
    const std::int64_t low = number(-9, 3);
    const Interval wanted{low, low + number(0, 6)};
    const bool expected = tried(sum, wanted);
    EXPECT_EQ(may_be(sum, wanted), expected) << round;
    ++(expected ? found : not_found);
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(not_found, 1000U);
}

TEST(IntegerSum, WhatMayWrapMayBeAnything) {
  constexpr std::int64_t far = std::int64_t{1} << 32;
  const Interval zero{0, 0};
  EXPECT_TRUE(may_be({.constant = 1, .summands = {{4, {0, far}}}}, zero));
  EXPECT_TRUE(may_be({.constant = 1, .summands = {{far, {1, 2}}}}, zero));
  EXPECT_TRUE(may_be({.constant = 1, .summands = {{1 << 20, {1024, 2048}}}}, zero));
  EXPECT_TRUE(may_be({.constant = far}, zero));
  EXPECT_FALSE(may_be({.constant = 1, .summands = {{4, {0, 1024}}}}, zero));
}

TEST(IntegerSum, GivesUpWhereThereIsTooMuchToTry) {
  EXPECT_TRUE(may_be({.constant = 1, .summands = {{2, {0, 100}}, {2, {0, 100}}, {2, {-300, 300}}}},
                     {0, 0}));
}

} // namespace
} // namespace ptxasw::passes
