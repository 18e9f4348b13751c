// Time steps that are put off and merged: what reaches the driver, and what memory holds whenever
// anybody could look.
#include "stencil.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::points;
using test::Stencil;
using test::step;
using test::value_of;
using testing::HasSubstr;

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
  Stencil s("no-images,steps");
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
  s.engine.before_fork(); // as the handlers do for the library's own engine
  s.expect_as_launched_singly();
  s.engine.behind_fork(true);
  Stencil::made();
  s.steps(3);
  EXPECT_EQ(Stencil::made(), "s s s");
}

// --- tools ---------------------------------------------------------------------------------------

// The driver may call a tool within a launch, and that calls the driver: it waits for the device,
// as a trampoline sees it, and launches a kernel of its own.
TEST(Merge, AToolMayCallTheDriverWithinALaunch) {
  Stencil s;
  fake::Function& tools = gpu().add(s.module, "tool", {});
  unsigned calls = 0;
  for (fake::Function* function : {&s.kernel, &s.three, &s.five})
    function->run = [&, run = function->run](const fake::Launched& launch) {
      ++calls;
      s.engine.flush();
      s.engine.launch({reinterpret_cast<CUfunction>(&tools), {1, 1, 1}, {1, 1, 1}}, direct);
      run(launch);
    };
  s.merge_once();
  s.steps(30);
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_EQ(std::ranges::count(launched(), "s5", &fake::Launched::entry), 5);
  EXPECT_GT(calls, 6U);
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

TEST(Merge, NotWhereLaunchesBlock) {
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  Stencil s;
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  expect_singly(s);
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

// Which is for the kernel's tile: an entry has its own.
TEST(Merge, GivesNoDynamicSharedMemoryToEntries) {
  Stencil s;
  for (unsigned n = 0; n < 4 * first_needed; ++n) {
    Request request = s.request();
    request.shared = 16;
    EXPECT_EQ(s.engine.launch(request, direct), CUDA_SUCCESS);
    s.moved();
  }
  s.engine.flush();
  unsigned merged = 0;
  for (const fake::Launched& one : launched()) {
    merged += one.entry != "s" ? 1 : 0;
    EXPECT_EQ(one.shared, one.entry == "s" ? 16 : 0) << one.entry;
  }
  EXPECT_GT(merged, 0U);
}

TEST(Merge, NotWhatWasNeverLaunched) {
  Stencil s;
  Request request = s.request();
  request.grid[0] = 6;
  s.kernel.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  for (unsigned n = 0; n < 2 * first_needed; ++n) {
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

// Entries that wait for what is in front of them may begin ahead of its end; the program's own
// kernels and what stands behind these may not.
TEST(Merge, EntriesBehindEntriesBeginAhead) {
  for (const bool waits : {true, false}) {
    Stencil s("no-images,steps=60000000", waits);
    for (unsigned n = 0; n < 5; ++n) { // some are timed, with events in front of them
      s.steps(14);
      s.engine.flush();
    }
    launched();
    s.steps(14);
    s.engine.flush();
    bool is_behind_entry = false;
    unsigned ahead = 0;
    for (const fake::Launched& launch : launched()) {
      const bool is_entry = launch.entry != "s";
      EXPECT_EQ(launch.ahead, waits && is_entry && is_behind_entry) << launch.entry;
      is_behind_entry = is_entry;
      ahead += launch.ahead ? 1 : 0;
    }
    EXPECT_EQ(ahead, waits ? 2U : 0U);
    s.expect_as_launched_singly();
  }
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
  Stencil s("no-images,steps=60000000,check");
  s.steps(9);
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_THAT(Stencil::made(), HasSubstr("s5 s3 s"));
}

TEST(Merge, AWrongEntryIsCaught) {
  Stencil s("no-images,steps=60000000,check");
  s.five.run = [](const auto& launch) { step(launch, 4); };
  const auto wrong = [&] {
    s.steps(9);
    s.engine.flush();
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86), "several steps in one differs in buffer");
}

} // namespace
} // namespace ptxasw::launch
