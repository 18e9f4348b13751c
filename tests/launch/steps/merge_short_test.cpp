// What short runs cost: which launches are looked at, what is asked of the driver for them, and
// what is remembered of runs that gain nothing.
#include "stencil.hpp"

#include "launch/waiting/trampolines.hpp"
#include "sanitized.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::gpu;
using test::launched;
using test::Passed;
using test::Stencil;
using testing::HasSubstr;
using testing::Not;

constexpr const char* settings = "no-images,steps=60000000";

unsigned calls() {
  unsigned all = 0;
  for (const auto& [name, count] : gpu().calls)
    if (name != "cuLaunchKernel" && name != "cuCtxGetCurrent" && name != "cuCtxPushCurrent")
      all += count;
  return all;
}

// Runs of k steps. How many launches were looked at.
unsigned looked_at(Stencil& s, const Passed& passed, unsigned k, unsigned periods) {
  unsigned found = 0;
  for (unsigned n = 0; n < periods; ++n) {
    for (unsigned step = 0; step < k; ++step) {
      if (passed.left != 0 && !is_waiting()) {
        --passed.left;
        EXPECT_EQ(direct(s.request()), CUDA_SUCCESS);
      } else {
        ++found;
        EXPECT_EQ(s.engine.launch(s.request(), passed), CUDA_SUCCESS);
      }
      s.moved();
    }
    if (is_waiting()) s.engine.flush();
  }
  return found;
}

// --- The first loop ------------------------------------------------------------------------------

TEST(MergeShort, TheFirstLoopAsksNothing) {
  Stencil s(settings, false, true);
  gpu().calls.clear();
  s.launch_once(); // reads what its module says
  launched();
  for (unsigned loop = 0; loop < 2; ++loop) {
    for (unsigned k = 0; k < 7; ++k) {
      const unsigned before = calls();
      s.launch_once();
      EXPECT_EQ(launched().size(), 1U) << "put off";
      EXPECT_EQ(calls(), before) << k;
    }
    s.engine.flush();
  }
  s.settle();
  EXPECT_EQ(gpu().calls["cuFuncLoad"], 0U);
  s.expect_as_launched_singly();
}

// A kernel that fills the arrays is launched first.
TEST(MergeShort, StepsAreMadeReadyAtTheFirstLaunchOfTheirModule) {
  Stencil s(settings, false, true);
  fake::Function& fill = gpu().add(s.module, "fill", {8, 8, 4});
  Request request = s.request();
  request.function = reinterpret_cast<CUfunction>(&fill);
  s.module.functions["s"]->is_loaded = false; // until somebody asks for it
  gpu().calls.clear();
  s.engine.launch(request, direct);
  EXPECT_EQ(gpu().calls["cuFuncLoad"], 3U);
  s.launch_once();
  launched();
  const unsigned before = calls();
  s.steps(15);
  EXPECT_LE(calls(), before + 2) << "but for two events";
  s.settle();
  EXPECT_EQ(gpu().calls["cuFuncLoad"], 3U);
  launched();
  s.steps(7);
  EXPECT_EQ(Stencil::made(), "s5");
  s.engine.flush();
  s.expect_as_launched_singly();
  // And what came of them is forgotten with the module's handles.
  s.engine.forget_handles();
  s.engine.launch(request, direct);
  EXPECT_EQ(gpu().calls["cuFuncLoad"], 5U);
}

TEST(MergeShort, NothingIsMadeReadyWithoutSteps) {
  Stencil s("policy=model", false, true);
  fake::Function& fill = gpu().add(s.module, "fill", {8, 8, 4});
  Request request = s.request();
  request.function = reinterpret_cast<CUfunction>(&fill);
  gpu().calls.clear();
  s.engine.launch(request, direct);
  EXPECT_EQ(gpu().calls["cuFuncLoad"], 0U);
}

// --- Runs that gain nothing ----------------------------------------------------------------------

TEST(MergeShort, RunsThatNoEntryDoesAreLookedAtSeldom) {
  for (const unsigned k : {2U, 3U}) {
    Stencil s;
    s.engine.flush();
    const Passed passed;
    EXPECT_LT(looked_at(s, passed, k, 1000), k * 1000 / 10);
    EXPECT_THAT(Stencil::made(), Not(HasSubstr("s3")));
    s.expect_as_launched_singly();
  }
}

// Nothing is tried yet, so there is nothing to be found out.
TEST(MergeShort, ShortRunsOfAYoungProgramAreLookedAtSeldom) {
  Settings young = read_settings(settings);
  young.tries_behind = 60'000'000;
  Stencil s(young);
  s.engine.flush();
  const Passed passed;
  EXPECT_LE(looked_at(s, passed, 7, 12), 48U);
  EXPECT_LT(looked_at(s, passed, 7, 300), 7 * 300 / 10);
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s3")));
  s.expect_as_launched_singly();
}

// Launches of two microseconds: what the device would wait for the host is more than all of them.
TEST(MergeShort, RunsThatCannotPayAreNotTried) {
  if (ptxasw::test::sanitized) GTEST_SKIP() << "the host takes longer";
  const auto made = [](unsigned k, double milliseconds) {
    Stencil s;
    s.kernel.milliseconds = s.three.milliseconds = s.five.milliseconds = milliseconds;
    s.engine.flush();
    const Passed passed;
    launched();
    const unsigned looked = looked_at(s, passed, k, 300);
    s.expect_as_launched_singly();
    const std::string all = Stencil::made();
    EXPECT_EQ(all.find("s3") == std::string::npos && all.find("s5") == std::string::npos,
              looked < k * 300 / 4);
    return all;
  };
  for (const unsigned k : {4U, 5U, 7U})
    EXPECT_THAT(made(k, 0.002), Not(testing::AnyOf(HasSubstr("s3"), HasSubstr("s5")))) << k;
  for (const unsigned k : {4U, 5U, 7U, 9U})
    EXPECT_THAT(made(k, 0.1), testing::AnyOf(HasSubstr("s3"), HasSubstr("s5"))) << k;
}

// A shorter run at the end of each loop, as where the steps are no multiple.
TEST(MergeShort, WhatWasFoundOutIsKeptWhenOtherRunsComeBetween) {
  Stencil s;
  s.five.milliseconds = s.three.milliseconds = 8;
  s.engine.flush();
  const auto loop = [&] {
    unsigned merged = 0;
    for (const unsigned k : {5U, 5U, 5U, 5U, 5U, 5U, 5U, 5U, 5U, 5U, 5U, 5U, 2U}) {
      launched();
      s.steps(k);
      s.engine.flush();
      if (Stencil::made().find("s3") != std::string::npos) ++merged;
    }
    return merged;
  };
  EXPECT_GT(loop(), 0U) << "some are tried";
  for (unsigned n = 0; n < 5; ++n)
    EXPECT_EQ(loop(), 0U) << n;
  s.expect_as_launched_singly();
}

// One that was merged and timed is enough.
TEST(MergeShort, WhatIsSlowerIsTriedOnce) {
  Stencil s;
  s.five.milliseconds = s.three.milliseconds = 8;
  s.engine.flush();
  unsigned merged = 0;
  for (unsigned n = 0; n < 100; ++n) {
    launched();
    s.steps(7);
    s.engine.flush();
    if (Stencil::made() == "s5 s s") ++merged;
  }
  EXPECT_GE(merged, 1U);
  EXPECT_LE(merged, 2U);
}

// Within the run in which it turns out, and for good.
TEST(MergeShort, EntriesThatAreSlowerAreLeftWithinARun) {
  Stencil s;
  s.five.milliseconds = 5.2;
  s.three.milliseconds = 3.1;
  s.steps(200);
  s.engine.flush();
  s.expect_as_launched_singly();
  launched();
  const Passed passed;
  EXPECT_LE(looked_at(s, passed, 100, 5), 1U);
  EXPECT_THAT(Stencil::made(), Not(testing::AnyOf(HasSubstr("s3"), HasSubstr("s5"))));
  s.expect_as_launched_singly();
}

// Launches of their own are timed behind groups, too: the device may be slower at first.
TEST(MergeShort, SinglesAreTimedInTurn) {
  Stencil s(settings, false, true);
  s.kernel.milliseconds = 2; // the first
  s.five.milliseconds = 6;
  s.three.milliseconds = 3.6;
  s.steps(20);
  s.settle();
  launched();
  s.steps(20);
  EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
  s.kernel.milliseconds = 1;
  s.steps(200);
  s.engine.flush();
  launched();
  s.steps(60);
  s.engine.flush();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
  s.expect_as_launched_singly();
}

// A loop of another length, and one without an end, are merged again.
TEST(MergeShort, WhatComesBehindRunsThatAreLeftAlone) {
  Stencil s;
  s.engine.flush();
  const Passed passed;
  looked_at(s, passed, 3, 300);
  launched();
  looked_at(s, passed, 1000, 1);
  EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
  looked_at(s, passed, 3, 300);
  launched();
  looked_at(s, passed, 40, 40);
  EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
  s.expect_as_launched_singly();
}

// All that was put off is made, in order, whatever goes through.
TEST(MergeShort, OrderHoldsWhereSomeGoThrough) {
  for (const unsigned k : {1U, 2U, 3U, 4U, 5U, 7U, 11U, 12U, 25U}) {
    Stencil s;
    s.engine.flush();
    const Passed passed;
    for (const unsigned other : {k, 3U, k, 17U, k}) {
      looked_at(s, passed, other, 90);
      s.engine.flush();
      s.expect_as_launched_singly();
    }
  }
}

// --- From one run of the program to the next -----------------------------------------------------

class MergeShortKept : public testing::Test {
protected:
  MergeShortKept() {
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~MergeShortKept() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ptxasw-short-" + std::to_string(::getpid()));
  static constexpr const char* measure = "no-images,policy=measure,steps=60000000";
};

TEST_F(MergeShortKept, RunsThatGainNothing) {
  const auto merged = [] {
    Stencil s(measure);
    s.five.milliseconds = s.three.milliseconds = 8;
    s.engine.flush();
    unsigned found = 0;
    for (unsigned n = 0; n < 40; ++n) {
      launched();
      s.steps(7);
      s.engine.flush();
      if (Stencil::made().find("s5") != std::string::npos) ++found;
    }
    s.expect_as_launched_singly();
    s.engine.write_report();
    return found;
  };
  EXPECT_GE(merged(), 1U);
  EXPECT_EQ(merged(), 0U);
}

TEST_F(MergeShortKept, ThatNoEntryIsFaster) {
  const auto looked = [] {
    Stencil s(measure);
    s.five.milliseconds = 5.2;
    s.three.milliseconds = 3.1;
    const Passed passed;
    const unsigned found = looked_at(s, passed, 200, 1);
    s.expect_as_launched_singly();
    s.engine.write_report();
    return found;
  };
  EXPECT_GT(looked(), 20U);
  EXPECT_LE(looked(), 1U);
}

// Then the second loop is merged; without, the third one is.
TEST_F(MergeShortKept, TheLengthThatIsExpected) {
  const auto made = [] {
    Stencil s(measure, false, true);
    std::string all;
    for (unsigned n = 0; n < 4; ++n) {
      launched();
      s.steps(12);
      s.settle();
      s.engine.flush();
      all += Stencil::made().find("s5") == std::string::npos ? "-" : "s";
    }
    s.expect_as_launched_singly();
    s.engine.write_report();
    return all;
  };
  EXPECT_EQ(made(), "---s") << "entries are loaded behind the third one's first launch";
  EXPECT_EQ(made(), "--ss");
}

TEST(MergeShort, WhatWasKeptIsReadBack) {
  Period period;
  EXPECT_EQ(period.findings(), "");
  period.recall("5-,7+,=12");
  EXPECT_EQ(period.expected(), 12U);
  EXPECT_TRUE(period.merges());
  EXPECT_EQ(period.findings(), "5-,7+,=12");
  period.recall("=5");
  EXPECT_TRUE(period.is_left_alone());
  EXPECT_EQ(period.findings(), "5-,7+");
  Period other;
  other.recall("x,=,-,5,=7+,=0,99999999999-,33-,6--,=1x");
  EXPECT_EQ(other.findings(), "");
}

} // namespace
} // namespace ptxasw::launch
