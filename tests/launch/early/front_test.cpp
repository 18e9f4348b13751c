// Which launches begin before the one in front has ended.
#include "fixture.hpp"

#include "launch/waiting/trampolines.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_trial;
using test::direct;
using test::EngineTest;
using test::gpu;
using test::launched;
using test::Program;

CUstream stream(std::uintptr_t number) {
  return reinterpret_cast<CUstream>(0x1000 + 64 * number);
}

// A program all of whose entries wait, and one without a contract.
class FrontTest : public EngineTest {
protected:
  FrontTest() {
    contract::Contract contract = test::contract_of("k");
    for (contract::Variant& variant : contract.variants)
      variant.waits = true;
    p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  }
  void launch(CUstream to, Program& of) {
    Request request = of.request();
    request.stream = to;
    EXPECT_EQ(engine->launch(request, direct), CUDA_SUCCESS);
  }
  void launch(CUstream to = stream(1)) { launch(to, p); }
  // Of the launches since the last call: a letter each, E for early.
  static std::string early() {
    std::string all;
    for (const fake::Launched& one : launched())
      all += one.ahead ? 'E' : '-';
    return all;
  }
  Program p, other{"other", false};
  std::unique_ptr<Engine> engine = std::make_unique<Engine>(read_settings("early,policy=model"));
};

TEST_F(FrontTest, BehindOneAnother) {
  for (unsigned n = 0; n < 4; ++n)
    launch();
  EXPECT_EQ(early(), "-EEE");
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 4U) << i;
}

TEST_F(FrontTest, OnlyWhereItIsAskedFor) {
  engine = std::make_unique<Engine>(read_settings(""));
  launch();
  launch();
  EXPECT_EQ(early(), "--");
}

TEST_F(FrontTest, EachVariantWithItsEntry) {
  for (const char* policy : {"early,policy=original", "early,policy=x:2"}) {
    engine = std::make_unique<Engine>(read_settings(policy));
    launch();
    launch();
    EXPECT_EQ(early(), "-E") << policy;
  }
  contract::Contract contract = test::contract_of("k");
  contract.variants[0].waits = contract.variants[1].waits = true;
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  for (const char* policy : {"early,policy=x:2", "early,policy=x:4"}) {
    engine = std::make_unique<Engine>(read_settings(policy));
    launch();
    launch();
    EXPECT_EQ(early(), policy[15] == '2' ? "-E" : "--") << policy;
  }
}

// As a trampoline tells it.
TEST_F(FrontTest, NotBehindAnotherCall) {
  launch();
  EXPECT_TRUE(is_waiting());
  engine->flush();
  EXPECT_FALSE(is_waiting());
  launch();
  launch();
  EXPECT_EQ(early(), "--E");
}

TEST_F(FrontTest, NotBehindAKernelThatIsNotKnown) {
  launch();
  launch(stream(1), other);
  launch();
  launch(stream(2), other);
  launch();
  EXPECT_EQ(early(), "----E") << "what another stream does is no matter";
}

TEST_F(FrontTest, EachStreamForItself) {
  for (unsigned n = 0; n < 3; ++n)
    for (const unsigned s : {1U, 2U, 3U})
      launch(stream(s));
  EXPECT_EQ(early(), "---EEEEEE");
}

// Launches of other streams stand in front of one on the legacy default stream, and behind it.
TEST_F(FrontTest, TheLegacyStreamIsInAllStreams) {
  launch(CU_STREAM_LEGACY);
  launch(CU_STREAM_LEGACY);
  launch();
  launch();
  launch(CU_STREAM_LEGACY);
  launch();
  launch(CU_STREAM_LEGACY);
  launch(CU_STREAM_LEGACY);
  EXPECT_EQ(early(), "-E-E---E");
  launch(stream(1), other);
  launch(CU_STREAM_LEGACY);
  EXPECT_EQ(early(), "--");
  launch();
  launch(CU_STREAM_LEGACY, other);
  launch();
  EXPECT_EQ(early(), "---");
}

TEST_F(FrontTest, NotOnTheThreadsOwnStream) {
  launch(CU_STREAM_PER_THREAD);
  launch(CU_STREAM_PER_THREAD);
  EXPECT_EQ(early(), "--");
}

// The program can ask a graph for its edges, and put another kernel behind one.
// From then on launches need not be looked at.
TEST_F(FrontTest, NotWhereCallsAreNotSeen) {
  engine->lose_sight("a library calls the driver");
  const test::Passed passed;
  Request request = other.request();
  EXPECT_EQ(engine->launch(request, passed), CUDA_SUCCESS);
  EXPECT_GT(passed.left, 0U);
  launch();
  launch();
  EXPECT_EQ(early(), "---");
}

TEST_F(FrontTest, NotInACapture) {
  gpu().capturing = true;
  launch();
  launch();
  EXPECT_EQ(early(), "--");
}

TEST_F(FrontTest, NotWhereLaunchesBlock) {
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  engine = std::make_unique<Engine>(read_settings("early"));
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  launch();
  launch();
  EXPECT_EQ(early(), "--");
}

TEST_F(FrontTest, NotBehindALaunchThatFailed) {
  engine = std::make_unique<Engine>(read_settings("early,policy=original"));
  p.kernel.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  Request request = p.request();
  request.stream = stream(1);
  EXPECT_EQ(engine->launch(request, direct), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  p.kernel.result = CUDA_SUCCESS;
  launch();
  EXPECT_EQ(early(), "-");
}

// Nothing is gained where the program waits behind each launch: two of so many are looked at.
TEST_F(FrontTest, LaunchesThatAreAloneGoBy) {
  engine = std::make_unique<Engine>(read_settings("early,policy=original"));
  const test::Passed passed;
  Request request = p.request();
  request.stream = stream(1);
  unsigned looked_at = 0;
  const auto launch_once = [&] {
    if (passed.left != 0 && !is_waiting()) {
      --passed.left;
      return;
    }
    ++looked_at;
    EXPECT_EQ(engine->launch(request, passed), CUDA_SUCCESS);
  };
  for (unsigned n = 0; n < 16 + 660; ++n) {
    launch_once();
    engine->flush();
  }
  EXPECT_EQ(looked_at, 16U + 20) << "the first ones, then two of 66";
  for (unsigned n = 0; n < 64 + 8; ++n)
    launch_once();
  EXPECT_THAT(early(), testing::EndsWith("EEEE")) << "a row is seen again";
}

// And where none begins early any more.
TEST_F(FrontTest, AllGoByOnceItHasStopped) {
  engine = std::make_unique<Engine>(read_settings("early,policy=original"));
  engine->lose_sight("a test");
  const test::Passed passed;
  Request request = p.request();
  request.stream = stream(1);
  unsigned looked_at = 0;
  for (unsigned n = 0; n < 660; ++n) {
    if (passed.left != 0) {
      --passed.left;
      continue;
    }
    ++looked_at;
    EXPECT_EQ(engine->launch(request, passed), CUDA_SUCCESS);
  }
  EXPECT_LT(looked_at, 100U);
}

// Events of our own stand in between.
TEST_F(FrontTest, NotBesideALaunchThatIsTimed) {
  engine = std::make_unique<Engine>(read_settings("early,policy=measure"));
  for (std::uint64_t n = 0; n <= first_trial; ++n)
    launch();
  EXPECT_EQ(early(), '-' + std::string(first_trial - 1, 'E') + '-');
}

TEST_F(FrontTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (unsigned n = 0; n < 200; ++n)
        launch(stream(t));
    });
  for (std::thread& thread : threads)
    thread.join();
  const std::string all = early();
  EXPECT_EQ(all.size(), 16 * 200U);
  EXPECT_EQ(std::ranges::count(all, '-'), 16);
}

} // namespace
} // namespace ptxasw::launch
