// The policy that measures: what it keeps, and what it takes for noise.
#include "fixture.hpp"

#include "launch/choose/sampler.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <thread>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_trial;
using test::direct;
using test::EngineTest;
using test::gpu;
using test::InOtherBlocks;
using test::launched;
using test::Program;
using testing::ElementsAre;

class MeasureTest : public EngineTest {
protected:
  void SetUp() override {
    folder =
        std::filesystem::temp_directory_path() / ("ptxasw-launch-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    EngineTest::TearDown();
  }
  static void launch_often(Engine& engine, const Request& request, unsigned times) {
    for (unsigned n = 0; n < times; ++n)
      engine.launch(request, direct);
  }
  std::filesystem::path folder;
};

TEST_F(MeasureTest, KeepsTheFastest) {
  Program p;
  const unsigned before = gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"];
  p.kernel.milliseconds = 3;
  p.two.milliseconds = 1;
  p.four.milliseconds = 2;
  {
    Engine engine(read_settings("policy=measure"));
    launch_often(engine, p.request(), 3000);
    const auto all = launched();
    for (unsigned n = 0; n < first_trial; ++n)
      EXPECT_EQ(all[n].entry, "k__ptxasw_x4") << n << ": the model's choice";
    EXPECT_EQ(all[first_trial].entry, "k");
    const auto young = std::span(all).subspan(first_trial, 100 - first_trial);
    EXPECT_EQ(std::ranges::count(young, "k__ptxasw_x2", &fake::Launched::entry), 0)
        << "no time for it yet";
    EXPECT_LE(std::ranges::count(young, "k", &fake::Launched::entry), 3);
    for (unsigned n = 2000; n < 3000; ++n)
      EXPECT_EQ(all[n].entry, "k__ptxasw_x2") << n;
  }
  Engine next(read_settings("policy=measure"));
  next.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
  launched();
  launch_often(next, p.request(49), first_trial + 1); // another shape
  EXPECT_EQ(launched().back().entry, "k");
  EXPECT_EQ(gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"] - before, 2U);
}

TEST_F(MeasureTest, AGainThatIsNoiseIsNone) {
  Program p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 0.99;
  p.four.milliseconds = 1.1;
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 200);
  EXPECT_EQ(launched().back().entry, "k");
}

// What the model prefers is as good a guess where nothing was found to be better.
TEST_F(MeasureTest, WithinNoiseTheModelDecides) {
  Program p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 0.98;
  p.four.milliseconds = 0.99; // the model's choice for this launch
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 30);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4");
}

// Events tell times to a fraction of a microsecond.
TEST_F(MeasureTest, ShortLaunchesAreTriedOften) {
  Program p;
  p.kernel.milliseconds = 0.003;
  p.two.milliseconds = 0.0028;
  p.four.milliseconds = 0.0031;
  Engine engine(read_settings("policy=measure"));
  unsigned timed = gpu().calls["cuEventCreate"];
  launch_often(engine, p.request(), 40000);
  timed = (gpu().calls["cuEventCreate"] - timed) / 2;
  EXPECT_EQ(timed, 3 * 16U) << "nothing is clearly faster";
  EXPECT_EQ(launched().back().entry, "k");
}

// Of short launches an event may tell anything: the variant had luck a few times.
TEST_F(MeasureTest, LuckIsNoGain) {
  Program p;
  unsigned tries = 0;
  p.kernel.milliseconds = 0.0068;
  p.four.milliseconds = 0.009;
  p.two.run = [&](const fake::Launched& l) {
    test::add_one(l, 2);
    p.two.milliseconds = (++tries * 2654435761U >> 16) % 8 == 0 ? 0.006 : 0.0082;
  };
  Engine engine(read_settings("policy=measure"));
  for (const unsigned blocks : {14, 18}) { // the model prefers x:2 of the larger one
    launch_often(engine, p.request(blocks), 40000);
    EXPECT_EQ(launched().back().entry, "k") << blocks;
  }
}

// What is to replace the original in short launches has to be faster once more, in turn with it.
TEST_F(MeasureTest, ShortLaunchesAreTimedInPairs) {
  Program p;
  p.kernel.milliseconds = 0.0068;
  p.two.milliseconds = 0.0055;
  p.four.milliseconds = 0.007;
  Engine engine(read_settings("policy=measure"));
  unsigned timed = gpu().calls["cuEventCreate"];
  launch_often(engine, p.request(14), 40000);
  timed = (gpu().calls["cuEventCreate"] - timed) / 2;
  EXPECT_EQ(timed, 16 + 16 + 3 + 2 * 24U) << "x:4 is hopeless";
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x2");
}

// A graph keeps what was captured for as long as it is launched.
TEST_F(MeasureTest, NothingIsTriedInACapture) {
  Program p;
  p.kernel.milliseconds = 3;
  p.two.milliseconds = 1;
  p.four.milliseconds = 2;
  Engine engine(read_settings("policy=measure"));
  gpu().capturing = true;
  launch_often(engine, p.request(), 24);
  EXPECT_EQ(std::ranges::count(launched(), "k", &fake::Launched::entry), 24);
  gpu().capturing = false;
  launch_often(engine, p.request(), 2000);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x2");
}

// The model's choice may be a mistake, where blocks have different work: left at once.
TEST_F(MeasureTest, TrialsCostOnePerCent) {
  InOtherBlocks p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 1.4;
  p.four.milliseconds = 2; // the model's choice
  p.reshaped.milliseconds = 5;
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 60);
  const unsigned timed = first_trial + 2; // the original, and the choice
  for (const auto& all = gpu().launches; const fake::Launched& l : std::span(all).subspan(timed))
    EXPECT_EQ(l.entry, "k");
  const double first = gpu().clock;
  launched();
  for (unsigned n = 1; n <= 40; ++n) {
    launch_often(engine, p.request(), 500);
    // The one that takes five times as long was taken to take twice as long.
    EXPECT_LE(gpu().clock - first, 500 * n * 1.01 + 3) << n;
  }
  EXPECT_GT(std::ranges::count(launched(), "k__ptxasw_x2", &fake::Launched::entry), 0);
}

// One that is timed would stand between launches that go out together.
TEST_F(MeasureTest, WhatMayBePutOffIsNotTried) {
  for (const char* settings : {"policy=measure,no-images", "policy=measure,no-images,batch"}) {
    Program p;
    Engine engine(read_settings(settings));
    launch_often(engine, p.request(), 100);
    const auto all = launched();
    EXPECT_EQ(std::ranges::count(all, "k", &fake::Launched::entry) == 0,
              std::string_view(settings).ends_with("batch"))
        << settings;
  }
}

TEST_F(MeasureTest, AVariantThatDoesNotLaunchIsTriedOnce) {
  Program p;
  p.kernel.milliseconds = 3;
  p.two.milliseconds = 2;
  p.four.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 2000);
  EXPECT_EQ(launched().size(), 2000U);
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x2");
}

// What runs far behind the others is not tried to the end.
TEST_F(MeasureTest, HopelessVariantsAreTriedSeldom) {
  InOtherBlocks p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 3;
  p.four.milliseconds = 1.1;
  p.reshaped.milliseconds = 0.5;
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 9000);
  const auto all = launched();
  EXPECT_LE(std::ranges::count(all, "k__ptxasw_x2", &fake::Launched::entry), 4);
  EXPECT_EQ(all.back().entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all.back().block, ElementsAre(256, 1, 1));
}

TEST_F(MeasureTest, NeverWaits) {
  Program p;
  gpu().events_done = false;
  const unsigned before = gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"];
  Engine engine(read_settings("policy=measure"));
  launch_often(engine, p.request(), 100);
  EXPECT_EQ(launched().size(), 100U);
  EXPECT_LE(gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"] - before, 32U);
}

// A tool may be called by the driver whenever we call that, and launch the same kernel.
TEST_F(MeasureTest, NoCallOfTheDriverUnderALock) {
  Program p;
  Engine engine(read_settings("policy=measure,report=/dev/null"));
  std::set<std::string> called;
  gpu().tool = [&, depth = 0](const char* name) mutable {
    if (depth++ == 0) {
      called.insert(name);
      std::thread([&] { engine.launch(p.request(), direct); }).join();
    }
    --depth;
  };
  const auto set = [&](unsigned shared) {
    Request request = p.request();
    request.shared = shared;
    for (unsigned n = 0; n < 30; ++n)
      engine.launch(request, direct);
  };
  set(0);
  set(64 << 10); // which has to be allowed
  gpu().tool = nullptr;
  EXPECT_THAT(called, testing::IsSupersetOf({"cuFuncGetAttribute", "cuFuncSetAttribute",
                                             "cuEventCreate", "cuEventQuery"}));
}

TEST_F(MeasureTest, ADamagedFileIsNoMistake) {
  Program p;
  std::filesystem::create_directories(folder / "ptxasw");
  std::FILE* file = std::fopen((folder / "ptxasw/launches").c_str(), "w");
  std::fputs(R"({"code":"0000000000000011","chip":"Fake GPU","grid":"50x1x1","block":"100x1x1",)"
             R"("shared":0,"variant":"x:9"})"
             "\n[]\n{\"variant\":1}\n\x01\n{\"code\":",
             file);
  std::fclose(file);
  Engine engine(read_settings("policy=measure"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
}

} // namespace
} // namespace ptxasw::launch
