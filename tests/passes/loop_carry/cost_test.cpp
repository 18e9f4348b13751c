// What carrying values from iteration to iteration has to save.
#include "passes/loop_carry/cost.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ptxasw::passes {
namespace {

TEST(LoopCarryVerdict, WhatPays) {
  const target::Profile& profile = *target::find_profile("sm_90");
  const LoopCarryWork star{.before = 39.5, .after = 27.4, .loads = 8, .registers = 8};
  EXPECT_TRUE(loop_carry_verdict(profile, star).pays);
  LoopCarryWork other = star;
  other.checked = true;
  EXPECT_FALSE(loop_carry_verdict(profile, other).pays);
  other = star;
  other.wide = true;
  EXPECT_FALSE(loop_carry_verdict(profile, other).pays);
  other = star;
  other.registers = 33;
  EXPECT_FALSE(loop_carry_verdict(profile, other).pays);
  other = star;
  other.after = 38.5;
  EXPECT_FALSE(loop_carry_verdict(profile, other).pays);
  EXPECT_NE(loop_carry_verdict(profile, star).reason.find("39.5 to 27.4"), std::string::npos);
}

TEST(RotationLimit, KeepsTheBlocksThatHaveToStay) {
  constexpr BlockSizes any;
  EXPECT_EQ(loop_carry_limit(40, any), 40U) << "with 41 an SM would hold fewer blocks of 1024 / 3";
  EXPECT_EQ(loop_carry_limit(33, any), 40U) << "registers come in eights";
  EXPECT_EQ(loop_carry_limit(71, any), 64U);
  EXPECT_EQ(loop_carry_limit(40, BlockSizes{1024, 1024}), 64U) << "one block, before and after";
  EXPECT_EQ(loop_carry_limit(40, std::nullopt), 64U);
}

Usage usage(unsigned registers, double latency, unsigned stores = 1) {
  return {.registers = registers,
          .path = StraightPath{.instructions = 100, .stores = stores, .latency = latency}};
}

LoopCarryCandidate chosen(const std::vector<LoopCarryTrial>& trials, const Usage& original) {
  return choose_buffers(*target::find_profile("sm_90"), original, trials);
}

// What ptxas 13.0 made of the star of radius 4 (bench/forms, f4nl), and how it ran on an H200: one
// trip without a limit 1.02, with 64 registers 1.34, four trips 1.54.
TEST(LoopCarryCandidates, TheOneThatWaitsLeastForAValue) {
  const Usage original = usage(40, 1885);
  const LoopCarryTrial as_it_is{{1, 0}, usage(40, 1913)}, limited{{1, 64}, usage(56, 825)},
      several{{4, 64}, usage(64, 2040, 4)};
  EXPECT_EQ(chosen({as_it_is, limited, several}, original), several.way);
  EXPECT_EQ(chosen({as_it_is, limited}, original), limited.way);
  EXPECT_EQ(chosen({as_it_is}, original), as_it_is.way);
  const LoopCarryTrial crowded{{1, 64}, usage(64, 1500)};
  EXPECT_EQ(chosen({as_it_is, crowded}, original), as_it_is.way) << "half of the warps are left";
}

TEST(LoopCarryCandidates, NothingThatSpillsOrIsNotKnown) {
  const Usage original = usage(40, 1885);
  const LoopCarryTrial as_it_is{{1, 0}, usage(40, 1913)};
  for (unsigned Usage::*what : {&Usage::stack, &Usage::spill_stores, &Usage::spill_loads}) {
    LoopCarryTrial spills{{1, 64}, usage(56, 825)};
    (*spills.usage).*what = 8;
    EXPECT_EQ(chosen({as_it_is, spills}, original), as_it_is.way);
    Usage spilled = original;
    spilled.*what = 8;
    EXPECT_EQ(chosen({as_it_is, spills}, spilled), spills.way) << "the original does so, too";
  }
  LoopCarryTrial unread{{1, 64}, usage(56, 825)};
  unread.usage->path.reset();
  EXPECT_EQ(chosen({as_it_is, unread}, original), as_it_is.way);
  EXPECT_EQ(chosen({as_it_is, {{1, 64}, {}}}, original), as_it_is.way);
  EXPECT_EQ(chosen({{{1, 0}, {}}, {{1, 64}, usage(56, 825)}}, original),
            (LoopCarryCandidate{1, 64}));
}

} // namespace
} // namespace ptxasw::passes
