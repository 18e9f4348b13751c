// Profiles: written, read, merged, and under what kernels are found again.
#include "profile/lookup.hpp"
#include "profile/profile.hpp"
#include "profile/text.hpp"
#include "profile/version_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using testing::HasSubstr;

namespace ptxasw::profile {
namespace {

Shape shape_of(unsigned blocks, std::uint64_t launches, double original, double merged) {
  return {.grid = {blocks, 2, 1},
          .block = {32, 8, 1},
          .launches = launches,
          .chosen = "y:4",
          .versions = {{"original", {.samples = 3, .least = original, .mean = original + 1}},
                       {"y:4", {.samples = 1, .least = merged, .mean = merged}}}};
}

Profile example() {
  return {
      .chip = {"NVIDIA H200", "sm_90"},
      .runs = 1,
      .kernels = {
          {.name = "_Z3boxPf", .text = 0xfedcba9876543210, .shapes = {shape_of(64, 100, 30, 20)}},
          {.name = "plain", .launches = 7, .cooperative = 2}}};
}

TEST(Profile, ComesBack) {
  const auto read = from_json(to_json(example()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, example());
}

TEST(Profile, SaysWhyItIsNone) {
  EXPECT_EQ(from_json("{}").error(), "it is no profile");
  EXPECT_EQ(from_json("[1").error(), "it is no profile");
  EXPECT_EQ(from_json(R"({"ptxasw_profile":1})").error(), "it is of another version of ptxasw");
  EXPECT_EQ(from_json(R"({"ptxasw_profile":2})").error(), "it is damaged");
  EXPECT_EQ(read_file("/none").error(), "it cannot be read");
  std::string text = to_json(example());
  text.replace(text.find("\"launches\":100"), 14, "\"launches\":-10");
  EXPECT_EQ(from_json(text).error(), "it is damaged");
}

// Whatever is read is a profile or is refused; nothing throws.
TEST(Profile, MayBeAnybodysText) {
  const std::string text = to_json(example());
  std::mt19937 random(1);
  unsigned refused = 0;
  for (unsigned n = 0; n < 3000; ++n) {
    std::string damaged = text;
    switch (n % 3) {
    case 0: damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8)); break;
    case 1: damaged.resize(random() % damaged.size()); break;
    case 2: damaged.insert(random() % damaged.size(), 1, static_cast<char>(random())); break;
    }
    if (const auto read = from_json(damaged))
      EXPECT_TRUE(from_json(to_json(*read)));
    else
      ++refused;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Profile, RunsAddUp) {
  Profile more = example();
  more.kernels[0].shapes = {shape_of(64, 300, 24, 21), shape_of(8, 5, 3, 4)};
  const auto all = merged(std::vector{example(), more});
  ASSERT_TRUE(all) << all.error();
  EXPECT_EQ(all->runs, 2U);
  ASSERT_EQ(all->kernels.size(), 2U);
  const Kernel& box = all->kernels[0];
  ASSERT_EQ(box.shapes.size(), 2U);
  EXPECT_EQ(box.shapes[0].launches, 400U);
  EXPECT_EQ(box.all_launches(), 405U);
  const Time& time = box.shapes[0].versions.at("original");
  EXPECT_EQ(time.samples, 6U);
  EXPECT_EQ(time.least, 24);
  EXPECT_DOUBLE_EQ(time.mean, 28);
  EXPECT_DOUBLE_EQ(gain_of(box.shapes[0], "y:4"), 24.0 / 20);
  EXPECT_EQ(gain_of(box.shapes[0], "y:8"), 0);
  EXPECT_EQ(all->kernels[1].all_launches(), 18U);
  EXPECT_EQ(all->kernels[1].cooperative, 4U);
}

TEST(Profile, AnotherTextIsAnotherKernel) {
  Profile more = example();
  more.kernels[0].text = 1;
  EXPECT_EQ(merged(std::vector{example(), more})->kernels.size(), 3U);
}

TEST(Profile, TwoChipsDoNotMix) {
  Profile other = example();
  other.chip = {"NVIDIA H100 PCIe", "sm_90"};
  const auto all = merged(std::vector{example(), other});
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error(), HasSubstr("two chips do not mix"));
}

TEST(ProfileText, SaysNothingOfWhereTheCodeIsFrom) {
  const std::string text = ".entry k()\n{\n\tadd.s32 %r1, %r2, 1;\n\tret;\n}";
  const std::string moved =
      ".entry k()\n{\n\t.loc\t1 17 3\n\n\tadd.s32 %r1, %r2, 1;  \n// here\n\tret;\n}";
  EXPECT_EQ(hash_of_text(moved), hash_of_text(text));
  const std::string other = ".entry k()\n{\n\tadd.s32 %r1, %r2, 2;\n\tret;\n}";
  EXPECT_NE(hash_of_text(other), hash_of_text(text));
  EXPECT_NE(hash_of_text("a\nb"), hash_of_text("ab"));
}

TEST(ProfileVersion, WhatABuildCanMake) {
  EXPECT_EQ(factors_of("y:4"), (std::array{1U, 4U, 1U}));
  EXPECT_EQ(factors_of("x:2,z:8"), (std::array{2U, 1U, 8U}));
  for (const char* other : {"original", "standard", "block:32x8x1", "thread-swap:32", "",
                            "y:", "y:1", "y:4x", "w:4", "y:4,y:2", "y:400"})
    EXPECT_FALSE(factors_of(other)) << other;
  for (const char* order : {"thread-swap:32", "column:8", "swap", "linear-zigzag:64"})
    EXPECT_TRUE(is_order(order) && can_be_built(order)) << order;
  for (const char* other : {"original", "standard", "block:32x8x1", "steps:9", "tile:8x8"})
    EXPECT_FALSE(can_be_built(other)) << other;
}

TEST(ProfileLookup, TellsWhatIsKnown) {
  Profile run = example();
  run.kernels[0].shapes[0].versions["y:4"].least = 20;
  Kernel slow = run.kernels[0];
  slow.name = "slow";
  slow.shapes[0].versions["y:4"].least = 31;
  run.kernels.push_back(slow);
  const std::uint64_t text = run.kernels[0].text;
  const Lookup found(run, {{"_Z3boxPf", text}, {"slow", text}, {"plain", 5}, {"never", 6}});
  EXPECT_EQ(found.answer(0).known, Known::times);
  ASSERT_NE(found.answer(0).kernel, nullptr);
  EXPECT_EQ(found.answer(0).kernel->name, "_Z3boxPf");
  EXPECT_EQ(found.answer(1).known, Known::never_gained);
  EXPECT_EQ(found.answer(2).known, Known::nothing) << "launched, and nothing was timed";
  EXPECT_EQ(found.answer(3).known, Known::never_launched);
  EXPECT_EQ(found.answer(4).known, Known::nothing);
  EXPECT_THAT(found.relevant(), HasSubstr("_Z3boxPf"));
  EXPECT_TRUE(found.other_texts().empty());
}

TEST(ProfileLookup, AnotherTextIsNotKnown) {
  const Profile run = example();
  const Lookup found(run, {{"_Z3boxPf", 17}});
  EXPECT_EQ(found.answer(0).known, Known::nothing);
  EXPECT_THAT(found.other_texts(), testing::ElementsAre("_Z3boxPf"));
  EXPECT_EQ(found.relevant(), "");
}

// Nothing is said of a file none of whose kernels was launched: it may be another program's.
TEST(ProfileLookup, AnotherFileIsCompiledAsWithout) {
  const Profile run = example();
  const Lookup found(run, {{"a", 1}, {"b", 2}});
  EXPECT_EQ(found.answer(0).known, Known::nothing);
  EXPECT_EQ(found.relevant(), "");
}

// "standard": what a build makes without merging blocks.
TEST(ProfileLookup, OtherRewritesMayGainAlone) {
  Profile run = example();
  run.kernels[0].shapes[0].versions["y:4"].least = 31;
  run.kernels[0].shapes[0].versions["standard"] = {.samples = 3, .least = 25, .mean = 25};
  const Lookup found(run, {{"_Z3boxPf", run.kernels[0].text}});
  EXPECT_EQ(found.answer(0).known, Known::times);
}

} // namespace
} // namespace ptxasw::profile
