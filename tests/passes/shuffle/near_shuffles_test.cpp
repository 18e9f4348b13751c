// Which lanes are near, and how much of a kernel has to be covered for shuffles to pay there.
#include "passes/shuffle/near_shuffles.hpp"

#include <gtest/gtest.h>

using namespace ptxasw::passes;

TEST(NearShuffles, PayWhereNearlyAllLoadsAreCovered) {
  EXPECT_TRUE(near_shuffles_pay(8, 9));
  EXPECT_FALSE(near_shuffles_pay(2, 3));
}

TEST(NearShuffles, AreThoseOfLanesLessThanAKilobyteApart) {
  EXPECT_TRUE(lanes_are_near({.lane_stride = -528}));
  EXPECT_FALSE(lanes_are_near({.lane_stride = -1024}));
  EXPECT_FALSE(lanes_are_near({}));
}
