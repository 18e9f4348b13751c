// Passes through a sequence of several kernels that must not be merged, or are not worth it.
#include "passes_case.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::PassesTest;
using test::points;
using testing::Each;
using testing::HasSubstr;

TEST_F(PassesTest, OnlyWhereItIsAskedFor) {
  for (const char* settings : {"", "batch", "steps,check", "early"}) {
    begin(settings);
    EXPECT_THAT(learnt_pass("sh", 6), Each(testing::AnyOf('s', 'h'))) << settings;
  }
}

TEST_F(PassesTest, NotOfOtherParameters) {
  begin();
  learn("sh", 6);
  const unsigned less = points - 1;
  launch_all("sh", 2);
  size = less;
  launch_all("sh", 2);
  size = points;
  launch_all("sh", 2);
  other_call();
  EXPECT_EQ(how(), "111111") << "each two that are the same";
  EXPECT_EQ(pass("sh", 6), "33");
  size = less;
  launch_all("s");
  size = points;
  launch_all("h");
  launch_all("sh", 5);
  other_call();
  EXPECT_EQ(how(), "sh32");
  for (unsigned t = 0; t < 6; ++t) {
    size = points - 1 - t % 2;
    launch('s');
    size = points;
    launch('h');
  }
  other_call();
  EXPECT_EQ(how(), "shshshshshsh");
}

TEST_F(PassesTest, NotOfOtherGrids) {
  begin();
  learn("sh", 6);
  launch_all("sh", 3);
  launch('s', 5);
  other_call();
  EXPECT_EQ(how(), "21s");
}

TEST_F(PassesTest, NotOfArraysThatOverlap) {
  begin();
  const CUdeviceptr before = u;
  u = v + 4;
  for (unsigned t = 0; t < 24; ++t) {
    launch_all("sh", 6);
    engine->flush();
    engine->merger()->settle();
  }
  EXPECT_THAT(how(), Each(testing::AnyOf('s', 'h')));
  u = before;
}

TEST_F(PassesTest, NotWithoutMemory) {
  gpu().room = 2 * 4 * points;
  begin();
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
  gpu().room = std::size_t{1} << 30;
  for (unsigned t = 0; t < 3; ++t)
    learn("sh", 6);
  EXPECT_EQ(pass("sh", 6), "33") << "a while later";
}

TEST_F(PassesTest, NotOfManagedMemory) {
  gpu().managed = true;
  begin();
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
  gpu().managed = false;
  for (unsigned t = 0; t < 3; ++t)
    learn("sh", 6);
  EXPECT_EQ(pass("sh", 6), "33");
  gpu().managed = true;
  engine->flush();
  EXPECT_EQ(pass("sh", 6), "shshshshshsh") << "the address may be another allocation's";
}

TEST_F(PassesTest, NotWithDynamicSharedMemory) {
  shared = 16;
  begin();
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
}

TEST_F(PassesTest, NotOfAnotherModulesKernel) {
  begin();
  auto& other = gpu().add_module();
  other.functions["h"] = std::move(module.functions["h"]);
  other.functions["h"]->module = &other;
  module.functions.erase("h");
  const auto launch_both = [&] {
    for (unsigned t = 0; t < 6; ++t) {
      launch('s');
      std::swap(other.functions["h"], module.functions["h"]);
      module.functions["h"]->module = &other;
      launch('h');
      std::swap(other.functions["h"], module.functions["h"]);
    }
    other_call();
  };
  for (unsigned t = 0; t < 20; ++t) {
    launch_both();
    engine->merger()->settle();
  }
  EXPECT_THAT(how(), Each(testing::AnyOf('s', 'h')));
  module.functions.erase("h");
}

TEST_F(PassesTest, NotByAnEntryThatIsMissingOrDoesNotLaunch) {
  begin();
  module.functions.at("sh_passes")->result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
  engine.reset();
  module.functions.at("sh_passes")->result = CUDA_SUCCESS;
  module.functions.at("sh_passes")->most_threads = 31;
  begin();
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
  engine.reset();
  module.functions.erase("sh_passes");
  begin();
  EXPECT_EQ(learnt_pass("sh", 6), "shshshshshsh");
}

// The first one of a pair has changed nothing of the program's.
TEST_F(PassesTest, TheSecondEntryOfAPairFails) {
  begin();
  learn("sh", 6);
  auto& entry = *module.functions.at("sh_passes");
  const auto run = entry.run;
  entry.run = [&](const fake::Launched& launch) {
    run(launch);
    entry.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  };
  EXPECT_EQ(pass("sh", 6), "3shshshshshsh");
  EXPECT_EQ(pass("sh", 6), "shshshshshsh") << "and not again for a while";
}

TEST_F(PassesTest, NotWhereTheyAreNoFaster) {
  module.functions.at("sh_passes")->milliseconds = 6;
  begin();
  repeat("sh", 6);
  EXPECT_THAT(how(), HasSubstr("33")) << "it was tried";
  EXPECT_EQ(pass("sh", 6), "shshshshshsh");
}

TEST_F(PassesTest, NotInACapture) {
  begin();
  learn("sh", 6);
  gpu().capturing = true;
  engine->flush();
  EXPECT_EQ(pass("sh", 6), "shshshshshsh");
}

} // namespace
} // namespace ptxasw::launch
