// Time steps that are put off and merged: what reaches the driver, and what memory holds whenever
// anybody could look.
#include "program.hpp"

#include "contract/expression.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using numbers::launch::least_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::value_of;
using testing::HasSubstr;

constexpr unsigned points = 100;

// out[i] = 2 * in[i - 1] + in[i + 1] + 1 within the rim, `steps` times, as an entry does it: `in`
// stays as it was.
void step(const fake::Launched& launch, unsigned steps) {
  auto* in = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[0]));
  auto* out = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[1]));
  std::vector<unsigned> now(in, in + points), other(out, out + points);
  for (unsigned n = 0; n < steps; ++n) {
    for (unsigned i = 1; i + 1 < points; ++i)
      other[i] = 2 * now[i - 1] + now[i + 1] + 1;
    std::swap(now, other);
  }
  std::copy(now.begin(), now.end(), out);
}

contract::Expression expression(const char* word) {
  return contract::to_expression(word).value();
}

struct Stencil {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel = gpu().add(module, "s", {8, 8, 4}),
                 &three = gpu().add(module, "s3", {8, 8, 4, 12}),
                 &five = gpu().add(module, "s5", {8, 8, 4, 12});
  std::vector<unsigned char>&a = gpu().allocate(4 * points), &b = gpu().allocate(4 * points);
  CUdeviceptr in = reinterpret_cast<CUdeviceptr>(a.data()),
              out = reinterpret_cast<CUdeviceptr>(b.data());
  unsigned n = points;
  void* parameters[3] = {&in, &out, &n};
  Engine engine;
  std::vector<unsigned> x, y; // what plain launches leave

  explicit Stencil(const std::string& settings = "steps=60000000")
      : engine(read_settings(settings)) {
    contract::Contract contract{.kernel = "s",
                                .parameters = 3,
                                .parameter_bytes = 20,
                                .places = {{0, 8}, {8, 8}, {16, 4}},
                                .variants = {{.entry = "s", .name = "original"}}};
    for (const unsigned steps : {5U, 3U})
      contract.steps.push_back({.entry = "s" + std::to_string(steps),
                                .count = steps,
                                .swaps = {{0, 1}},
                                .block = {32, 1, 1},
                                .covers = {16, 1, 1},
                                .conditions = {{expression("p2s32,-3,+"), "too few points"}},
                                .touched = {{0, true, expression("0"), expression("p2s32,4,*")},
                                            {1, true, expression("0"), expression("p2s32,4,*")}}});
    module.globals[contract::symbol_of("s")] = contract::encode(contract);
    kernel.run = [](const auto& launch) { step(launch, 1); };
    three.run = [](const auto& launch) { step(launch, 3); };
    five.run = [](const auto& launch) { step(launch, 5); };
    auto* first = reinterpret_cast<unsigned*>(a.data());
    auto* second = reinterpret_cast<unsigned*>(b.data());
    for (unsigned i = 0; i < points; ++i) {
      first[i] = i * i;
      second[i] = 7 * i;
    }
    x.assign(first, first + points);
    y.assign(second, second + points);
    seen();
  }
  ~Stencil() {
    engine.flush();
    gpu().modules.clear();
    gpu().capturing = gpu().managed = false;
  }

  [[nodiscard]] Request request() {
    return {reinterpret_cast<CUfunction>(&kernel),
            {4, 1, 1},
            {32, 1, 1},
            0,
            CU_STREAM_LEGACY,
            parameters,
            nullptr};
  }
  void launch_once() {
    EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
    moved();
  }
  void moved() {
    for (unsigned i = 1; i + 1 < points; ++i)
      y[i] = 2 * x[i - 1] + x[i + 1] + 1;
    std::swap(x, y);
    std::swap(in, out);
  }
  void steps(unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      launch_once();
  }
  // From now on it is known to launch, and a launch that follows is put off.
  void seen() {
    steps(least_needed);
    gpu().launches.clear();
  }
  // From now on, and until a run does not pay, the first launch is put off.
  void merge_once() {
    steps(16);
    engine.flush();
    EXPECT_THAT(made(), HasSubstr("s5"));
  }
  // How many of `count` launches have not reached the driver when they return.
  unsigned put_off(unsigned count, const std::function<void(unsigned)>& launch) {
    unsigned found = 0;
    for (unsigned k = 0; k < count; ++k) {
      gpu().launches.clear();
      launch(k);
      if (gpu().launches.empty()) ++found;
    }
    return found;
  }
  // The same arguments once more: nothing moves.
  void launch_again() { EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS); }
  void expect_as_launched_singly() {
    const auto words = [](CUdeviceptr at) {
      const auto* first = reinterpret_cast<const unsigned*>(at);
      return std::vector<unsigned>(first, first + points);
    };
    EXPECT_EQ(words(in), x);
    EXPECT_EQ(words(out), y);
  }
  static std::string made() {
    std::string all;
    for (const fake::Launched& l : launched())
      all += (all.empty() ? "" : " ") + l.entry;
    return all;
  }
};

TEST(Merge, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 70; ++count) {
    Stencil s;
    s.steps(count);
    s.engine.flush();
    s.expect_as_launched_singly();
    const auto all = launched();
    EXPECT_EQ(all.back().entry, "s") << count;
    EXPECT_LE(all.size(), (count + 4) / 5 + 5 + count / 64) << count;
  }
}

TEST(Merge, GroupsAreMadeAsSoonAsTheyCanBe) {
  Stencil s;
  s.steps(5);
  EXPECT_EQ(Stencil::made(), "") << "one has to be single";
  s.steps(1);
  const auto all = launched();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entry, "s5");
  EXPECT_EQ(all[0].grid, (std::vector<unsigned>{8, 1, 1}));
  EXPECT_EQ(all[0].block, (std::vector<unsigned>{32, 1, 1}));
  EXPECT_EQ(value_of<unsigned>(all[0].parameters[3], 0), 128U);
  s.steps(4);
  s.engine.flush();
  EXPECT_EQ(Stencil::made(), "s3 s s");
  s.expect_as_launched_singly();
}

TEST(Merge, OffUnlessAskedFor) {
  Stencil s("");
  s.steps(9);
  EXPECT_EQ(Stencil::made(), "s s s s s s s s s");
}

TEST(Merge, SixtyFourStepsAtMost) {
  Stencil s;
  s.steps(64);
  s.expect_as_launched_singly();
}

TEST(Merge, WhoWaitsSeesProgress) {
  Stencil s("steps");
  s.steps(4);
  for (unsigned n = 0; n < 1000; ++n) {
    if (const std::lock_guard lock(gpu().mutex); gpu().launches.size() >= 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  s.engine.flush(); // behind the one that looks, in case it is at it
  EXPECT_EQ(launched().back().entry, "s");
  s.expect_as_launched_singly();
}

// --- what ends a run ----------------------------------------------------------------------------

TEST(Merge, OtherParametersEndTheRun) {
  Stencil s;
  s.steps(2);
  std::swap(s.in, s.out); // the last launch once more
  EXPECT_EQ(s.engine.launch(s.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(Stencil::made(), "s s s");
  std::swap(s.in, s.out);
  s.engine.flush();
  s.expect_as_launched_singly();
}

TEST(Merge, AnotherStreamGridOrNumberEndsTheRun) {
  Stencil s;
  const auto ends = [&](const char* what, auto change) {
    s.merge_once();
    s.steps(2);
    EXPECT_EQ(Stencil::made(), "") << what;
    Request request = s.request();
    change(request);
    EXPECT_EQ(s.engine.launch(request, direct), CUDA_SUCCESS);
    s.n = points;
    s.moved();
    EXPECT_EQ(Stencil::made(), "s s s") << what;
    s.expect_as_launched_singly();
  };
  ends("stream", [](Request& r) { r.stream = reinterpret_cast<CUstream>(0x99); });
  ends("grid", [](Request& r) { r.grid[0] = 5; });
  ends("shared", [](Request& r) { r.shared = 16; });
  ends("number", [&](Request&) { s.n = points - 1; });
}

TEST(Merge, AnotherKernelEndsTheRun) {
  Stencil s;
  s.steps(3);
  fake::Function& other = gpu().add(s.module, "other", {8, 8, 4});
  Request request = s.request();
  request.function = reinterpret_cast<CUfunction>(&other);
  s.engine.launch(request, direct);
  EXPECT_EQ(Stencil::made(), "s s s other");
  s.expect_as_launched_singly();
}

TEST(Merge, AnotherThreadEndsTheRun) {
  Stencil s;
  s.steps(3);
  std::thread([&] { s.steps(1); }).join();
  EXPECT_EQ(Stencil::made(), "s s s s");
  s.expect_as_launched_singly();
}

TEST(Merge, AForkedChildMakesNothing) {
  Stencil s;
  s.steps(3);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  s.engine.merger()->before_fork(); // as the handlers do for the library's own engine
  s.expect_as_launched_singly();
  s.engine.merger()->behind_fork(true);
  Stencil::made();
  s.steps(3);
  EXPECT_EQ(Stencil::made(), "s s s");
}

// --- what is not put off
// --------------------------------------------------------------------------

void expect_singly(Stencil& s) {
  s.steps(7);
  EXPECT_EQ(Stencil::made(), "s s s s s s s");
  s.expect_as_launched_singly();
}

TEST(Merge, NotWhileCapturing) {
  Stencil s;
  gpu().capturing = true;
  expect_singly(s);
  gpu().capturing = false;
  gpu().launches.clear();
  s.steps(6);
  s.engine.flush();
  EXPECT_EQ(Stencil::made(), "s5 s") << "what was captured says nothing of other launches";
  s.expect_as_launched_singly();
}

TEST(Merge, NotInMemoryThatOthersReach) {
  Stencil s;
  gpu().managed = true;
  expect_singly(s);
}

TEST(Merge, NotWhereArraysOverlap) {
  Stencil s;
  s.merge_once();
  s.out = s.in + 4;
  s.steps(7);
  EXPECT_EQ(Stencil::made(), "s s s s s s s");
}

TEST(Merge, NotWhereAConditionFails) {
  Stencil s;
  s.merge_once();
  s.n = 2;
  s.steps(7);
  EXPECT_EQ(Stencil::made(), "s s s s s s s");
}

TEST(Merge, NotOnTheThreadsOwnStream) {
  Stencil s;
  s.merge_once();
  Request request = s.request();
  request.stream = CU_STREAM_PER_THREAD;
  s.engine.launch(request, direct);
  EXPECT_EQ(Stencil::made(), "s");
}

TEST(Merge, NotWithDynamicSharedMemory) {
  Stencil s;
  for (unsigned n = 0; n < 2 * least_needed; ++n) {
    Request request = s.request();
    request.shared = 16;
    s.engine.launch(request, direct);
    s.moved();
    EXPECT_EQ(Stencil::made(), "s");
  }
}

TEST(Merge, NotWhatWasNeverLaunched) {
  Stencil s;
  Request request = s.request();
  request.grid[0] = 6;
  s.kernel.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  for (unsigned n = 0; n < 2 * least_needed; ++n) {
    EXPECT_EQ(s.engine.launch(request, direct), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    std::swap(s.in, s.out);
  }
}

TEST(Merge, NotWithAnEntryThatTheModuleHasNot) {
  Stencil s;
  s.module.functions.erase("s5");
  s.module.functions.erase("s3");
  s.engine.forget_handles();
  s.seen();
  expect_singly(s);
}

TEST(Merge, NotWithAnEntryThatTakesNoSuchBlock) {
  Stencil s;
  s.five.most_threads = s.three.most_threads = 16;
  s.five.result = s.three.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  s.engine.forget_handles();
  s.seen();
  const unsigned before = gpu().calls["cuLaunchKernel"];
  expect_singly(s);
  EXPECT_EQ(gpu().calls["cuLaunchKernel"] - before, 7U);
}

TEST(Merge, AnEntryThatDoesNotLaunchIsDoneSingly) {
  Stencil s;
  s.five.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  s.steps(7);
  s.engine.flush();
  s.expect_as_launched_singly();
}

// --- what is put off in vain
// --------------------------------------------------------------------

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
  s.put_off(100, [&](unsigned) { s.launch_again(); });
  s.moved();
  gpu().launches.clear();
  s.steps(76);
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_LE(launched().size(), 26U + 50U / 5 + 4) << "at most sixteen are not looked at";
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

// Runs of `length`, each behind another call: one launch of one of them is put off in vain, as they
// are a launch longer than what was asked for last; the longest come again and again.
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
  EXPECT_EQ(runs_of(5), 1U);
  EXPECT_EQ(runs_of(9), 1U);
  EXPECT_EQ(runs_of(17), 1U);
  EXPECT_EQ(runs_of(33), 10U);
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
  s.merge_once(); // behind eight now
  Stencil::made();
  Request request = s.request();
  request.grid[0] = 6; // another shape
  const auto another = [&](unsigned) {
    s.engine.launch(request, direct);
    s.moved();
  };
  EXPECT_EQ(s.put_off(least_needed, another), 0U);
  EXPECT_EQ(s.put_off(1, another), 1U);
  s.engine.flush();
  s.expect_as_launched_singly();
}

// Of two entries for five steps, one with regions of half the size.
TEST(Merge, SmallRegionsWhereProcessorsHaveNoBlock) {
  const auto made = [](int processors) {
    const int before = std::exchange(gpu().multiprocessors, processors);
    Stencil s;
    fake::Function& small = gpu().add(s.module, "s5_small", {8, 8, 4, 12});
    small.run = s.five.run;
    auto contract = contract::decode(s.module.globals[contract::symbol_of("s")]).value();
    contract.steps.insert(contract.steps.begin() + 1, contract.steps[0]);
    contract.steps[1].entry = "s5_small";
    contract.steps[1].covers = {8, 1, 1};
    s.module.globals[contract::symbol_of("s")] = contract::encode(contract);
    s.engine.forget_handles();
    s.seen();
    s.steps(9);
    s.engine.flush();
    s.expect_as_launched_singly();
    gpu().multiprocessors = before;
    const auto all = launched();
    EXPECT_EQ(all.at(0).grid[0], processors > 8 ? 16U : 8U);
    std::string entries;
    for (const fake::Launched& l : all)
      entries += (entries.empty() ? "" : " ") + l.entry;
    return entries;
  };
  EXPECT_EQ(made(8), "s5 s3 s");
  EXPECT_EQ(made(9), "s5_small s3 s");
}

TEST(Merge, ParametersInABuffer) {
  Stencil s;
  for (unsigned k = 0; k < 6; ++k) {
    struct {
      CUdeviceptr in, out;
      unsigned n;
    } buffer{s.in, s.out, s.n};
    std::size_t size = 20;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    Request request = s.request();
    request.parameters = nullptr;
    request.extra = extra;
    s.engine.launch(request, direct);
    s.moved();
  }
  EXPECT_EQ(Stencil::made(), "s5");
  s.engine.flush();
  s.expect_as_launched_singly();
}

// --- check
// ----------------------------------------------------------------------------------------

TEST(Merge, IsChecked) {
  Stencil s("steps=60000000,check");
  s.steps(9);
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_THAT(Stencil::made(), HasSubstr("s5 s3 s"));
}

TEST(Merge, AWrongEntryIsCaught) {
  Stencil s("steps=60000000,check");
  s.five.run = [](const auto& launch) { step(launch, 4); };
  const auto wrong = [&] {
    s.steps(9);
    s.engine.flush();
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86), "several steps in one differs in buffer");
}

} // namespace
} // namespace ptxasw::launch
