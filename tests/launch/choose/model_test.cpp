// What the model prefers: launches of all sizes and blocks, rows of warps, groups that hang over.
#include "fixture.hpp"

#include "launch/choose/model.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::launched;
using test::Program;
using testing::ElementsAre;

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

} // namespace
} // namespace ptxasw::launch
