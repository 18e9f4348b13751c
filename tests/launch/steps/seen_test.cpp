// Sequences of kernels that a program launches over and over: found, and written down.
#include "fixture.hpp"

#include "image/seen_sequences.hpp"
#include "launch/kernels/passing.hpp"
#include "launch/steps/seen.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace ptxasw::launch {
namespace {

using contract::part;
using test::gpu;

class SeenTest : public test::EngineTest {
protected:
  SeenTest() {
    for (const char* name : {"b", "a", "c"})
      gpu().add(module, name, {8, 8, 4});
  }
  struct Arguments {
    CUdeviceptr first = 0, second = 0;
    int size = 100;
  };
  void launch(const std::string& name, Arguments arguments, unsigned blocks = 4,
              unsigned shared = 0, CUstream to = nullptr) {
    Kernel& kernel = kernels[name];
    kernel.name = name;
    kernel.function = reinterpret_cast<CUfunction>(module.functions[name].get());
    kernel.module =
        name == "c" ? reinterpret_cast<CUmodule>(&other) : reinterpret_cast<CUmodule>(&module);
    void* parameters[] = {&arguments.first, &arguments.second, &arguments.size};
    seen.look(kernel, {kernel.function, {blocks, 1, 1}, {32, 1, 1}, shared, to, parameters});
  }
  void pass(int size = 100) {
    launch("b", {0x1000, 0x2000, size});
    launch("a", {0x2000, 0x1000, size});
  }

  fake::Module& module = gpu().add_module();
  std::map<std::string, Kernel> kernels;
  int other = 0;
  SeenLaunches seen;
};

TEST_F(SeenTest, IsASequenceWithWhatItsStagesHaveInCommon) {
  for (unsigned n = 0; n < 3; ++n)
    pass();
  EXPECT_TRUE(seen.found().empty()) << "not often enough";
  for (unsigned n = 0; n < 5; ++n)
    pass();
  const contract::SeenSequence expected{{"a", "b"},
                                        {{8, {{0, part(0, 0)}, {1, part(1, 0)}}},
                                         {8, {{0, part(1, 0)}, {1, part(0, 0)}}},
                                         {4, {{0, part(2, 0)}, {1, part(2, 0)}}}}};
  EXPECT_THAT(seen.found(), testing::ElementsAre(expected));
}

// Some of the numbers were others, if only once.
TEST_F(SeenTest, SaysWhatVaries) {
  for (int n = 0; n < 3; ++n)
    pass(100);
  pass(101);
  const contract::SeenSequence expected{
      {"a", "b"},
      {{8, {{0, part(0, 0)}, {1, part(1, 0)}}}, {8, {{0, part(1, 0)}, {1, part(0, 0)}}}},
      {{0, part(2, 0)}, {1, part(2, 0)}}};
  EXPECT_THAT(seen.found(), testing::ElementsAre(expected));
}

// One without it, as long as nothing varied, and one with it.
TEST_F(SeenTest, SaysWhatVariesLater) {
  for (int n = 0; n < 50; ++n)
    pass(100);
  ASSERT_EQ(seen.found().size(), 1);
  EXPECT_TRUE(seen.found()[0].varying.empty());
  for (int n = 0; n < 50; ++n)
    pass(101 + n);
  ASSERT_EQ(seen.found().size(), 2);
  EXPECT_THAT(seen.found()[1].varying,
              testing::ElementsAre(contract::Sequence::Part{0, part(2, 0)},
                                   contract::Sequence::Part{1, part(2, 0)}));
}

// Pointers that a program exchanges are the same ones in every other pass: each kernel comes twice.
TEST_F(SeenTest, IsOneOfTwiceAsManyStagesWherePointersMove) {
  for (unsigned n = 0; n < 8; ++n) {
    launch("b", {0x1000, 0x2000});
    launch("a", {0x3000, 0x2000});
    launch("b", {0x2000, 0x1000});
    launch("a", {0x3000, 0x1000});
  }
  const contract::SeenSequence expected{
      {"a", "b", "a", "b"},
      {{8, {{0, part(0, 0)}, {2, part(0, 0)}}},
       {8, {{0, part(1, 0)}, {1, part(0, 0)}, {3, part(1, 0)}}},
       {4, {{0, part(2, 0)}, {1, part(2, 0)}, {2, part(2, 0)}, {3, part(2, 0)}}},
       {8, {{1, part(1, 0)}, {2, part(1, 0)}, {3, part(0, 0)}}}}};
  EXPECT_THAT(seen.found(), testing::ElementsAre(expected));
}

TEST_F(SeenTest, IsOneOfOneKernelOfWhichANumberVaries) {
  for (int n = 0; n < 8; ++n) {
    launch("a", {0x1000, 0x2000, 2 * n});
    launch("a", {0x2000, 0x1000, 2 * n + 1});
  }
  const contract::SeenSequence expected{
      {"a", "a"},
      {{8, {{0, part(0, 0)}, {1, part(1, 0)}}}, {8, {{0, part(1, 0)}, {1, part(0, 0)}}}},
      {{0, part(2, 0)}, {1, part(2, 0)}}};
  EXPECT_THAT(seen.found(), testing::ElementsAre(expected));
}

// Red and black.
TEST_F(SeenTest, IsOneOfOneKernelThatIsToldANumberInTurn) {
  for (int n = 0; n < 16; ++n)
    launch("a", {0x1000, 0x2000, n % 2});
  const contract::SeenSequence expected{
      {"a", "a"},
      {{8, {{0, part(0, 0)}, {1, part(0, 0)}}}, {8, {{0, part(1, 0)}, {1, part(1, 0)}}}},
      {}};
  EXPECT_THAT(seen.found(), testing::ElementsAre(expected));
}

// Kernels with the handles of others that have gone.
TEST_F(SeenTest, IsNoneOfHandlesThatStandForOthers) {
  for (unsigned n = 0; n < 3; ++n)
    pass();
  seen.forget_handles();
  pass();
  EXPECT_TRUE(seen.found().empty());
  for (unsigned n = 0; n < 3; ++n)
    pass();
  EXPECT_EQ(seen.found().size(), 1);
}

TEST_F(SeenTest, IsNoneWhereMoreThanNumbersVaries) {
  gpu().add(module, "wide", {8, 8, 2});
  for (unsigned short n = 0; n < 50; ++n) {
    Kernel& kernel = kernels["wide"];
    kernel.name = "wide";
    kernel.function = reinterpret_cast<CUfunction>(module.functions["wide"].get());
    kernel.module = reinterpret_cast<CUmodule>(&module);
    CUdeviceptr first = 0x1000, second = 0x2000;
    void* parameters[] = {&first, &second, &n};
    seen.look(kernel, {kernel.function, {4, 1, 1}, {32, 1, 1}, 0, nullptr, parameters});
    launch("b", {0x2000, 0x1000});
  }
  EXPECT_TRUE(seen.found().empty());
}

TEST_F(SeenTest, IsNoneOfOneKernel) {
  for (unsigned n = 0; n < 50; ++n)
    launch("a", {0x1000, 0x2000});
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000});
    launch("a", {0x2000, 0x1000});
  }
  EXPECT_TRUE(seen.found().empty());
}

TEST_F(SeenTest, IsNoneOfTwoModules) {
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000});
    launch("c", {0x2000, 0x1000});
  }
  EXPECT_TRUE(seen.found().empty());
}

TEST_F(SeenTest, IsNoneOfOtherBlocksOrStreams) {
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000}, 4 + n);
    launch("b", {0x2000, 0x1000});
  }
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000});
    launch("b", {0x2000, 0x1000}, 4, 0, reinterpret_cast<CUstream>(&other));
  }
  EXPECT_TRUE(seen.found().empty());
}

// How its tile lies follows from the shape of its blocks.
TEST_F(SeenTest, IsTheShapeOfBlocksWithDynamicSharedMemory) {
  const contract::SeenSequence of_a{
      .kernels = {"a"}, .classes = {}, .varying = {}, .block = {{32, 1, 1}}};
  launch("a", {0x1000, 0x2000}, 4, 16);
  launch("a", {0x1000, 0x2000}, 4, 16);
  EXPECT_TRUE(seen.found().empty()) << "not often enough";
  for (unsigned n = 0; n < 8; ++n)
    launch("a", {0x1000, 0x2000}, 4, 16);
  EXPECT_THAT(seen.found(), testing::ElementsAre(of_a));
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000}, 4, 16);
    launch("a", {0x2000, 0x1000}, 4, 16);
  }
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000}, 4, 16);
    launch("b", {0x2000, 0x1000});
  }
  EXPECT_THAT(seen.found(), testing::ElementsAre(of_a)) << "which belongs to no sequence";
}

TEST_F(SeenTest, IsNoneOfOtherSizesOfSharedMemory) {
  for (unsigned n = 0; n < 50; ++n)
    launch("a", {0x1000, 0x2000}, 4, 16 * n);
  EXPECT_TRUE(seen.found().empty());
}

// One program may have many, but not any number.
TEST_F(SeenTest, SoManyAtMost) {
  for (unsigned blocks = 1; blocks <= 40; ++blocks) {
    gpu().add(module, "k" + std::to_string(blocks), {8, 8, 4});
    for (unsigned n = 0; n < 10; ++n) {
      launch("k" + std::to_string(blocks), {0x1000, 0x2000});
      launch("a", {0x2000, 0x1000});
    }
  }
  EXPECT_EQ(seen.found().size(), 32);
}

TEST_F(SeenTest, IsLookedForBehindTheFirstLaunchOfAKernel) {
  launch("a", {0x1000, 0x2000});
  launch("c", {0x1000, 0x2000});
  for (unsigned n = 0; seen.is_looking(); ++n)
    launch("a", {0x1000 + n, 0x2000});
  for (unsigned n = 0; n < 50; ++n) {
    launch("a", {0x1000, 0x2000});
    launch("c", {0x2000, 0x1000});
  }
  EXPECT_TRUE(seen.found().empty());
  const std::uint64_t before = passing_epoch();
  for (unsigned n = 0; n < 50; ++n)
    pass();
  EXPECT_EQ(seen.found().size(), 1);
  EXPECT_EQ(passing_epoch(), before + 1) << "what went by is looked at, too";
}

// One that was prepared as a step: only others can be missing, and these are new.
TEST_F(SeenTest, IsLookedForShortlyBehindAKnownStep) {
  kernels["a"].contract.steps.emplace_back();
  unsigned looked_at = 0;
  for (launch("a", {0x1000, 0x2000}); seen.is_looking(); ++looked_at)
    launch("a", {0x1000, 0x2000});
  EXPECT_LT(looked_at, 100U);
  for (unsigned n = 0; n < 20; ++n)
    pass();
  EXPECT_EQ(seen.found().size(), 1);
}

// Of all kernels together.
TEST_F(SeenTest, IsNotLookedForForEver) {
  unsigned looked_at = 0;
  for (unsigned n = 0; n < 100; ++n) {
    kernels.clear(); // all are new again
    for (launch("a", {0x1000 + n, 0x2000}); seen.is_looking(); ++looked_at)
      launch("a", {0x1000 + n, 0x2000});
  }
  EXPECT_LT(looked_at, 20000U);
  kernels.clear();
  for (unsigned n = 0; n < 50; ++n)
    pass();
  EXPECT_TRUE(seen.found().empty());
}

TEST(SeenFile, HasWhatIsNew) {
  const std::string folder = testing::TempDir() + "seen_sequences/below";
  std::filesystem::remove_all(folder);
  const auto named = [](const std::string& name) {
    return contract::SeenSequence{{name, "b"}, {{8, {{0, part(0, 0)}, {1, part(1, 0)}}}}};
  };
  EXPECT_TRUE(image::seen_in(folder).empty());
  EXPECT_TRUE(image::add_seen(folder, {named("a"), named("a")}));
  EXPECT_THAT(image::seen_in(folder), testing::ElementsAre(named("a")));
  EXPECT_TRUE(image::add_seen(folder, {named("a"), named("c")}));
  EXPECT_THAT(image::seen_in(folder), testing::ElementsAre(named("a"), named("c")));
  const std::uint64_t both = image::hash_of(image::seen_in(folder), {{"a"}, {"b"}, {"c"}});
  EXPECT_NE(both, 0);
  EXPECT_NE(image::hash_of(image::seen_in(folder), {{"a"}, {"b"}}), both);
  EXPECT_EQ(image::hash_of(image::seen_in(folder), {{"a"}, {"c"}}), 0) << "b is not there";
  for (unsigned n = 0; n < image::most_seen; ++n)
    EXPECT_TRUE(image::add_seen(folder, {named("k" + std::to_string(n))}));
  EXPECT_EQ(image::seen_in(folder).size(), image::most_seen);
  EXPECT_EQ(image::seen_in(folder)[0], named("k0")) << "the oldest went";
  std::ofstream(folder + "/sequences.json") << "nothing";
  EXPECT_TRUE(image::seen_in(folder).empty());
  EXPECT_TRUE(image::add_seen(folder, {named("a")}));
  EXPECT_EQ(image::seen_in(folder).size(), 1);
}

} // namespace
} // namespace ptxasw::launch
