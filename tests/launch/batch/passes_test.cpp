// Passes through a sequence of several kernels that are merged: what reaches the driver, that
// memory is as launches leave it, and who ends them.
#include "passes_case.hpp"

#include "launch/report/report.hpp"
#include "launch/waiting/trampolines.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptxasw::launch {
namespace {

using contract::ArrayPlace;
using test::direct;
using test::gpu;
using test::launched;
using test::PassesTest;
using test::points;
using test::value_of;
using testing::ElementsAre;
using testing::HasSubstr;

// --- what is merged ------------------------------------------------------------------------------

TEST_F(PassesTest, AreMergedInPairs) {
  begin();
  EXPECT_EQ(learnt_pass("sh", 15), "4443");
  EXPECT_EQ(pass("sh", 15), "4443");
  EXPECT_EQ(learnt_pass("sh", 2), "11");
  EXPECT_EQ(learnt_pass("sh", 9), "3222");
}

// To try takes longer than a few short loops last.
TEST_F(PassesTest, ShortOnesAreNotTriedAtFirst) {
  begin("no-images,steps=60000000", 60'000'000);
  EXPECT_EQ(learnt_pass("sh", 4), "shshshsh");
  EXPECT_EQ(learnt_pass("sh", 16), "4444");
}

TEST_F(PassesTest, OfTheirOwnMemoryAndBack) {
  begin();
  learn("sh", 8);
  launch_all("sh", 8);
  other_call();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  const auto places = [&](unsigned launch, unsigned array) {
    return value_of<ArrayPlace>(all[launch].parameters[7], array);
  };
  for (const unsigned array : {0U, 1U}) {
    const CUdeviceptr program = array == 0 ? v : u;
    EXPECT_EQ(places(0, array).read, program);
    EXPECT_EQ(places(1, array).write, program);
    EXPECT_EQ(places(0, array).write, places(1, array).read);
    EXPECT_NE(places(0, array).write, program);
  }
  const auto [low, high] = std::minmax({places(0, 0).write, places(0, 1).write});
  EXPECT_GE(high - low, 4 * points) << "apart";
  EXPECT_EQ(all[0].grid, (std::vector<unsigned>{8, 1, 1}));
  EXPECT_EQ(all[0].block, (std::vector<unsigned>{32, 1, 1}));
  EXPECT_EQ(all[0].stream, stream);
  EXPECT_EQ(value_of<CUdeviceptr>(all[0].parameters[4]), u) << "of the second stage";
  EXPECT_EQ(value_of<unsigned>(all[0].parameters[6], 3), 128U) << "threads of the second stage";
}

TEST_F(PassesTest, WhatIsNoPassIsMadeAsItCame) {
  begin();
  EXPECT_EQ(learnt_pass("hs", 5), "h22s");
  EXPECT_EQ(learnt_pass("shshsdshsh", 2), "11sd22sd11");
  EXPECT_EQ(learnt_pass("shdshdshd", 1), "21") << "the longer sequence";
}

TEST_F(PassesTest, AnOddPassIsLeftOver) {
  contract.sequences = {sequence_of("sh", 1)};
  keep_contract();
  begin();
  EXPECT_EQ(learnt_pass("sh", 5), "1111sh");
}

// In pieces of whole passes.
TEST_F(PassesTest, OfALongRun) {
  begin();
  launch_all("shd", 500);
  other_call();
  engine->merger()->settle();
  gpu().launches.clear();
  launch_all("shd", 21 * 20);
  std::string all;
  for (unsigned n = 0; n < 20; ++n)
    all += "444333";
  EXPECT_THAT(how(), testing::EndsWith(all.substr(6 * 8)));
  launch_all("shd", 10);
  other_call();
  EXPECT_EQ(how(), "3322") << "a piece that ends early is merged, too";
}

TEST_F(PassesTest, EntriesThatWaitBeginEarly) {
  contract.sequences[0].waits = true;
  keep_contract();
  begin();
  learn("sh", 16);
  launch_all("sh", 16);
  other_call();
  std::vector<bool> early;
  for (const auto& one : launched())
    early.push_back(one.ahead);
  EXPECT_THAT(early, ElementsAre(false, true, true, true));
}

// The stage is launched as its best variant. An entry knows it as the program does.
TEST_F(PassesTest, OfVariantsOfAKernel) {
  contract.variants.push_back({.entry = "s2",
                               .name = "x:2",
                               .kind = contract::Kind::coarsened,
                               .divide = {2, 1, 1},
                               .rest = contract::Rest::hangs_over});
  keep_contract();
  gpu().add(module, "s2", {8, 8, 4, 12}).run = module.functions["s"]->run;
  begin("no-images,steps=60000000,policy=x:2");
  launch_all("sh");
  EXPECT_EQ(launched()[0].entry, "s2");
  other_call();
  learn("sh", 6);
  launch_all("sh", 6);
  other_call();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(told(all[0]), 3U);
  EXPECT_EQ(value_of<unsigned>(all[0].parameters[6], 0), 128U);
}

// --- from one run of the program to the next -----------------------------------------------------

class PassesKept : public PassesTest {
protected:
  PassesKept() {
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~PassesKept() override { std::filesystem::remove_all(folder); }
  // How often passes were merged, in another run of the program.
  unsigned merged_in(unsigned loops, unsigned tries_behind = 0) {
    begin("no-images,policy=measure,steps=60000000", tries_behind);
    events = gpu().calls["cuEventCreate"];
    unsigned merged = 0;
    for (unsigned n = 0; n < loops; ++n) {
      launch_all("sh", 8);
      other_call();
      engine->merger()->settle();
      merged += how() == "44" ? 1 : 0;
    }
    events = gpu().calls["cuEventCreate"] - events;
    return merged;
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ptxasw-passes-" + std::to_string(::getpid()));
  unsigned events = 0;
};

TEST_F(PassesKept, ThatGainAreTimedOnce) {
  module.functions["s"]->milliseconds = module.functions["h"]->milliseconds = 1;
  module.functions["sh_passes"]->milliseconds = 3;
  const unsigned first = merged_in(20), first_events = events;
  EXPECT_GT(merged_in(20), first);
  EXPECT_LT(events, first_events / 2);
  EXPECT_GT(merged_in(20, 60'000'000), 15U) << "no loop is too young";
  EXPECT_LT(events, first_events / 2);
  // As before where it does not hold any more.
  module.functions["sh_passes"]->milliseconds = 100;
  const unsigned seldom = merged_in(20);
  EXPECT_LT(seldom, 8U);
  EXPECT_GT(seldom, 2U);
  EXPECT_EQ(merged_in(20), 0U);
}

TEST_F(PassesKept, OfOtherKernelsNothingIsKnown) {
  module.functions["s"]->milliseconds = module.functions["h"]->milliseconds = 1;
  module.functions["sh_passes"]->milliseconds = 3;
  merged_in(20);
  const unsigned before = events;
  contract.code = 12;
  keep_contract();
  merged_in(20);
  EXPECT_EQ(events, before);
}

TEST_F(PassesKept, WhatIsNotClearIsNot) {
  module.functions["s"]->milliseconds = module.functions["h"]->milliseconds = 1;
  module.functions["sh_passes"]->milliseconds = 7.3; // of 16
  const unsigned first = merged_in(20), before = events;
  EXPECT_GT(first, 10U);
  EXPECT_EQ(merged_in(20), first);
  EXPECT_EQ(events, before);
}

TEST_F(PassesKept, ThatGainNothingAreNotTriedAgain) {
  module.functions["sh_passes"]->milliseconds = 1000;
  EXPECT_GT(merged_in(20), 0U);
  EXPECT_EQ(merged_in(20), 0U);
  EXPECT_EQ(events, 0U);
}

// --- who ends them -------------------------------------------------------------------------------

TEST_F(PassesTest, AnotherCallEndsThem) {
  begin();
  learn("sh", 15);
  launch_all("shs");
  EXPECT_EQ(how(), "") << "they wait";
  EXPECT_TRUE(is_waiting());
  other_call();
  EXPECT_EQ(how(), "shs");
  launch_all("shshs");
  other_call();
  EXPECT_EQ(how(), "11s");
}

TEST_F(PassesTest, AnotherLaunchEndsThem) {
  begin();
  learn("sh", 15);
  launch_all("sho");
  EXPECT_EQ(how(), "sho") << "of a kernel that is no stage";
  other_call();
  launch_all("shd");
  EXPECT_EQ(how(), "shd") << "of one that does not follow";
  other_call();
  launch_all("sh");
  std::thread([&] { launch('s'); }).join();
  EXPECT_EQ(how(), "sh") << "of another thread, which may begin one";
  other_call();
}

TEST_F(PassesTest, WhoWaitsSeesProgress) {
  begin("no-images,steps");
  repeat("sh", 15);
  how();
  launch_all("shs");
  for (unsigned t = 0; t < 1000; ++t) {
    if (const std::lock_guard lock(gpu().mutex); gpu().launches.size() == 3) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  other_call();
  EXPECT_EQ(how(), "shs");
}

TEST_F(PassesTest, AForkedChildMakesNothing) {
  begin();
  learn("sh", 15);
  launch_all("shs");
  engine->before_fork();
  EXPECT_EQ(how(), "shs");
  engine->behind_fork(true);
  EXPECT_EQ(pass("hsh", 1), "hsh");
}

TEST_F(PassesTest, HandlesThatAreForgotten) {
  begin();
  learn("sh", 6);
  launch_all("sh", 3);
  engine->forget_handles();
  EXPECT_EQ(how(), "21");
  EXPECT_EQ(pass("sh", 6), "shshshshshsh") << "they may be other kernels now";
}

// --- other launches ------------------------------------------------------------------------------

// What threads remember of stages that they launched before the sequence was known is forgotten.
class LaunchThatCounts final : public Launch {
public:
  explicit LaunchThatCounts(std::vector<std::uint64_t>& epochs) : epochs_(epochs) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<LaunchThatCounts>(epochs_);
  }
  CUresult operator()(const Request& request) const override { return direct(request); }
  void pass_from_now_on(const Request&, std::uint64_t epoch, std::uint64_t) const override {
    epochs_.push_back(epoch);
  }

private:
  std::vector<std::uint64_t>& epochs_;
};

TEST_F(PassesTest, StagesAreLookedAt) {
  engine = std::make_unique<Engine>(read_settings("no-images,steps"));
  std::vector<std::uint64_t> epochs;
  const LaunchThatCounts passing(epochs);
  const auto launch_one = [&](char name) {
    launch_by(passing, name);
    return std::exchange(epochs, {});
  };
  const std::size_t remembered = launch_one('h').size();
  launch_one('s');
  EXPECT_TRUE(launch_one('h').empty());
  EXPECT_TRUE(launch_one('s').empty());
  EXPECT_EQ(launch_one('o').size(), 1U) << "no stage";
  EXPECT_EQ(remembered, 0U) << "its module was looked through";
}

TEST_F(PassesTest, BesideGraphs) {
  begin("no-images,steps=60000000,batch");
  EXPECT_EQ(learnt_pass("sh", 6), "33");
  EXPECT_EQ(learnt_pass("o", 6), "oooooo");
}

TEST_F(PassesTest, TheReportSaysSo) {
  begin();
  learn("sh", 6);
  EXPECT_THAT(report({}, {.passes = 8, .entries = 2}, {}),
              HasSubstr("passes through several kernels, by 2 launches"));
  EXPECT_THAT(report({}, {.passes = 8, .entries = 2}, {.report_file = "a.json"}),
              HasSubstr("passes through several kernels, by 2 launches"));
}

} // namespace
} // namespace ptxasw::launch
