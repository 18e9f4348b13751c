// What carrying values from trip to trip has to save.
#include "cost/rotation.hpp"

#include <gtest/gtest.h>

namespace ptxasw::cost {
namespace {

TEST(RotationVerdict, WhatPays) {
  const Profile& profile = *find_profile("sm_90");
  const RotationWork star{.before = 39.5, .after = 27.4, .loads = 8, .registers = 8};
  EXPECT_TRUE(rotation_verdict(profile, star).pays);
  RotationWork other = star;
  other.checked = true;
  EXPECT_FALSE(rotation_verdict(profile, other).pays);
  other = star;
  other.wide = true;
  EXPECT_FALSE(rotation_verdict(profile, other).pays);
  other = star;
  other.registers = 33;
  EXPECT_FALSE(rotation_verdict(profile, other).pays);
  other = star;
  other.after = 38.5;
  EXPECT_FALSE(rotation_verdict(profile, other).pays);
  EXPECT_NE(rotation_verdict(profile, star).reason.find("39.5 to 27.4"), std::string::npos);
}

} // namespace
} // namespace ptxasw::cost
