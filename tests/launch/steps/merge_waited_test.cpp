// Time steps behind each of which the program waits for the device: several are made at the first
// of them, and whoever looks at memory finds it as it should be.
#include "stencil.hpp"
#include "wave.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ptxasw::launch {
namespace {

using numbers::launch::waited_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::Stencil;
using testing::HasSubstr;
using testing::Not;

struct Waited : Stencil {
  explicit Waited(const std::string& settings = "no-images,steps=60000000") : Stencil(settings) {
    kernel.run = [](const auto& launch) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
      while (std::chrono::steady_clock::now() < until) {
      }
      test::step(launch, 1);
    };
  }
  void wait(std::uintptr_t context = 1) {
    engine.before_wait(reinterpret_cast<CUcontext>(context));
  }
  void waited(unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      launch_once();
      wait();
    }
  }
  // From now on launches are made ahead.
  void go_ahead() {
    wait();
    launched();
    waited(waited_needed + 1);
    EXPECT_THAT(made(), HasSubstr("s s5"));
  }
  static unsigned steps_of(const std::string& entry) {
    return entry == "s" ? 1 : entry == "s3" ? 3 : 5;
  }
  static unsigned steps_made() {
    unsigned sum = 0;
    for (const fake::Launched& each : launched())
      sum += steps_of(each.entry);
    return sum;
  }
};

TEST(MergeWaited, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 40; ++count) {
    Waited s;
    s.wait();
    launched();
    s.waited(count);
    const unsigned before = static_cast<unsigned>(gpu().launches.size());
    s.engine.flush();
    s.expect_as_launched_singly();
    EXPECT_EQ(before<count, count> waited_needed + 1) << count;
    EXPECT_LE(gpu().launches.size(), before + 5) << count;
  }
}

TEST(MergeWaited, WhoeverLooksFindsThemDone) {
  for (unsigned count = 0; count <= 12; ++count) {
    Waited s;
    s.go_ahead();
    s.waited(count);
    gpu().calls.clear();
    s.engine.flush();
    EXPECT_EQ(gpu().calls["cuStreamSynchronize"], 1U) << "the program has waited for them";
    s.expect_as_launched_singly();
    s.waited(3);
    s.engine.flush();
    s.expect_as_launched_singly();
  }
}

TEST(MergeWaited, NoneIsMadeTwiceWhereTheirNumberIsKnown) {
  Waited s;
  s.wait();
  launched();
  for (unsigned run = 0; run < 5; ++run) {
    s.waited(30);
    s.engine.flush(); // as a copy to the host
    s.expect_as_launched_singly();
    const std::string made = Stencil::made();
    EXPECT_TRUE(run < 3 || made == "s s5 s5 s5 s5 s5 s3 s") << made;
  }
}

TEST(MergeWaited, ALaunchThatIsNotWaitedForEndsTheRun) {
  Waited s;
  s.go_ahead();
  s.launch_once(); // behind one that was waited for
  EXPECT_EQ(Stencil::made(), "");
  s.launch_once();
  EXPECT_EQ(Stencil::made(), "s s s");
  s.engine.flush();
  s.expect_as_launched_singly();
}

TEST(MergeWaited, OtherArraysEndTheRun) {
  Waited s;
  s.go_ahead();
  std::swap(s.in, s.out);
  s.launch_again(); // the same once more
  EXPECT_EQ(Stencil::made(), "s s");
  std::swap(s.in, s.out);
  s.expect_as_launched_singly();
}

TEST(MergeWaited, AnotherThreadsWaitEndsTheRun) {
  Waited s;
  s.go_ahead();
  std::thread([&] { s.wait(); }).join();
  EXPECT_EQ(Stencil::made(), "s");
  s.expect_as_launched_singly();
}

TEST(MergeWaited, AnotherContextsWaitEndsTheRun) {
  Waited s;
  s.go_ahead();
  s.wait(2);
  EXPECT_EQ(Stencil::made(), "s");
  s.expect_as_launched_singly();
}

TEST(MergeWaited, OneThatIsWaitedForAheadOfALoopIsNone) {
  Waited s;
  s.wait();
  launched();
  for (unsigned n = 0; n < 4; ++n) {
    s.waited(1);
    s.steps(30);
    s.wait();
    s.expect_as_launched_singly();
  }
  EXPECT_THAT(Stencil::made(), HasSubstr("s5 s5 s5 s5 s5"));
  EXPECT_EQ(Waited::steps_made(), 0U);
}

TEST(MergeWaited, SoonerOrLaterWhereTheyAreInVain) {
  Waited s;
  s.wait();
  launched();
  unsigned made = 0;
  for (unsigned n = 0; n < 40; ++n) { // other lengths each time
    s.waited(waited_needed + 1 + n % 3);
    s.engine.flush();
    s.expect_as_launched_singly();
    made += Waited::steps_made() - (waited_needed + 1 + n % 3);
  }
  EXPECT_LE(made, 30U);
}

TEST(MergeWaited, NotWhereTheyAreSlower) {
  Waited s;
  s.five.run = [](const auto& launch) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    test::step(launch, 5);
  };
  s.go_ahead();
  s.waited(20);
  launched();
  s.waited(40);
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
  s.engine.flush();
  s.expect_as_launched_singly();
}

TEST(MergeWaited, NotWithAnEntryThatDoesNotLaunch) {
  Waited s;
  s.five.result = CUDA_ERROR_INVALID_VALUE;
  s.wait();
  launched();
  s.waited(40);
  s.engine.flush();
  s.expect_as_launched_singly();
}

TEST(MergeWaited, NotInMemoryThatOthersReach) {
  Waited s;
  gpu().managed = true;
  s.wait();
  launched();
  s.waited(40);
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
  s.expect_as_launched_singly();
}

// Known for the process, so in one of its own.
TEST(MergeWaited, NotWhereMemoryIsShared) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto share = [] {
    Waited s;
    s.go_ahead();
    CUipcMemHandle handle;
    EXPECT_EQ(cuIpcGetMemHandle(&handle, s.in), CUDA_SUCCESS);
    s.engine.flush(); // as that call has this process' own launcher do
    s.expect_as_launched_singly();
    launched();
    s.waited(40);
    EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
    s.engine.flush();
    s.expect_as_launched_singly();
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(share(), testing::ExitedWithCode(0), "");
}

TEST(MergeWaited, NotWhereOtherDevicesRun) {
  Waited s;
  gpu().devices = 2;
  s.go_ahead(); // the other one has no context
  s.waited(4);
  gpu().is_second_active = true;
  s.waited(20); // from the next group on
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
  s.expect_as_launched_singly();
  gpu().devices = 1;
  gpu().is_second_active = false;
}

TEST(MergeWaited, TheLastOfAKnownRunIsMadeInItsTurn) {
  Waited s;
  s.wait();
  launched();
  for (unsigned run = 0; run < 5; ++run) {
    s.waited(12);
    if (run > 2) s.expect_as_launched_singly(); // the last one is single: all is there
    s.engine.flush();
    s.expect_as_launched_singly();
  }
}

// Arrays that are exchanged, with coefficients in the third one; then they rotate once.
struct WaitedWave : test::Wave {
  WaitedWave() {
    pairs.run = [](const fake::Launched& launch) {
      std::array<unsigned*, 3> at{};
      for (unsigned n = 0; n < 3; ++n)
        at.at(n) = reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(launch.parameters[n]));
      std::vector<unsigned> now(at[1], at[1] + test::points), next(at[2], at[2] + test::points);
      for (unsigned step = 0; step < 3; ++step) {
        for (unsigned i = 1; i + 1 < test::points; ++i)
          next[i] = 3 * now[i - 1] + now[i + 1] - at[0][i] + 1;
        std::swap(now, next);
      }
      std::copy(now.begin(), now.end(), at[2]);
    };
    engine.before_wait(reinterpret_cast<CUcontext>(1));
  }
  // What becomes the old, the present and the next one.
  void launch(unsigned old, unsigned now, unsigned next) {
    const auto before = arrays;
    const auto known = plain;
    arrays = {before.at(old), before.at(now), before.at(next)};
    plain = {known.at(old), known.at(now), known.at(next)};
    EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
    for (unsigned i = 1; i + 1 < test::points; ++i)
      plain[2][i] = 3 * plain[1][i - 1] + plain[1][i + 1] - plain[0][i] + 1;
    engine.before_wait(reinterpret_cast<CUcontext>(1));
  }
};

TEST(MergeWaited, HowArraysMoveIsToldByTheSecondLaunch) {
  WaitedWave w;
  for (unsigned run = 0; run < 4; ++run) {
    for (unsigned k = 0; k < 30; ++k)
      w.launch(0, 2, 1);
    w.engine.flush();
    w.expect_as_launched_singly();
  }
  EXPECT_THAT(Stencil::made(), HasSubstr("w3"));
  w.launch(0, 2, 1);
  w.launch(1, 2, 0); // in rotation
  w.launch(2, 1, 0); // as behind the first one, if those were exchanged
  for (unsigned k = 0; k < 8; ++k)
    w.launch(0, 2, 1);
  w.engine.flush();
  w.expect_as_launched_singly();
}

TEST(MergeWaited, RotationsAreMadeAsTheyCome) {
  WaitedWave w;
  launched();
  for (unsigned k = 0; k < 60; ++k)
    w.launch(1, 2, 0);
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("rotated")));
  w.expect_as_launched_singly();
}

TEST(MergeWaited, NothingWhileItIsCaptured) {
  Waited s;
  s.wait();
  launched();
  gpu().capturing = true;
  s.waited(40);
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
  gpu().capturing = false;
  s.expect_as_launched_singly();
}

TEST(MergeWaited, LongPausesChangeNothing) {
  Waited s("no-images,steps");
  s.go_ahead();
  for (unsigned n = 0; n < 7; ++n) {
    s.waited(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(Stencil::made(), "s5");
  s.engine.flush();
  s.expect_as_launched_singly();
}

} // namespace
} // namespace ptxasw::launch
