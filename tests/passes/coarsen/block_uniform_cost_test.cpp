// What barriers and shared memory cost the model of coarsening. Figures of suite M as measured on
// an H200 (bench/results/h200/barriers.md) stand beside what is predicted.
#include "passes/coarsen/cost/block_uniform_cost.hpp"

#include "passes/coarsen/cost/cost.hpp"

#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using target::find_profile;

const target::Profile& hopper() {
  return *find_profile("sm_90");
}

TEST(BlockUniformCost, SharedMemoryLimitsTheBlocksOfAnSm) {
  EXPECT_EQ(passes::blocks_with_shared(hopper(), 0), 32U);
  EXPECT_EQ(passes::blocks_with_shared(hopper(), 4096), 32U);
  EXPECT_EQ(passes::blocks_with_shared(hopper(), 16384), 13U); // each has 1 KB more
  EXPECT_EQ(passes::blocks_with_shared(hopper(), 16385), 13U);
  EXPECT_EQ(passes::blocks_with_shared(hopper(), 49152), 4U);
  EXPECT_EQ(passes::blocks_with_shared(*find_profile("sm_75"), 49152), 1U);
}

TEST(BlockUniformCost, BlocksHaveArraysOfTheirSize) {
  const CoarsenWork tree{.shared = 4096};
  EXPECT_FALSE(passes::may_be_launched_in(tree, 64));
  EXPECT_TRUE(passes::may_be_launched_in(tree, 128));
  EXPECT_TRUE(passes::may_be_launched_in({.shared = 49152}, 1024));
  EXPECT_TRUE(passes::may_be_launched_in({}, 64));
}

TEST(BlockUniformCost, BlocksThatMeetMayBeFewer) {
  const Coarsening four{.factors = {4, 1, 1}};
  EXPECT_LT(passes::least_threads_that_synchronize(hopper(), four), 1U << 20);
  EXPECT_GT(passes::least_threads_that_synchronize(hopper(), four), 1U << 19);
}

// A tree of a block's values: one barrier for four blocks instead of four.
TEST(BlockUniformCost, BlocksThatWaitTogether) {
  const CoarsenBaseline original{
      .work = {78, 34, 219, 5.2, 17, 4096},
      .memory_bytes = 128,
      .usage = Usage{.registers = 10,
                     .path = StraightPath{.instructions = 42, .stores = 1, .latency = 696}}};
  CoarsenCandidate four{
      .how = {.factors = {4, 1, 1}},
      .work = {78, 34, 126.8, 4.8, 4.25, 16384},
      .usage = Usage{.registers = 24,
                     .path = StraightPath{.instructions = 113, .stores = 4, .latency = 989}}};
  const passes::LaunchShape launch{.blocks = 65536, .threads = 256};
  EXPECT_NEAR(passes::launch_gain(hopper(), original, four, launch), 1.70, 0.15);
  four.work.barriers = 17; // as if each waited for itself
  EXPECT_LT(passes::launch_gain(hopper(), original, four, launch), 1.2);
  four.work.barriers = 4.25;
  four.work.shared = 49152; // four blocks stay
  EXPECT_LT(passes::launch_gain(hopper(), original, four, launch), 1.4);
}

} // namespace
} // namespace ptxasw
