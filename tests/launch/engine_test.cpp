// What becomes of launches, with a driver that records them.
#include "program.hpp"

#include "launch/model.hpp"
#include "launch/report.hpp"
#include "launch/sampler.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <thread>

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::launched;
using test::Program;
using testing::ElementsAre;
using testing::HasSubstr;

using test::direct;

class EngineTest : public testing::Test {
protected:
  void TearDown() override {
    gpu().capturing = false;
    gpu().events_done = true;
    gpu().modules.clear();
    gpu().kernels.clear();
    gpu().threads = usual_threads;
  }
  const int usual_threads = gpu().threads;
};

TEST_F(EngineTest, LaunchesWhatTheModelPrefers) {
  Program p;
  Engine engine(read_settings(""));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_THAT(all[0].grid, ElementsAre(13, 1, 1));
  EXPECT_THAT(all[0].block, ElementsAre(100, 1, 1));
  ASSERT_EQ(all[0].parameters.size(), 3U);
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[1]), 5000U);
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[2], 0), 50U);
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[2], 1), 1U);
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 1U) << i;
}

TEST_F(EngineTest, SmallLaunchesStayAsTheyAre) {
  Program p;
  Engine engine(read_settings(""));
  engine.launch(p.request(2), direct);  // a quarter of a wave
  engine.launch(p.request(14), direct); // the 7 blocks of x:2 are less than two for each of 4
  engine.launch(p.request(16), direct); // two waves, and x:4 leaves 4 blocks
  engine.launch(p.request(32), direct);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k");
  EXPECT_THAT(all[0].grid, ElementsAre(2, 1, 1));
  EXPECT_EQ(all[1].entry, "k");
  EXPECT_EQ(all[2].entry, "k__ptxasw_x2");
  EXPECT_EQ(all[3].entry, "k__ptxasw_x4");
}

// The entry of the kernel's own name merges blocks of large launches by itself. Small ones it asks
// for their size, and the kernel as it was does not.
TEST_F(EngineTest, SmallLaunchesAreNotAsked) {
  Program p;
  contract::Contract contract = test::contract_of("k");
  contract.variants[0] = {.entry = "k",
                          .name = "standard",
                          .kind = contract::Kind::rewritten,
                          .gains = {{64, {0.985, 0.985, 0.985, 1, 1, 1, 1, 1, 1}}}};
  contract.variants.push_back({.entry = "k__ptxasw_original",
                               .name = "original",
                               .gains = {{64, {1, 1, 1, 0, 0, 0, 0, 0, 0}}}});
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  gpu().add(p.module, "k__ptxasw_original", {8, 4});
  Engine engine(read_settings(""));
  const auto entry_of = [&](unsigned blocks) {
    engine.launch(p.request(blocks), direct);
    return launched().back().entry;
  };
  EXPECT_EQ(entry_of(2), "k__ptxasw_original");
  EXPECT_EQ(entry_of(16), "k__ptxasw_x2") << "which gains more than it takes";
  EXPECT_EQ(entry_of(14), "k") << "large enough, and too few blocks for the others";
}

// One block along x: there is nothing to be merged along x.
TEST_F(EngineTest, MergedBlocksThatWouldBeEmptyDoNotCount) {
  Program p;
  Engine engine(read_settings(""));
  Request tall = p.request();
  tall.grid = {1, 1000, 1};
  engine.launch(tall, direct);
  tall.grid = {5, 1000, 1}; // of the 8 copies of x:4 5 have something to do
  engine.launch(tall, direct);
  tall.grid = {15, 1000, 1};
  engine.launch(tall, direct);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k");
  EXPECT_EQ(all[1].entry, "k");
  EXPECT_EQ(all[2].entry, "k__ptxasw_x4");
}

// Eight copies have to promise more than four do.
TEST_F(EngineTest, FewerCopiesWhereManyPromiseLittleMore) {
  const auto picked = [](double eight) {
    Program p;
    contract::Contract contract = test::contract_of("k");
    contract.variants[1].divide = {8, 1, 1};
    contract.variants[1].gains = {{64, {1, 1, 1, eight, eight, eight, eight, eight, eight}}};
    p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
    Engine engine(read_settings(""));
    engine.launch(p.request(80), direct);
    return launched().back().entry;
  };
  EXPECT_EQ(picked(1.55), "k__ptxasw_x4"); // which promises 1.5
  EXPECT_EQ(picked(1.65), "k__ptxasw_x2");
}

// Of a kernel and an entry with two copies along an axis: what a launch of 72 blocks runs.
const std::string merged = "k__ptxasw_x2";
std::string picked_of_two(double gain, Dims block, unsigned axis,
                          contract::Rest rest = contract::Rest::hangs_over) {
  Program p;
  contract::Contract contract = test::contract_of("k");
  contract.variants.pop_back();
  contract.variants[1].divide = {1, 1, 1};
  contract.variants[1].divide.at(axis) = 2;
  contract.variants[1].rest = rest;
  contract.variants[1].gains = {{64, {1, 1, gain, gain, gain, gain, gain, gain, gain}}};
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  Engine engine(read_settings(""));
  Request request = p.request();
  request.grid = {2, 6, 6};
  request.block = block;
  engine.launch(request, direct);
  return launched().back().entry;
}

// A warp of a block that is 16 threads wide has two rows already, and none above each other.
TEST_F(EngineTest, RowsThatAWarpHasAlreadyGainLess) {
  EXPECT_EQ(picked_of_two(1.1, {32, 4, 1}, 1), merged);
  EXPECT_EQ(picked_of_two(1.1, {16, 8, 1}, 1), "k") << "which counts as 1.04";
  EXPECT_EQ(picked_of_two(1.1, {16, 8, 1}, 0), "k");
  EXPECT_EQ(picked_of_two(1.1, {16, 8, 1}, 2), merged);
  EXPECT_EQ(picked_of_two(1.3, {16, 8, 1}, 1), merged);
  EXPECT_EQ(picked_of_two(1.1, {16, 8, 1}, 1, contract::Rest::by_itself), merged)
      << "threads that meet";
}

// Eight rows of a block have most of what they load in common without being merged.
TEST_F(EngineTest, SmallLaunchesOfBlocksOfManyRowsHaveToGainAsMuchAsLargeOnes) {
  gpu().threads = 2048; // so that the launches are of one or two waves
  EXPECT_EQ(picked_of_two(1.07, {32, 4, 1}, 1), merged);
  EXPECT_EQ(picked_of_two(1.07, {32, 8, 1}, 1), "k");
  EXPECT_EQ(picked_of_two(1.07, {32, 1, 8}, 2), "k");
  EXPECT_EQ(picked_of_two(1.07, {32, 8, 1}, 2), merged) << "rows along another axis";
  EXPECT_EQ(picked_of_two(1.09, {32, 8, 1}, 1), merged);
  EXPECT_EQ(picked_of_two(1.07, {32, 8, 1}, 1, contract::Rest::by_itself), merged)
      << "threads that meet";
}

// Its lanes run along the slow axis, and those of the other entry would run along the fast one.
struct WithSwappedThreads : Program {
  WithSwappedThreads() { write({.count = 9, .along = {contract::far_apart, 4, 0}}); }
  void write(const contract::Access& access) {
    contract::Contract contract = test::contract_of("k");
    contract.accesses = {access};
    contract.variants = {contract.variants[0],
                         {.entry = "k__ptxasw_thread_swap8",
                          .name = "thread-swap:8",
                          .kind = contract::Kind::remapped,
                          .rows = {8, 1}}};
    module.globals[contract::symbol_of("k")] = contract::encode(contract);
  }
  std::string entry_of(const Dims& grid, const Dims& block) {
    Engine engine(read_settings(""));
    Request request = this->request();
    request.grid = grid;
    request.block = block;
    engine.launch(request, direct);
    return launched().back().entry;
  }
  fake::Function& swapped = gpu().add(module, "k__ptxasw_thread_swap8", {8, 4});
};

TEST_F(EngineTest, ThreadsAreSwappedWhereThatSavesSectors) {
  WithSwappedThreads p;
  const std::string swap = "k__ptxasw_thread_swap8";
  EXPECT_EQ(p.entry_of({4, 100, 1}, {128, 1, 1}), swap);
  EXPECT_EQ(p.entry_of({4, 20, 1}, {32, 8, 1}), swap);
  EXPECT_EQ(p.entry_of({400, 1, 1}, {128, 1, 1}), "k") << "one row: nothing changes";
  EXPECT_EQ(p.entry_of({4, 100, 1}, {2, 64, 1}), "k") << "a warp has 16 rows as it is";
  EXPECT_EQ(p.entry_of({1, 8, 1}, {4, 1, 1}), "k") << "a launch that is over at once";
  p.write({.count = 9, .along = {4, contract::far_apart, 0}});
  EXPECT_EQ(p.entry_of({4, 100, 1}, {128, 1, 1}), "k") << "each warp would fetch more";
}

// Without the original grid a kernel cannot leave out what hangs over.
TEST_F(EngineTest, WholeGroupsOnly) {
  Program p;
  contract::Contract contract = test::contract_of("k");
  contract.variants[2].rest = contract::Rest::none;
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  gpu().add(p.module, "k__ptxasw_x4", {8, 4});
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(48), direct);
  engine.launch(p.request(50), direct);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(all[0].parameters.size(), 2U);
  EXPECT_THAT(all[0].grid, ElementsAre(12, 1, 1));
  EXPECT_EQ(all[1].entry, "k");
}

// Behind the groups follow the blocks that fill none, and each of them counts as it is.
TEST_F(EngineTest, BlocksBehindTheGroups) {
  Program p;
  contract::Contract contract = test::contract_of("k");
  contract.variants[2].rest = contract::Rest::by_itself;
  p.module.globals[contract::symbol_of("k")] = contract::encode(contract);
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(51), direct);
  engine.launch(p.request(3), direct);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_THAT(all[0].grid, ElementsAre(12 + 3, 1, 1));
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[2]), 51U);
  EXPECT_THAT(all[1].grid, ElementsAre(3, 1, 1));
  Engine by_model(read_settings(""));
  by_model.launch(p.request(3), direct); // nothing to be merged
  EXPECT_EQ(launched()[0].entry, "k");
}

// The parameters of Program's kernel as cuLaunchKernel's `extra` has them.
struct InABuffer {
  struct {
    CUdeviceptr pointer;
    unsigned n;
  } values;
  std::size_t size = 12;
  void* extra[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &values, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
  Request of(Request request) {
    request.parameters = nullptr;
    request.extra = extra;
    return request;
  }
};

// Its entry knows from its last parameter what the program asked for.
struct InOtherBlocks : Program {
  InOtherBlocks() {
    contract::Contract contract = test::contract_of("k");
    for (const unsigned threads : {256U, 1024U})
      contract.variants.push_back({.entry = "k__ptxasw_reshaped",
                                   .name = "block:" + std::to_string(threads),
                                   .kind = contract::Kind::reshaped,
                                   .rest = contract::Rest::reshaped,
                                   .block = {threads, 0, 0}});
    module.globals[contract::symbol_of("k")] = contract::encode(contract);
    reshaped.run = [](const fake::Launched& launched) {
      const auto original = test::value_of<contract::OriginalShape>(launched.parameters[2]);
      auto* const numbers =
          reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(launched.parameters[0]));
      const auto count = test::value_of<unsigned>(launched.parameters[1]);
      for (unsigned i = 0; i < launched.grid[0] * launched.block[0]; ++i)
        if (i < original.threads[0] && i < count) ++numbers[i];
    };
  }
  fake::Function& reshaped = gpu().add(module, "k__ptxasw_reshaped", {8, 4, 60});
};

TEST_F(EngineTest, BlocksOfAnotherShape) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:256"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all[0].grid, ElementsAre(20, 1, 1));
  EXPECT_THAT(all[0].block, ElementsAre(256, 1, 1));
  const auto original = test::value_of<contract::OriginalShape>(all[0].parameters[2]);
  EXPECT_THAT(original.blocks, ElementsAre(50, 1, 1));
  EXPECT_THAT(original.block, ElementsAre(100, 1, 1));
  EXPECT_THAT(original.threads, ElementsAre(5000, 1, 1));
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 1U) << i;
}

TEST_F(EngineTest, BlocksStayAsTheyAre) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:256"));
  const auto entry_of = [&](const Request& request) {
    engine.launch(request, direct);
    return launched().back().entry;
  };
  EXPECT_EQ(entry_of(p.request(20, 256)), "k") << "it is that shape";
  EXPECT_EQ(entry_of(p.request(2, 100)), "k") << "fewer threads than in one such block";
  EXPECT_EQ(entry_of(p.request(1U << 24, 128)), "k") << "too many threads";
  Request request = p.request();
  request.shared = 64;
  EXPECT_EQ(entry_of(request), "k") << "dynamic shared memory";
  request = p.request();
  request.grid = {25, 2, 1};
  EXPECT_EQ(entry_of(request), "k") << "the kernel does not read indices along y";
  p.reshaped.most_threads = 128;
  engine.forget_handles();
  EXPECT_EQ(entry_of(p.request(51)), "k") << "blocks of 256 do not launch";
  Engine by_model(read_settings(""));
  p.reshaped.most_threads = 1024;
  by_model.launch(p.request(40), direct);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4") << "the model does not try shapes";
}

TEST_F(EngineTest, BlocksOfAnotherShapeInABuffer) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:1024"));
  InABuffer parameters{{p.pointer, 4999}};
  const Request request = parameters.of(p.request(50));
  EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all[0].grid, ElementsAre(5, 1, 1));
  EXPECT_THAT(test::value_of<contract::OriginalShape>(all[0].parameters[2]).threads,
              ElementsAre(5000, 1, 1));
}

TEST_F(EngineTest, HandlesOfTheRuntimeAreKernels) {
  Program p;
  Engine engine(read_settings("policy=x:2"));
  Request request = p.request();
  request.function = gpu().kernel_of(p.kernel);
  engine.launch(request, direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
}

TEST_F(EngineTest, ParametersInABuffer) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  InABuffer parameters{{p.pointer, 4999}};
  const Request request = parameters.of(p.request(7));
  EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[1]), 4999U);
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[2]), 7U);

  parameters.size = 8; // too few: the driver's business
  engine.launch(request, direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, KernelsWithoutContractGoThrough) {
  Program p("k", false);
  Engine engine(read_settings("policy=x:4,report"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
  Request request = p.request();
  request.function = reinterpret_cast<CUfunction>(0x1234);
  EXPECT_EQ(engine.launch(request, direct), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EngineTest, DamagedContractsAreRefused) {
  std::mt19937 random(7);
  for (unsigned n = 0; n < 300; ++n) {
    Program p("k" + std::to_string(n));
    std::string& bytes = p.module.globals.begin()->second;
    if (n % 2 == 0)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    else
      bytes.resize(random() % bytes.size());
    Engine engine(read_settings("policy=x:4"));
    EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
    EXPECT_EQ(launched()[0].entry, "k" + std::to_string(n));
  }
}

TEST_F(EngineTest, AContractOfAnotherKernelIsRefused) {
  Program p;
  p.module.globals[contract::symbol_of("k")] = contract::encode(test::contract_of("other"));
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, EntriesThatTheModuleHasNotAreLeftOut) {
  Program p;
  p.module.functions.erase("k__ptxasw_x4");
  Engine engine(read_settings(""));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
}

TEST_F(EngineTest, WhatDoesNotLaunchEndsInTheOriginal) {
  Program p;
  p.four.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  Engine engine(read_settings("policy=x:4"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].entry, "k");
  EXPECT_EQ(all[1].entry, "k");
}

TEST_F(EngineTest, BlocksTooLargeForAVariantLaunchTheOriginal) {
  Program p;
  p.four.most_threads = 64;
  Engine engine(read_settings("policy=x:4"));
  const unsigned before = gpu().calls["cuLaunchKernel"];
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
  EXPECT_EQ(gpu().calls["cuLaunchKernel"] - before, 1U) << "and x:4 was not even tried";
}

// The program's own mistakes come back as they would.
TEST_F(EngineTest, ErrorsAreTheProgramsOwn) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  EXPECT_EQ(engine.launch(p.request(0), direct), CUDA_ERROR_INVALID_VALUE);
  p.kernel.most_threads = 64; // the variants would take it
  Engine again(read_settings("policy=x:4"));
  EXPECT_EQ(again.launch(p.request(), direct), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  p.kernel.most_threads = 1024;
  Engine third(read_settings("policy=x:4"));
  Request tall = p.request();
  tall.grid = {1, 70000, 1};
  third.launch(tall, direct);
  EXPECT_EQ(launched().back().entry, "k");
}

TEST_F(EngineTest, HandlesAreForgotten) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
  p.module.globals.clear();
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
  engine.forget_handles();
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, CapturesAreNotDisturbed) {
  Program p;
  gpu().capturing = true;
  gpu().copied_in_strict_mode = false;
  Engine engine(read_settings("policy=measure,report,check"));
  const unsigned before = gpu().calls["cuEventCreate"];
  for (unsigned n = 0; n < 20; ++n)
    engine.launch(p.request(), direct);
  EXPECT_FALSE(gpu().copied_in_strict_mode);
  EXPECT_EQ(gpu().mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(gpu().calls["cuEventCreate"], before);
  EXPECT_EQ(launched().size(), 20U);
}

// --- measure ---------------------------------------------------------------------------------

class MeasureTest : public EngineTest {
protected:
  void SetUp() override {
    folder =
        std::filesystem::temp_directory_path() / ("ptxasw-launch-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    EngineTest::TearDown();
  }
  std::filesystem::path folder;
};

TEST_F(MeasureTest, KeepsTheFastest) {
  Program p;
  const unsigned before = gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"];
  p.kernel.milliseconds = 3;
  p.two.milliseconds = 1;
  p.four.milliseconds = 2;
  {
    Engine engine(read_settings("policy=measure"));
    for (unsigned n = 0; n < 40; ++n)
      engine.launch(p.request(), direct);
    const auto all = launched();
    EXPECT_EQ(all[0].entry, "k");
    EXPECT_EQ(all[1].entry, "k__ptxasw_x2");
    EXPECT_EQ(all[2].entry, "k__ptxasw_x4");
    for (unsigned n = 20; n < 40; ++n)
      EXPECT_EQ(all[n].entry, "k__ptxasw_x2") << n;
  }
  Engine next(read_settings("policy=measure"));
  next.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
  next.launch(p.request(49), direct); // another shape
  EXPECT_EQ(launched()[0].entry, "k");
  EXPECT_EQ(gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"] - before, 2U);
}

TEST_F(MeasureTest, AGainThatIsNoiseIsNone) {
  Program p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 0.99;
  p.four.milliseconds = 1.1;
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 30; ++n)
    engine.launch(p.request(), direct);
  EXPECT_EQ(launched().back().entry, "k");
}

// What the model prefers is as good a guess where nothing was found to be better.
TEST_F(MeasureTest, WithinNoiseTheModelDecides) {
  Program p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 0.98;
  p.four.milliseconds = 0.99; // the model's choice for this launch
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 30; ++n)
    engine.launch(p.request(), direct);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4");
}

// Events tell times to a fraction of a microsecond.
TEST_F(MeasureTest, ShortLaunchesAreTriedOften) {
  Program p;
  p.kernel.milliseconds = 0.003;
  p.two.milliseconds = 0.0028;
  p.four.milliseconds = 0.0031;
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 60; ++n)
    engine.launch(p.request(), direct);
  const auto all = launched();
  EXPECT_EQ(std::ranges::count(std::span(all).first(48), "k__ptxasw_x2", &fake::Launched::entry),
            16);
  EXPECT_EQ(all.back().entry, "k");
}

// Of short launches an event may tell anything: the variant had luck a few times.
TEST_F(MeasureTest, LuckIsNoGain) {
  Program p;
  unsigned tries = 0;
  p.kernel.milliseconds = 0.0068;
  p.four.milliseconds = 0.009;
  p.two.run = [&](const fake::Launched& l) {
    test::add_one(l, 2);
    p.two.milliseconds = ++tries % 5 == 0 ? 0.006 : 0.0082;
  };
  Engine engine(read_settings("policy=measure"));
  for (const unsigned blocks : {14, 18}) { // the model prefers x:2 of the larger one
    for (unsigned n = 0; n < 200; ++n)
      engine.launch(p.request(blocks), direct);
    EXPECT_EQ(launched().back().entry, "k") << blocks;
  }
}

// What is to replace the original in short launches has to be faster once more, in turn with it.
TEST_F(MeasureTest, ShortLaunchesAreTimedInPairs) {
  Program p;
  p.kernel.milliseconds = 0.0068;
  p.two.milliseconds = 0.0055;
  p.four.milliseconds = 0.007;
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 140; ++n)
    engine.launch(p.request(14), direct);
  const auto all = launched();
  EXPECT_EQ(std::ranges::count(all, "k", &fake::Launched::entry), 16 + 24);
  EXPECT_EQ(all.back().entry, "k__ptxasw_x2");
}

// What runs far behind the others is not tried to the end.
TEST_F(MeasureTest, HopelessVariantsAreTriedSeldom) {
  InOtherBlocks p;
  p.kernel.milliseconds = 1;
  p.two.milliseconds = 3;
  p.four.milliseconds = 1.1;
  p.reshaped.milliseconds = 0.5;
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 40; ++n)
    engine.launch(p.request(), direct);
  const auto all = launched();
  EXPECT_LE(std::ranges::count(all, "k__ptxasw_x2", &fake::Launched::entry), 4);
  EXPECT_EQ(all.back().entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all.back().block, ElementsAre(256, 1, 1));
}

TEST_F(MeasureTest, NeverWaits) {
  Program p;
  gpu().events_done = false;
  const unsigned before = gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"];
  Engine engine(read_settings("policy=measure"));
  for (unsigned n = 0; n < 100; ++n)
    engine.launch(p.request(), direct);
  EXPECT_EQ(launched().size(), 100U);
  EXPECT_LE(gpu().calls["cuEventCreate"] - gpu().calls["cuEventDestroy"] - before, 32U);
}

TEST_F(MeasureTest, ADamagedFileIsNoMistake) {
  Program p;
  std::filesystem::create_directories(folder / "ptxasw");
  std::FILE* file = std::fopen((folder / "ptxasw/launches").c_str(), "w");
  std::fputs("17\tFake GPU\t50x1x1\t100x1x1\t0\tx:9\n\t\n\x01\n17", file);
  std::fclose(file);
  Engine engine(read_settings("policy=measure"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(launched()[0].entry, "k");
}

// --- check -----------------------------------------------------------------------------------

TEST_F(EngineTest, ChecksEveryVariant) {
  Program p;
  Engine engine(read_settings("policy=x:4,check"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(launched().size(), 3U);
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 1U) << i;
  Engine second(read_settings("check=3"));
  for (unsigned n = 0; n < 6; ++n)
    second.launch(p.request(), direct);
  EXPECT_EQ(launched().size(), 2 * 3U + 4);
  EXPECT_EQ(test::value_of<unsigned>(p.memory, 4999), 7U);
}

TEST_F(EngineTest, AWrongVariantIsCaught) {
  Program p;
  p.two.run = [](const fake::Launched& l) {
    test::add_one(l, 2);
    reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(l.parameters[0]))[33] += 256;
  };
  const auto wrong = [&] {
    Engine engine(read_settings("check"));
    engine.launch(p.request(), direct);
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86),
              "k, grid 50x1x1, block 100x1x1: x:2 differs in buffer 1 of 1 \\(20000 bytes\\) at "
              "byte 133: 0 became 1");
}

TEST_F(EngineTest, WhatDoesNotRepeatItselfIsNotCompared) {
  Program p;
  unsigned runs = 0;
  p.kernel.run = [&](const fake::Launched& l) {
    *reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(l.parameters[0])) = ++runs;
  };
  Engine engine(read_settings("check"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(test::value_of<unsigned>(p.memory), 1U);
}

// --- the rest --------------------------------------------------------------------------------

std::string report_file() {
  return std::filesystem::temp_directory_path() /
         ("ptxasw-report-" + std::to_string(::getpid()) + ".json");
}

// What was written there; nothing if there is no such file.
std::string taken(const std::string& file) {
  std::FILE* in = std::fopen(file.c_str(), "r");
  if (in == nullptr) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), in));
  std::fclose(in);
  std::filesystem::remove(file);
  return text;
}

// All that a framework launches may have attributes: then the report says so.
TEST_F(EngineTest, ReportsLaunchesWithAttributes) {
  const std::string file = report_file();
  Engine idle(read_settings("report=" + file)), writer(read_settings("report=" + file));
  idle.write_report();
  EXPECT_EQ(taken(file), "") << "a shell, for instance";
  for (unsigned n = 0; n < 3; ++n)
    writer.count_with_attributes();
  writer.write_report();
  EXPECT_THAT(taken(file),
              HasSubstr("\"note\": \"launched with attributes, which stay as they are\", "
                        "\"launches\": 3"));
}

TEST_F(EngineTest, ReportsWhatItDid) {
  Program p, other("other<float>", false);
  p.kernel.milliseconds = 4;
  const std::string file = report_file();
  Engine writer(read_settings("policy=x:4,report=" + file));
  writer.launch(p.request(), direct);
  for (unsigned n = 0; n < 600; ++n) {
    if (n % 8 == 0 && n > 500) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    writer.launch(p.request(), direct);
  }
  writer.launch(other.request(), direct);
  writer.write_report();
  const std::string text = taken(file);
  EXPECT_THAT(text, HasSubstr("\"kernel\": \"k\", \"grid\": \"50x1x1\", \"block\": \"100x1x1\", "
                              "\"variant\": \"x:4\", \"note\": \"\", \"launches\": 601, "
                              "\"microseconds\": 1000.000, \"gain\": 4.0000"));
  EXPECT_THAT(text, HasSubstr("its module has no launch contract for it"));
}

// A loop of launches of microseconds is not slowed down for the sake of a table.
TEST_F(EngineTest, ShortRunsAreNotTimedForTheReport) {
  Program p;
  Engine engine(read_settings("report=/dev/null"));
  const unsigned before = gpu().calls["cuEventCreate"];
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < 200; ++n)
    engine.launch(p.request(), direct);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(gpu().calls["cuEventCreate"] - before, 2 * (1 + taken.count() / 2));
}

// The original is what costs: it is timed as often as one per cent of the run allows.
TEST_F(EngineTest, TheOriginalIsSeldomTimed) {
  Program p;
  Shape shape;
  shape.predicted = {1, 1, 3};
  shape.usable = {true, true, true};
  shape.timings.assign(3, {});
  shape.chosen = 2;
  EXPECT_EQ(variant_to_sample(shape, 1000), no_variant) << "the first look only sets the clock";
  const auto next = [&](std::uint64_t number) {
    shape.next_sample = 1;
    return variant_to_sample(shape, number);
  };
  EXPECT_EQ(next(0), 2U);
  EXPECT_EQ(next(199), 2U) << "a single one would be more than one per cent";
  EXPECT_EQ(next(200), 0U);
  shape.timings[0] = {.samples = 1, .sum = 3e6, .least = 3e6};
  EXPECT_EQ(next(208), 2U) << "its turn";
  shape.timings[2] = {.samples = 1, .sum = 1e6, .least = 1e6};
  EXPECT_EQ(next(216), 2U) << "200 seconds have not gone by";
  sampled(shape, std::chrono::milliseconds(1));
  EXPECT_EQ(variant_to_sample(shape, 224), no_variant);
}

TEST_F(EngineTest, AThreadsMemoryGoesWithIt) {
  Program p;
  Engine engine(read_settings(""));
  struct Late {
    std::function<void()> call;
    ~Late() {
      if (call) call();
    }
  };
  std::thread([&] {
    thread_local Late late; // made before what the engine remembers, so destroyed after it
    late.call = [&] { EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS); };
    engine.launch(p.request(), direct);
  }).join();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(all[1].entry, "k");
}

TEST_F(EngineTest, ManyThreads) {
  Program p;
  Engine engine(read_settings("policy=measure,report"));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Request request = p.request(60 + t % 2);
      for (unsigned n = 0; n < 300; ++n) {
        EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
        if (t == 0 && n % 50 == 0) engine.forget_handles();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(launched().size(), 2400U);
}

TEST(Settings, AreWords) {
  EXPECT_TRUE(read_settings("off").off);
  EXPECT_EQ(read_settings("").policy, Policy::model);
  EXPECT_EQ(read_settings("policy=measure,log").policy, Policy::measure);
  const Settings named = read_settings("policy=x:2,y:4,report=a.html,check=10");
  EXPECT_EQ(named.name, "x:2,y:4");
  EXPECT_EQ(named.report_file, "a.html");
  EXPECT_EQ(named.check, 10U);
  EXPECT_EQ(read_settings("check").check, 1U);
  EXPECT_EQ(read_settings("check=no").complaint, "check=no");
  EXPECT_EQ(read_settings("steps,check=0").longest_wait, 100U);
  EXPECT_EQ(read_settings("steps,check=0").complaint, "check=0");
  EXPECT_EQ(read_settings("steps=250").longest_wait, 250U);
  EXPECT_TRUE(read_settings("steps=250").steps);
  EXPECT_EQ(read_settings("nonsense").complaint, "nonsense");
}

} // namespace
} // namespace ptxasw::launch
