// Launches that go through as they came are remembered, and those that may not be are not.
#include "fixture.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::launched;
using test::Program;

class Passing : public EngineTest {
protected:
  // Did the last of some launches touch nothing but what is remembered?
  static bool passes(Engine& engine, const Request& request) {
    engine.launch(request, direct);
    engine.launch(request, direct);
    const unsigned before = gpu().calls["cuCtxGetCurrent"];
    EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
    return gpu().calls["cuCtxGetCurrent"] == before;
  }
};

TEST_F(Passing, KernelsWithoutAContractAndOriginals) {
  Program without("other", false), with;
  Engine engine(read_settings("policy=original"));
  EXPECT_TRUE(passes(engine, without.request()));
  EXPECT_TRUE(passes(engine, with.request()));
}

TEST_F(Passing, VariantsDoNot) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  EXPECT_FALSE(passes(engine, p.request()));
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4");
}

TEST_F(Passing, NeitherDoesWhatIsCountedCheckedOrPutOff) {
  for (const std::string settings : {"report=/dev/null", "check", "steps"}) {
    Program p;
    Engine engine(read_settings("policy=original," + settings));
    EXPECT_FALSE(passes(engine, p.request())) << settings;
  }
}

TEST_F(Passing, NorWhatIsNotDecidedYet) {
  Program p;
  Engine engine(read_settings("policy=measure"));
  EXPECT_FALSE(passes(engine, p.request(51)));
}

// A launch that differs in one thing is looked at anew.
TEST_F(Passing, OnlyTheLaunchItself) {
  Program p;
  gpu().threads = 10; // so that the model takes variants of large launches
  Engine engine(read_settings("policy=model"));
  const auto entry_of = [&](const Request& request) {
    engine.launch(request, direct);
    return launched().back().entry;
  };
  ASSERT_TRUE(passes(engine, p.request(1, 100)));
  for (unsigned blocks = 2; blocks < 70; ++blocks) {
    Engine fresh(read_settings("policy=model"));
    fresh.launch(p.request(blocks, 100), direct);
    EXPECT_EQ(entry_of(p.request(blocks, 100)), launched().front().entry) << blocks;
  }
  EXPECT_NE(entry_of(p.request(50, 100)), "k");
}

TEST_F(Passing, OnlyTheVeryShape) {
  Program p, other("other");
  Engine engine(read_settings("policy=original"));
  const Request known = p.request();
  const auto is_looked_at = [&](const auto& change) {
    EXPECT_TRUE(passes(engine, known));
    Request request = known;
    change(request);
    const unsigned before = gpu().calls["cuCtxGetCurrent"];
    engine.launch(request, direct);
    return gpu().calls["cuCtxGetCurrent"] != before;
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    EXPECT_TRUE(is_looked_at([&](Request& r) { ++r.grid[axis]; })) << axis;
    EXPECT_TRUE(is_looked_at([&](Request& r) { ++r.block[axis]; })) << axis;
  }
  EXPECT_TRUE(is_looked_at([](Request& r) { r.shared = 16; }));
  EXPECT_TRUE(is_looked_at([&](Request& r) { r.function = other.function(); }));
}

// The handle may be another kernel's by then.
TEST_F(Passing, NothingBehindAModuleThatGoes) {
  Program p;
  Engine engine(read_settings("policy=original"));
  ASSERT_TRUE(passes(engine, p.request()));
  const unsigned before = gpu().calls["cuCtxGetCurrent"];
  engine.forget_handles();
  engine.launch(p.request(), direct);
  EXPECT_GT(gpu().calls["cuCtxGetCurrent"], before);
}

} // namespace
} // namespace ptxasw::launch
