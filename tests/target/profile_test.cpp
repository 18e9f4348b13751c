// The gain model: what pays where, and that the model agrees with the timings it was made from.
#include "target/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace ptxasw::target;
using testing::HasSubstr;

namespace {

ShuffleCandidate constant(std::int64_t stride, unsigned bytes, int delta) {
  return {bytes, Lane::constant, stride, sectors({stride, bytes}), delta};
}
ShuffleCandidate parametric(unsigned bytes, int delta, bool far_apart = false) {
  return {bytes, Lane::parametric, {}, {1, 32}, delta, far_apart};
}
ShuffleCandidate unknown(int delta) {
  return {4, Lane::unknown, {}, {1, 32}, delta};
}

const Profile& hopper() {
  return *find_profile("sm_90");
}

// Time of a kernel of `loads` equal loads of which `covered` are rewritten, relative to none.
double predicted_speedup(const ShuffleCandidate& candidate, int loads, int covered) {
  const Verdict v = shuffle_verdict(hopper(), candidate);
  const double rest = (loads - covered) * v.load_cycles;
  return loads * v.load_cycles / (rest + covered * v.shuffle_cycles);
}

} // namespace

TEST(Profiles, OnePerArchitecture) {
  std::vector<std::string_view> names;
  for (const Profile& profile : ptxasw::numbers::chips())
    names.push_back(profile.architecture);
  EXPECT_THAT(
      names, testing::ElementsAre("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"));
}

TEST(Profiles, FoundByNameWithOrWithoutFeatureSuffix) {
  EXPECT_EQ(find_profile("sm_90")->name, "Hopper");
  EXPECT_EQ(find_profile("sm_90a"), find_profile("sm_90"));
  EXPECT_EQ(find_profile("sm_100f")->architecture, "sm_100");
  for (const auto* name : {"", "a", "sm_9", "sm_900", "sm_87", "compute_90", "SM_90"})
    EXPECT_EQ(find_profile(name), nullptr) << name;
}

TEST(Profiles, EveryCostNamesItsSource) { // the guard's may be part of the corner's
  for (const Profile& p : ptxasw::numbers::chips())
    for (const auto& cost : {p.shuffle, p.load, p.line, p.corner, p.guard}) {
      EXPECT_GE(cost.cycles, 0) << p.architecture;
      EXPECT_FALSE(cost.source.empty()) << p.architecture;
    }
}

TEST(Profiles, TheRegisterBudgetFitsTheLargestBlock) {
  for (const Profile& p : ptxasw::numbers::chips())
    EXPECT_LE(registers_for_any_block * 1024, p.registers_per_sm) << p.architecture;
}

TEST(ShufflePays, OnHopper) {
  struct Case {
    const char* what;
    ShuffleCandidate candidate;
    bool pays;
  };
  const std::vector<Case> cases{
      {"coalesced f32", constant(4, 4, 1), false},
      {"coalesced f32, backwards", constant(-4, 4, -2), false},
      {"coalesced f64", constant(8, 8, 1), false},
      {"coalesced v4.f32", constant(16, 16, 1), false},
      {"coalesced bytes", constant(1, 1, 1), false},
      {"uniform", constant(0, 4, 1), false},
      {"every other float", constant(8, 4, 1), false},
      {"a sector per lane", constant(32, 4, 1), true},
      {"a column", constant(4096, 4, 1), true},
      {"a column, four lanes away", constant(4096, 4, -4), true},
      {"a column of f64", constant(8192, 8, 1), true},
      {"a column of run-time height: it may be 1", parametric(4, 1), false},
      {"a column of run-time height, promised to be large", parametric(4, 1, true), true},
      {"a column, 31 lanes away: the corner is the load", constant(4096, 4, 31), false},
      {"not affine", unknown(1), false},
      {"same lane", constant(4, 4, 0), true},
      {"same lane, not affine", unknown(0), true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(shuffle_pays(hopper(), c.candidate), c.pays)
        << c.what << ": " << shuffle_verdict(hopper(), c.candidate).reason;
}

TEST(ShufflePays, CoalescedNeverAndColumnsOnEveryProfile) {
  for (const Profile& profile : ptxasw::numbers::chips()) {
    EXPECT_FALSE(shuffle_pays(profile, constant(4, 4, 1))) << profile.architecture;
    EXPECT_FALSE(shuffle_pays(profile, constant(8, 8, -1))) << profile.architecture;
    EXPECT_TRUE(shuffle_pays(profile, constant(65536, 4, 1))) << profile.architecture;
  }
}

TEST(ShufflePays, NeverWithoutAProfile) {
  const Verdict verdict = shuffle_verdict("sm_72", constant(4096, 4, 1));
  EXPECT_FALSE(verdict.pays);
  EXPECT_EQ(verdict.reason, "no cost profile for sm_72; --shuffle=all takes it anyway");
  EXPECT_THAT(shuffle_verdict("", constant(4096, 4, 1)).reason, HasSubstr("this target"));
}

TEST(ShufflePays, TheReasonNamesThePromise) {
  EXPECT_THAT(shuffle_verdict(hopper(), parametric(4, 1)).reason, HasSubstr("--shuffle=columns"));
  EXPECT_THAT(shuffle_verdict(hopper(), parametric(4, 1, true)).reason, HasSubstr("32 lines"));
}

TEST(ShufflePays, KnownSectorsBoundWhatAStrideSuggests) {
  ShuffleCandidate narrow = parametric(4, 1, true);
  narrow.sectors = {1, 2};
  EXPECT_FALSE(shuffle_pays(hopper(), narrow));
  ShuffleCandidate scattered = unknown(1);
  scattered.sectors = {32, 32}; // at least 8 lines
  EXPECT_TRUE(shuffle_pays(hopper(), scattered));
}

TEST(Gain, GrowsWithTheStrideAndShrinksWithTheDelta) {
  double previous = shuffle_verdict(hopper(), constant(4, 4, 1)).gain();
  for (const std::int64_t stride : {8, 16, 32, 64, 128}) {
    const double gain = shuffle_verdict(hopper(), constant(stride, 4, 1)).gain();
    EXPECT_GT(gain, previous) << stride;
    previous = gain;
  }
  for (int delta = 1; delta < 31; ++delta)
    EXPECT_GT(shuffle_verdict(hopper(), constant(4096, 4, delta)).gain(),
              shuffle_verdict(hopper(), constant(4096, 4, -delta - 1)).gain());
}

TEST(Gain, EveryWordOfAValueIsAShuffle) {
  const auto cycles = [](unsigned bytes) {
    return shuffle_verdict(hopper(), constant(4096, bytes, 1)).shuffle_cycles;
  };
  EXPECT_EQ(cycles(1), cycles(4));
  EXPECT_DOUBLE_EQ(cycles(8) - cycles(4), hopper().shuffle.cycles);
  EXPECT_DOUBLE_EQ(cycles(16) - cycles(4), 3 * hopper().shuffle.cycles);
}

// Box filters on an H200: a guarded shuffle costs 1.57 to 1.69 coalesced loads, as far as the rest
// of the kernel does not hide it.
TEST(Gain, AgreesWithTheMeasuredBoxFilters) {
  const Verdict v = shuffle_verdict(hopper(), constant(4, 4, 1));
  EXPECT_NEAR(v.shuffle_cycles / v.load_cycles, 1.63, 0.25);
}

// transposed4 on an H200: 3.5 times as fast with 8 of 9 loads shuffled over 1 to 8 lanes. The
// model has no memory behind L1, so it may promise somewhat more.
TEST(Gain, AgreesWithTheMeasuredColumnWalk) {
  EXPECT_NEAR(predicted_speedup(constant(16384, 4, 4), 9, 8), 3.5, 0.8);
}

TEST(KernelPays, WhenThePipeIsRelievedAsAWhole) {
  EXPECT_TRUE(kernel_pays(hopper(), 97, 38));    // transposed1: 1.6 times as fast
  EXPECT_FALSE(kernel_pays(hopper(), 192, 136)); // heat_t: 0.95
  EXPECT_FALSE(kernel_pays(hopper(), 0, 1));
}

TEST(ShufflePays, NonsenseIsAnsweredWithNo) {
  EXPECT_FALSE(shuffle_pays(hopper(), constant(4096, 4, std::numeric_limits<int>::min())));
  EXPECT_FALSE(shuffle_pays(hopper(), {0, Lane::constant, {}, {9, 1}, 1}));
}

TEST(Reason, SaysWhatWasWeighedAndWhatToDo) {
  EXPECT_EQ(shuffle_verdict(hopper(), constant(4096, 4, 1)).reason,
            "the load costs 32.0 cycles (32 lines), a guarded shuffle 2.8 (sm_90, measured)");
  EXPECT_EQ(shuffle_verdict(hopper(), constant(4, 4, 1)).reason,
            "would not pay: the load costs 1.5 cycles (1.5 lines), a guarded shuffle 2.8 (sm_90, "
            "measured); --shuffle=all takes it anyway");
  EXPECT_EQ(shuffle_verdict(hopper(), constant(4, 4, 0)).reason,
            "the value is in a register of the same lane");
}
