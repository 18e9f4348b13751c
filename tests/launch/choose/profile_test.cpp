// What a run leaves for the next build.
#include "fixture.hpp"

#include "launch/choose/profile.hpp"
#include "sanitized.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

#include <filesystem>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::Program;
using testing::ElementsAre;
using testing::Key;

class ProfileTest : public EngineTest {
protected:
  void SetUp() override {
    file =
        std::filesystem::temp_directory_path() / ("ptxasw-profile-" + std::to_string(::getpid()));
  }
  void TearDown() override {
    std::filesystem::remove(file);
    EngineTest::TearDown();
  }
  [[nodiscard]] profile::Profile written() const {
    auto read = profile::read_file(file);
    EXPECT_TRUE(read) << read.error();
    return read ? *read : profile::Profile{};
  }
  std::filesystem::path file;
};

// Versions of a kernel whose text is known.
void say_text(Program& p, std::uint64_t text) {
  contract::Contract contract = test::contract_of("k");
  contract.text = text;
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
}

TEST_F(ProfileTest, HasTimesAndCountsOfAllVersions) {
  if (ptxasw::test::sanitized) GTEST_SKIP() << "what is timed by the clock takes longer";
  Program p, plain("plain", false);
  say_text(p, 0xabc);
  p.kernel.milliseconds = 3;
  p.two.milliseconds = 1;
  p.four.milliseconds = 2;
  Engine engine(read_settings("policy=measure,profile=" + file.string()));
  for (unsigned n = 0; n < 3000; ++n)
    engine.launch(p.request(), direct);
  engine.launch(p.request(4), direct);
  engine.launch(plain.request(), direct);
  engine.write_report();
  const profile::Profile made = written();
  EXPECT_EQ(made.chip, (profile::Chip{"Fake GPU", "sm_90"}));
  ASSERT_EQ(made.kernels.size(), 2U);
  const profile::Kernel& k = made.kernels[0];
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.text, 0xabcU);
  ASSERT_EQ(k.shapes.size(), 2U);
  EXPECT_EQ(k.shapes[0].launches, 1U);
  const profile::Shape& often = k.shapes[1];
  EXPECT_THAT(often.grid, ElementsAre(50, 1, 1));
  EXPECT_THAT(often.block, ElementsAre(100, 1, 1));
  EXPECT_EQ(often.launches, 3000U);
  EXPECT_EQ(often.chosen, "x:2");
  EXPECT_THAT(often.versions, ElementsAre(Key("original"), Key("x:2"), Key("x:4")));
  EXPECT_DOUBLE_EQ(profile::gain_of(often, "x:2"), 3);
  EXPECT_EQ(made.kernels[1].name, "plain");
  EXPECT_EQ(made.kernels[1].launches, 1U);
}

// Launches that take long are all timed for the profile, and what the chosen version takes longer
// than the fastest one is no trial's cost: it is chosen all the same.
TEST_F(ProfileTest, WhatIsTimedForItLeavesTimeForTrials) {
  Program p;
  p.kernel.milliseconds = 1.2F;
  p.two.milliseconds = 1;
  p.four.milliseconds = 1.1F;
  Engine engine(read_settings("policy=measure,profile=" + file.string()));
  for (unsigned n = 0; n < 600; ++n) {
    engine.launch(p.request(), direct);
    std::this_thread::sleep_for(std::chrono::milliseconds(2)); // until the next one is timed, too
  }
  engine.write_report();
  EXPECT_EQ(written().kernels.at(0).shapes.at(0).chosen, "x:2");
}

// The model's choice and now and then the kernel itself, as for a report; and all are counted.
TEST_F(ProfileTest, ComesOfThePolicyThatDoesNotMeasureToo) {
  Program p;
  Engine engine(read_settings("profile=" + file.string()));
  for (unsigned n = 0; n < 100; ++n)
    engine.launch(p.request(), direct);
  engine.write_report();
  const profile::Profile made = written();
  ASSERT_EQ(made.kernels.size(), 1U);
  EXPECT_EQ(made.kernels[0].all_launches(), 100U);
  EXPECT_EQ(made.kernels[0].shapes.at(0).chosen, "x:4");
}

// They are none of the launcher's; a build asks whether there were any.
TEST_F(ProfileTest, CountsCooperativeLaunches) {
  Program p;
  Engine engine(read_settings("profile=" + file.string()));
  engine.launch(p.request(), direct);
  EXPECT_EQ(p.request().function, p.function());
  engine.count_cooperative(p.function());
  engine.count_cooperative(p.function());
  engine.write_report();
  ASSERT_EQ(written().kernels.size(), 1U);
  EXPECT_EQ(written().kernels[0].cooperative, 2U);
  EXPECT_EQ(written().kernels[0].all_launches(), 3U);
}

TEST_F(ProfileTest, IsNotWrittenOfNothing) {
  Engine engine(read_settings("profile=" + file.string()));
  engine.write_report();
  EXPECT_FALSE(std::filesystem::exists(file));
}

} // namespace
} // namespace ptxasw::launch
