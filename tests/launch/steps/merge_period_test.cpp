// Programs that do something else every k steps: what is put off for that, and what the first loops
// cost.
#include "stencil.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::Stencil;
using testing::HasSubstr;

// Runs of k steps, each behind another call. How many launches waited for that call, and were made
// one by one: put off in vain.
unsigned wasted(Stencil& s, unsigned k, unsigned periods) {
  unsigned found = 0;
  for (unsigned n = 0; n < periods; ++n) {
    s.steps(k);
    const std::size_t made = gpu().launches.size();
    s.engine.flush();
    for (std::size_t late = made; late < gpu().launches.size(); ++late)
      found += gpu().launches[late].entry == "s" ? 1 : 0;
  }
  return found;
}

TEST(MergePeriod, NothingIsPutOffInVainOnceItIsKnown) {
  for (unsigned k = 1; k <= 40; ++k) {
    Stencil s;
    s.engine.flush();
    wasted(s, k, 3);
    launched();
    EXPECT_EQ(wasted(s, k, 20), 0U) << k;
    const auto all = launched();
    if (k < 4)
      EXPECT_EQ(all.size(), 20 * k) << "no entry does so few";
    else
      EXPECT_LT(all.size(), 20 * k) << k;
    s.expect_as_launched_singly();
  }
}

// Groups are made as soon as they can be: the device is not kept waiting for the last launch.
TEST(MergePeriod, GroupsOfAKnownRunAreMadeAtOnce) {
  Stencil s;
  s.engine.flush();
  for (unsigned n = 0; n < 4; ++n) {
    s.steps(12);
    s.engine.flush();
  }
  std::string made;
  launched();
  for (unsigned k = 0; k < 12; ++k) {
    s.steps(1);
    made += Stencil::made() + ",";
  }
  EXPECT_EQ(made, ",,,,,s5,,,,,s5 s,s,");
  s.expect_as_launched_singly();
}

// Ten steps and more are merged, fewer where the clock says so: some of both are tried first.
TEST(MergePeriod, ShortRunsAreTriedBothWays) {
  Stencil s;
  s.engine.flush();
  unsigned merged = 0, singly = 0;
  for (unsigned n = 0; n < 14; ++n) {
    launched();
    s.steps(5);
    s.engine.flush();
    if (n >= 3) ++(Stencil::made() == "s3 s s" ? merged : singly);
  }
  EXPECT_GE(merged, 3U);
  EXPECT_GE(singly, 3U);
  s.expect_as_launched_singly();
}

// What trying costs is not much of what the program takes.
TEST(MergePeriod, ShortRunsOfAYoungProgramGoAsTheyCome) {
  Settings settings = read_settings("no-images,steps=60000000");
  settings.tries_behind = 60'000'000;
  Stencil s(settings);
  s.engine.flush();
  gpu().calls.clear();
  for (unsigned n = 0; n < 14; ++n) {
    launched();
    s.steps(5);
    s.engine.flush();
    EXPECT_EQ(Stencil::made(), "s s s s s");
  }
  EXPECT_FALSE(gpu().calls.contains("cuEventCreate")) << "nothing is timed";
  s.expect_as_launched_singly();
}

TEST(MergePeriod, AProgramIsYoungForSoLong) {
  Period period;
  Period::Clock::time_point now;
  const std::chrono::microseconds young(2000);
  const auto run = [&](std::chrono::microseconds takes) {
    period.begin([&] { return now; }, [] { return RunTimes{}; }, young);
    const bool merges = period.merges();
    period.end(5, merges, false);
    now += takes;
    return merges;
  };
  for (unsigned n = 0; n < 20; ++n)
    EXPECT_FALSE(run(std::chrono::microseconds(50))) << n;
  EXPECT_TRUE(period.is_young());
  unsigned merged = 0;
  for (unsigned n = 0; n < 40; ++n)
    merged += run(std::chrono::microseconds(50)) ? 1 : 0;
  EXPECT_FALSE(period.is_young());
  EXPECT_GE(merged, 3U);
}

TEST(MergePeriod, ARunThatEndsEarlyOrGoesOn) {
  for (const unsigned other : {1U, 2U, 4U, 6U, 11U, 13U, 30U, 70U}) {
    Stencil s;
    s.engine.flush();
    for (const unsigned k : {12U, 12U, 12U, other, 12U, 12U, other, other, other}) {
      s.steps(k);
      s.engine.flush();
      s.expect_as_launched_singly();
    }
  }
}

// Where no entry does them singly is the end of it, and they are put off less and less.
TEST(MergePeriod, RunsThatCannotBeMergedAreLeftAlone) {
  Stencil s;
  s.engine.flush();
  s.n = 2; // which no entry takes
  const unsigned late = wasted(s, 12, 40);
  EXPECT_LE(late, 12U);
  s.n = test::points;
}

TEST(MergePeriod, TheFirstLoopsOfAShapeAreMadeAsTheyCome) {
  Stencil s;
  s.engine.flush();
  Request request = s.request();
  request.grid[0] = 6; // another shape
  unsigned put_off = 0;
  for (const unsigned k : {7U, 10U, first_needed}) {
    put_off += s.put_off(k, [&](unsigned) {
      EXPECT_EQ(s.engine.launch(request, direct), CUDA_SUCCESS);
      s.moved();
    });
    s.engine.flush();
  }
  EXPECT_EQ(put_off, 0U);
  s.expect_as_launched_singly();
}

// Entries are asked for on another thread, and launches go on as they come as long as that takes.
TEST(MergePeriod, LoadingEntriesKeepsNobodyWaiting) {
  Stencil s;
  std::atomic<bool> may_end{false}, has_begun{false};
  const auto own = std::this_thread::get_id();
  gpu().tool = [&](const char* name) {
    if (std::string_view(name) != "cuFuncLoad") return;
    EXPECT_NE(std::this_thread::get_id(), own);
    has_begun = true;
    while (!may_end)
      std::this_thread::yield();
  };
  s.engine.forget_handles(); // they have to be loaded again
  s.steps(100);
  EXPECT_EQ(launched().size(), 100U);
  while (!has_begun)
    std::this_thread::yield();
  s.steps(10);
  EXPECT_EQ(launched().size(), 10U);
  may_end = true;
  s.settle();
  s.steps(20);
  EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
  s.engine.flush();
  s.expect_as_launched_singly();
  gpu().tool = nullptr;
}

// A module goes: what is being loaded from it is waited for.
TEST(MergePeriod, AModuleGoesWhileItsEntriesAreLoaded) {
  Stencil s;
  std::atomic<bool> is_loading{false};
  gpu().tool = [&](const char* name) {
    if (std::string_view(name) != "cuFuncLoad") return;
    is_loading = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_loading = false;
  };
  s.engine.forget_handles();
  s.steps(numbers::launch::load_behind + 1);
  while (!is_loading)
    std::this_thread::yield();
  s.engine.forget_handles();
  EXPECT_FALSE(is_loading);
  s.steps(40);
  s.settle();
  s.steps(40);
  s.engine.flush();
  s.expect_as_launched_singly();
  gpu().tool = nullptr;
}

// What takes longer than the launches in whose place it stands is used no more.
TEST(MergePeriod, AnEntryThatIsSlowerIsLeft) {
  const auto made = [](double of_three, double of_five) {
    Stencil s;
    s.three.milliseconds = of_three;
    s.five.milliseconds = of_five;
    s.engine.flush();
    for (unsigned n = 0; n < 6; ++n) {
      s.steps(40);
      s.engine.flush();
    }
    s.expect_as_launched_singly();
    launched();
    s.steps(24);
    s.engine.flush();
    s.expect_as_launched_singly();
    return Stencil::made();
  };
  EXPECT_THAT(made(1, 1), HasSubstr("s5"));
  const std::string few = made(2, 5.2);
  EXPECT_THAT(few, HasSubstr("s3"));
  EXPECT_THAT(few, testing::Not(HasSubstr("s5")));
  EXPECT_THAT(made(3, 5), testing::Not(testing::AnyOf(HasSubstr("s3"), HasSubstr("s5"))));
}

} // namespace
} // namespace ptxasw::launch
