// Gains where the host divides the grid: of what memory holds back, little is gained.
#include "passes/coarsen/cost/launched.hpp"

#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

// Like gather_f32 of bench/kernels, which four copies did not make faster on an H200.
double gain_of_gather(double gathered, unsigned threads, double waves, double at_work = 1) {
  const CoarsenBaseline original{
      .work = {.wavefronts = 20, .loads = 2, .instructions = 20},
      .memory_bytes = 288,
      .stored_bytes = 128,
      .gathered_bytes = gathered,
      .at_work = at_work,
      .usage = Usage{.registers = 12,
                     .path = StraightPath{.instructions = 22, .stores = 1, .latency = 1200}}};
  const CoarsenCandidate four{
      .how = {.factors = {4, 1, 1}},
      .work = {.wavefronts = 20, .loads = 2, .instructions = 17},
      .usage = Usage{.registers = 20,
                     .path = StraightPath{.instructions = 66, .stores = 4, .latency = 1500}}};
  return launched_gain(*target::find_profile("sm_90"), original, four, threads, waves);
}

TEST(Launched, AddressesThatAreDataWaitForMemory) {
  for (const unsigned threads : {128U, 256U, 1024U})
    for (const double waves : {4.0, 16.0, 64.0}) {
      EXPECT_LT(gain_of_gather(992, threads, waves), 1.08) << threads << ' ' << waves;
      EXPECT_GT(gain_of_gather(0, threads, waves), gain_of_gather(992, threads, waves) + 0.03);
    }
}

TEST(Launched, BlocksThatLeaveAtOnceFillNoChip) {
  EXPECT_DOUBLE_EQ(gain_of_gather(0, 256, 2, 0.5), gain_of_gather(0, 256, 1));
  EXPECT_NE(gain_of_gather(0, 256, 2), gain_of_gather(0, 256, 1));
}

} // namespace
} // namespace ptxasw::passes
