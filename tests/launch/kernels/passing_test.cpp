// Launches that go through as they came are remembered, and those that may not be are not.
#include "fixture.hpp"

#include "launch/waiting/trampolines.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_trial;
using test::EngineTest;
using test::gpu;
using test::InOtherBlocks;
using test::launched;
using test::Passed;
using test::Program;

class Passing : public EngineTest {
protected:
  static bool passes(const std::string& settings, const Request& request) {
    Engine engine(read_settings(settings));
    const Passed told;
    for (unsigned n = 0; n < 3; ++n)
      EXPECT_EQ(engine.launch(request, told), CUDA_SUCCESS);
    return told.left != 0;
  }
};

TEST_F(Passing, KernelsWithoutAContractAndOriginals) {
  Program without("other", false), with;
  EXPECT_TRUE(passes("", without.request()));
  EXPECT_TRUE(passes("policy=original", with.request()));
  EXPECT_TRUE(passes("policy=model", with.request(1))) << "too few blocks for a variant";
}

TEST_F(Passing, VariantsAsTheyAreMade) {
  Program p;
  InOtherBlocks other_blocks;
  for (const auto& [of, policy] :
       {std::pair<Program*, std::string>{&p, "policy=x:4"}, {&other_blocks, "policy=block:256"}}) {
    EXPECT_TRUE(passes(policy, of->request()));
    const fake::Launched looked_at = launched().back();
    ASSERT_EQ(pass_by_variant(0, of->request(), test::direct), CUDA_SUCCESS);
    const fake::Launched passed = launched().back();
    EXPECT_NE(passed.entry, "k");
    EXPECT_EQ(passed.entry, looked_at.entry);
    EXPECT_EQ(passed.grid, looked_at.grid);
    EXPECT_EQ(passed.block, looked_at.block);
    EXPECT_EQ(passed.parameters, looked_at.parameters);
    for (unsigned i = 0; i < of->n; ++i)
      ASSERT_EQ(test::value_of<unsigned>(of->memory, i), 4U) << i;
  }
}

// Each as often as was said, and only where its entry is one of this context.
TEST_F(Passing, VariantsOnlyWhereTheyMay) {
  Program p;
  const auto context = reinterpret_cast<CUcontext>(1), another = reinterpret_cast<CUcontext>(2);
  const contract::Contract contract = test::contract_of("k");
  const VariantLaunch made(p.request(), contract, contract.variants[2],
                           reinterpret_cast<CUfunction>(&p.four));
  const auto passes = [&](const Request& request) {
    return pass_by_variant(3, request, test::direct).has_value();
  };
  const auto remember = [&](CUcontext of, std::uint64_t times) {
    remember_variant(passing_epoch().load(), 3, p.request(), made, of, times);
  };
  remember(context, 2);
  EXPECT_FALSE(pass_by_variant(4, p.request(), test::direct)) << "another function of the driver";
  EXPECT_FALSE(passes(p.request(51)));
  gpu().capturing = true;
  EXPECT_FALSE(passes(p.request())) << "a node is the program's";
  gpu().capturing = false;
  p.four.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  EXPECT_FALSE(passes(p.request()));
  p.four.result = CUDA_SUCCESS;
  EXPECT_FALSE(passes(p.request())) << "behind one that failed";
  remember(another, 2);
  EXPECT_FALSE(passes(p.request()));
  remember(context, 2);
  EXPECT_TRUE(passes(p.request()));
  EXPECT_EQ(take_passed_by_variant(3, p.request()), 1U);
  EXPECT_TRUE(passes(p.request()));
  EXPECT_FALSE(passes(p.request())) << "two were said";
  EXPECT_EQ(take_passed_by_variant(3, p.request()), 1U);
  remember(context, 2);
  passing_epoch().fetch_add(1);
  EXPECT_FALSE(passes(p.request())) << "a module went";
}

TEST_F(Passing, NeitherDoesWhatIsCountedCheckedOrMayBeginEarly) {
  Program without("other", false), with, waiting("waiting");
  for (const std::string settings : {"report=/dev/null", "check", "batch", "steps,batch"}) {
    EXPECT_FALSE(passes("policy=original," + settings, with.request())) << settings;
    EXPECT_FALSE(passes(settings, without.request())) << settings;
  }
  contract::Contract contract = test::contract_of("waiting");
  contract.variants[0].waits = true;
  waiting.module.globals[contract::symbol_of("waiting")] = contract::encode(contract);
  EXPECT_FALSE(passes("policy=original,early", waiting.request()));
  EXPECT_TRUE(passes("policy=x:4,early", waiting.request())) << "that entry does not wait";
  EXPECT_TRUE(passes("policy=original,early", with.request()));
  EXPECT_TRUE(passes("early", without.request()));
}

TEST_F(Passing, WhatIsNoStepWhereStepsAreMerged) {
  Program without("other", false), with;
  EXPECT_TRUE(passes("no-images,steps", without.request()));
  EXPECT_TRUE(passes("no-images,policy=original,steps", with.request()));
}

// What is chosen, until it is time for a trial: as many are tried as where all are looked at.
class UntilTheNextTrial : public Passing, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Faster, UntilTheNextTrial, testing::Bool());

TEST_P(UntilTheNextTrial, AsManyAreTried) {
  const bool is_original = GetParam();
  const auto tried = [&](const auto& launch_once) {
    Program p;
    p.kernel.milliseconds = is_original ? 1 : 3;
    p.two.milliseconds = 3;
    p.four.milliseconds = is_original ? 3 : 1;
    Engine engine(read_settings("policy=measure"));
    launched();
    unsigned looked_at = 0;
    for (unsigned n = 0; n < 5000; ++n)
      looked_at += launch_once(engine, p.request());
    const auto all = launched();
    EXPECT_EQ(all.size(), 5000U);
    const std::string chosen = is_original ? "k" : "k__ptxasw_x4";
    return std::pair(all.size() - std::ranges::count(all, chosen, &fake::Launched::entry),
                     looked_at);
  };
  const auto [alone, all] = tried([](Engine& engine, const Request& request) {
    EXPECT_EQ(engine.launch(request, test::direct), CUDA_SUCCESS);
    return 1;
  });
  // Another one may have the slot: fewer are known to have passed.
  for (const bool forgets : {false, true}) {
    Passed passed;
    const auto [number, looked_at] = tried([&](Engine& engine, const Request& request) {
      if (passed.left != 0) {
        --passed.left;
        if (!pass_by_variant(0, request, test::direct)) {
          EXPECT_EQ(test::direct(request), CUDA_SUCCESS);
        }
        return 0;
      }
      EXPECT_EQ(engine.launch(request, passed), CUDA_SUCCESS);
      if (forgets) passed.told = 0;
      return 1;
    });
    EXPECT_LT(looked_at, 200U);
    EXPECT_EQ(number == alone, !forgets);
    // The model's choice may pass uncounted until the first trial.
    const auto least = is_original ? first_trial * (first_trial + 1) / 2 : 0;
    EXPECT_LE(number, alone + static_cast<std::ptrdiff_t>(least));
    EXPECT_GT(number, 0);
  }
}

// --- through the hook ----------------------------------------------------------------------------

using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);

CUresult launch(const Request& r, LaunchKernel by = cuLaunchKernel) {
  return by(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
            r.shared, nullptr, r.parameters, nullptr);
}

// Whether anything is asked about a launch.
bool is_looked_at(const Request& request, LaunchKernel by = cuLaunchKernel) {
  const unsigned before = gpu().calls["cuCtxGetCurrent"];
  launch(request, by);
  return gpu().calls["cuCtxGetCurrent"] != before;
}

TEST_F(Passing, OnlyTheVeryLaunch) {
  Program p("other", false), another("another", false);
  const Request known = p.request();
  const auto changed_is_looked_at = [&](const auto& change) {
    launch(known);
    EXPECT_FALSE(is_looked_at(known));
    Request request = known;
    change(request);
    return is_looked_at(request);
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    EXPECT_TRUE(changed_is_looked_at([&](Request& r) { ++r.grid[axis]; })) << axis;
    EXPECT_TRUE(changed_is_looked_at([&](Request& r) { ++r.block[axis]; })) << axis;
  }
  EXPECT_TRUE(changed_is_looked_at([](Request& r) { r.shared = 16; }));
  EXPECT_TRUE(changed_is_looked_at([&](Request& r) { r.function = another.function(); }));
}

// By the same hook, whichever way it is made.
TEST_F(Passing, VariantsThroughTheHook) {
  Program p;
  launched();
  for (unsigned n = 0; n < 4; ++n)
    launch(p.request());
  gpu().capturing = true;
  launch(p.request());
  std::string all;
  for (const fake::Launched& one : launched())
    all += one.entry + ' ';
  EXPECT_EQ(all, "k__ptxasw_x4 k__ptxasw_x4 k__ptxasw_x4 k__ptxasw_x4 k ");
}

// It comes behind what waits.
TEST_F(Passing, NotWhileAnythingWaits) {
  Program p("other", false);
  launch(p.request());
  ASSERT_FALSE(is_looked_at(p.request()));
  for (const Waits why : {Waits::run, Waits::batch, Waits::front}) {
    set_waiting(why, true);
    EXPECT_TRUE(is_looked_at(p.request()));
    set_waiting(why, false);
    EXPECT_FALSE(is_looked_at(p.request()));
  }
}

TEST(PassingSlots, SoManyTimes) {
  int real = 0;
  const Request request{.function = reinterpret_cast<CUfunction>(&real), .grid = {3, 1, 1}};
  const LaunchKey key = launch_key(1, request);
  remember_passing(passing_epoch(), 1, &real, request, 2);
  EXPECT_EQ(passing(key), &real);
  EXPECT_EQ(passing(key), &real);
  EXPECT_EQ(passing(key), nullptr);
  EXPECT_EQ(passing(key), nullptr);
}

TEST(PassingSlots, TellHowManyPassed) {
  int real = 0;
  const Request request{.function = reinterpret_cast<CUfunction>(&real), .grid = {3, 1, 1}};
  const LaunchKey key = launch_key(1, request);
  const auto passed = [&](unsigned times) {
    for (unsigned n = 0; n < times; ++n)
      EXPECT_EQ(passing(key), &real);
    return take_passed(1, request);
  };
  remember_passing(passing_epoch(), 1, &real, request, for_good);
  EXPECT_EQ(passed(2), 2U);
  EXPECT_EQ(passed(0), 0U);
  EXPECT_EQ(passed(3), 3U);
  EXPECT_EQ(passing(key), &real);
  Request other = request; // of the same slot
  other.block[1] = 2;
  EXPECT_EQ(take_passed(1, other), 0U);
  passing_epoch().fetch_add(1);
  EXPECT_EQ(take_passed(1, request), 0U) << "another time";
}

TEST_F(Passing, ByTheFunctionThatWasCalled) {
  Program p("other", false);
  const auto of_thread =
      reinterpret_cast<LaunchKernel>(::dlsym(RTLD_DEFAULT, "cuLaunchKernel_ptsz"));
  launch(p.request());
  ASSERT_FALSE(is_looked_at(p.request()));
  EXPECT_EQ(launched().back().by, "cuLaunchKernel");
  EXPECT_TRUE(is_looked_at(p.request(), of_thread));
  EXPECT_FALSE(is_looked_at(p.request(), of_thread));
  EXPECT_EQ(launched().back().by, "cuLaunchKernel_ptsz");
}

TEST_F(Passing, WithAConfigurationWithoutAttributes) {
  Program p("other", false);
  CUlaunchConfig config{.gridDimX = 50,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 100,
                        .blockDimY = 1,
                        .blockDimZ = 1};
  const auto is_asked = [&] {
    const unsigned before = gpu().calls["cuCtxGetCurrent"];
    EXPECT_EQ(cuLaunchKernelEx(&config, p.function(), p.parameters, nullptr), CUDA_SUCCESS);
    return gpu().calls["cuCtxGetCurrent"] != before;
  };
  EXPECT_TRUE(is_asked());
  EXPECT_FALSE(is_asked());
  EXPECT_EQ(launched().back().by, "cuLaunchKernelEx");
  for (unsigned CUlaunchConfig::*const one :
       {&CUlaunchConfig::gridDimX, &CUlaunchConfig::gridDimY, &CUlaunchConfig::gridDimZ,
        &CUlaunchConfig::blockDimX, &CUlaunchConfig::blockDimY, &CUlaunchConfig::blockDimZ,
        &CUlaunchConfig::sharedMemBytes}) {
    const CUlaunchConfig known = config;
    is_asked();
    ++(config.*one);
    EXPECT_TRUE(is_asked());
    config = known;
  }
}

// The handle may be another kernel's by then, which has variants.
TEST_F(Passing, NothingBehindAModuleThatGoes) {
  Program p("k", false);
  launch(p.request());
  ASSERT_FALSE(is_looked_at(p.request()));
  p.module.globals[contract::symbol_of("k")] = contract::encode(test::contract_of("k"));
  fake::Module& gone = gpu().add_module();
  EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(&gone)), CUDA_SUCCESS);
  launch(p.request());
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4");
}

} // namespace
} // namespace ptxasw::launch
