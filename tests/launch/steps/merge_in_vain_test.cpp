// Launches that no steps could be merged with, put off in vain: how seldom that happens.
#include "stencil.hpp"

#include <gmock/gmock.h>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::Stencil;
using test::step;

TEST(Merge, TheSameArgumentsAreNotPutOff) {
  Stencil s;
  std::swap(s.in, s.out); // as before
  const unsigned before = gpu().calls["cuPointerGetAttribute"];
  EXPECT_EQ(s.put_off(100, [&](unsigned) { s.launch_again(); }), 0U);
  EXPECT_EQ(gpu().calls["cuPointerGetAttribute"], before);
}

TEST(Merge, ARunThatWasMergedBringsOneInVainAtMost) {
  Stencil s;
  for (unsigned n = 0; n < 5; ++n) {
    s.merge_once();
    EXPECT_EQ(s.put_off(5, [&](unsigned) { s.launch_again(); }), 1U);
    s.moved();
  }
  s.expect_as_launched_singly();
}

TEST(Merge, BehindARunThatWasMergedTheFirstIsPutOff) {
  Stencil s;
  s.merge_once();
  for (unsigned n = 0; n < 20; ++n) {
    s.steps(10);
    s.engine.flush(); // the next one does not follow what was seen
    EXPECT_EQ(Stencil::made(), "s5 s3 s s");
  }
}

TEST(Merge, TwoStepKernelsInTurnAreNotPutOff) {
  Stencil s;
  fake::Function& other = gpu().add(s.module, "t", {8, 8, 4});
  auto contract = contract::decode(s.module.globals[contract::symbol_of("s")]).value();
  contract.kernel = contract.variants[0].entry = "t";
  s.module.globals[contract::symbol_of("t")] = contract::encode(contract);
  other.run = [](const auto& launch) { step(launch, 1); };
  const auto in_turn = [&](unsigned k) {
    Request request = s.request();
    if (k % 2 == 0) request.function = reinterpret_cast<CUfunction>(&other);
    EXPECT_EQ(s.engine.launch(request, direct), CUDA_SUCCESS);
    s.moved();
  };
  EXPECT_EQ(s.put_off(100, in_turn), 0U);
  s.expect_as_launched_singly();
}

TEST(Merge, StepsWithAnotherKernelInBetweenAreNotPutOff) {
  Stencil s;
  fake::Function& other = gpu().add(s.module, "other", {8, 8, 4});
  const auto in_turn = [&](unsigned) {
    Request request = s.request();
    request.function = reinterpret_cast<CUfunction>(&other);
    s.engine.launch(request, direct);
    gpu().launches.clear();
    s.launch_once();
  };
  EXPECT_EQ(s.put_off(100, in_turn), 0U);
  s.expect_as_launched_singly();
}

TEST(Merge, EverySecondLaunchMovesTheArrays) {
  Stencil s;
  const auto twice = [&](unsigned k) {
    s.launch_again();
    if (k % 2 != 0) s.moved();
  };
  EXPECT_EQ(s.put_off(400, twice), 1U) << "two in a row never follow";
  s.expect_as_launched_singly();
}

TEST(Merge, StepsThatBeginLate) {
  Stencil s;
  s.engine.flush();
  s.put_off(100, [&](unsigned) { s.launch_again(); });
  s.moved();
  gpu().launches.clear();
  s.steps(76);
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_LE(launched().size(), 16 + first_needed + 2 + 50U / 5 + 4)
      << "at most sixteen are not looked at";
}

// A program that waits behind every step, or copies.
TEST(Merge, StepsWithOtherCallsInBetweenAreNotPutOff) {
  Stencil s;
  const auto wait = [&](unsigned) {
    s.engine.flush();
    gpu().launches.clear();
    s.launch_once();
  };
  EXPECT_EQ(s.put_off(100, wait), 0U);
  s.expect_as_launched_singly();
}

// Runs of `length`, each behind another call: of one of them some launches are put off in vain, as
// their length is expected then; the longest come again and again.
TEST(Merge, RunsThatDoNotPayArePutOffLessAndLess) {
  Stencil s;
  s.five.result = s.three.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const auto runs_of = [&](unsigned length) {
    const auto run = [&](unsigned k) {
      if (k % length == 0) s.engine.flush();
      gpu().launches.clear();
      s.launch_once();
    };
    return s.put_off(10 * length, run);
  };
  EXPECT_LE(runs_of(5), 5U);
  EXPECT_LE(runs_of(9), 9U);
  EXPECT_LE(runs_of(17), 17U);
  EXPECT_LE(runs_of(33), 33U);
  s.engine.flush();
  s.expect_as_launched_singly();
  s.five.result = s.three.result = CUDA_SUCCESS;
  s.engine.flush();
  s.steps(33 + 50);
  s.engine.flush();
  EXPECT_LE(launched().size(), 33U + 50U / 5 + 5) << "and are merged where they follow at last";
  s.merge_once();
  s.expect_as_launched_singly();
}

TEST(Merge, WhatMayBeMergedIsAskedWhereThereAreEnough) {
  Stencil s;
  s.merge_once();
  const unsigned before = gpu().calls["cuPointerGetAttribute"];
  s.steps(3);
  s.engine.flush();
  EXPECT_EQ(gpu().calls["cuPointerGetAttribute"], before);
  s.steps(12);
  EXPECT_GT(gpu().calls["cuPointerGetAttribute"], before);
}

// Four or five small launches are done before as many are there.
TEST(Merge, ShortRunsDoNotPay) {
  Stencil s;
  s.merge_once();
  s.steps(7);
  s.engine.flush();
  EXPECT_EQ(Stencil::made(), "s5 s s");
  s.steps(1);
  EXPECT_EQ(Stencil::made(), "s");
  s.engine.flush();
  s.steps(10); // three of them are seen to follow
  s.engine.flush();
  EXPECT_EQ(Stencil::made(), "s s s s s5 s");
  s.steps(1);
  EXPECT_EQ(Stencil::made(), "");
  s.engine.flush();
  s.expect_as_launched_singly();
}

TEST(Merge, AFewAreSeenToFollowFirst) {
  Stencil s;
  s.engine.launch(s.request(), direct);
  s.engine.launch(s.request(), direct); // not so
  s.moved();
  s.merge_once(); // behind thirty-two now
  Stencil::made();
  Request request = s.request();
  request.grid[0] = 6; // another shape
  const auto another = [&](unsigned) {
    s.engine.launch(request, direct);
    s.moved();
  };
  EXPECT_EQ(s.put_off(first_needed, another), 0U);
  EXPECT_EQ(s.put_off(1, another), 1U);
  s.engine.flush();
  s.expect_as_launched_singly();
}

// Of two entries for five steps, one with regions of half the size.
TEST(Merge, SmallRegionsWhereProcessorsHaveNoBlock) {
  const auto made = [](unsigned processors, unsigned blocks_each = 1) {
    const int before = std::exchange(gpu().multiprocessors, static_cast<int>(processors));
    Stencil s;
    fake::Function& small = gpu().add(s.module, "s5_small", {8, 8, 4, 12});
    small.run = s.five.run;
    auto contract = contract::decode(s.module.globals[contract::symbol_of("s")]).value();
    contract.steps.insert(contract.steps.begin() + 1, contract.steps[0]);
    contract.steps[1].entry = "s5_small";
    contract.steps[1].covers = {8, 1, 1};
    contract.steps[0].blocks_each = blocks_each;
    s.module.globals[contract::symbol_of("s")] = contract::encode(contract);
    s.engine.forget_handles();
    s.seen();
    s.steps(9);
    s.engine.flush();
    s.expect_as_launched_singly();
    gpu().multiprocessors = before;
    const auto all = launched();
    EXPECT_EQ(all.at(0).grid[0], processors * blocks_each > 8 ? 16U : 8U);
    std::string entries;
    for (const fake::Launched& l : all)
      entries += (entries.empty() ? "" : " ") + l.entry;
    return entries;
  };
  EXPECT_EQ(made(8), "s5 s3 s");
  EXPECT_EQ(made(9), "s5_small s3 s");
  EXPECT_EQ(made(2, 4), "s5 s3 s");
  EXPECT_EQ(made(2, 5), "s5_small s3 s");
}

} // namespace
} // namespace ptxasw::launch
