// The trap kernels with every rewrite forced on: memory after the launch must be what the original
// gives, under every schedule; and what can be rewritten soundly is.
#include "ptxasw/ptxasw.hpp"

#include "simt/trap_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace ptxasw {
namespace {

using simt::TrapCase;

Options forced(Emit emit = Emit::normal) {
  Options options;
  options.shuffle = ShuffleMode::all;
  options.shuffle_shared = true;
  options.emit = emit;
  return options;
}

class TrapRewrite : public ::testing::TestWithParam<TrapCase> {};

TEST_P(TrapRewrite, ComputesTheSame) {
  const TrapCase& trap = GetParam();
  const Optimized result = optimize(trap.text, trap.name + ".ptx", forced());
  EXPECT_EQ(simt::compare(trap, result.text), "") << result.text;
}

TEST_P(TrapRewrite, CheckModeFindsNoDifference) {
  const TrapCase& trap = GetParam();
  const Optimized result = optimize(trap.text, trap.name + ".ptx", forced(Emit::check));
  EXPECT_EQ(simt::compare(trap, result.text), "") << result.text;
}

TEST_P(TrapRewrite, MergedBlocksComputeTheSame) {
  const TrapCase& trap = GetParam();
  for (const std::array<unsigned, 3> factors :
       {std::array{1U, 2U, 1U}, std::array{1U, 4U, 1U}, std::array{2U, 1U, 1U}}) {
    Options options;
    options.shuffle = ShuffleMode::none;
    options.fp_contract = FpContract::any;
    options.coarsen = factors;
    const Optimized result = optimize(trap.text, trap.name + ".ptx", options);
    EXPECT_EQ(simt::compare(trap, result.text), "") << result.text;
  }
}

TEST_P(TrapRewrite, RemappedThreadsComputeTheSame) {
  const TrapCase& trap = GetParam();
  for (const Remap& remap : {Remap{RemapKind::thread_swap, 8}, Remap{RemapKind::swap}}) {
    Options options;
    options.shuffle = ShuffleMode::none;
    options.fp_contract = FpContract::any;
    options.remaps = {remap};
    const Optimized result = optimize(trap.text, trap.name + ".ptx", options);
    EXPECT_EQ(simt::compare(trap, result.text), "") << result.text;
  }
}

TEST_P(TrapRewrite, RotatedLoopsComputeTheSame) {
  const TrapCase& trap = GetParam();
  Options options;
  options.shuffle = ShuffleMode::none;
  options.loop_carry = LoopCarryMode::all;
  options.warp_reduce = WarpReduceMode::all;
  options.fp_contract = FpContract::any;
  const Optimized result = optimize(trap.text, trap.name + ".ptx", options);
  EXPECT_EQ(simt::compare(trap, result.text), "") << result.text;
}

// h54 stores what the clock says: its values differ from run to run, its structure is tested below.
std::vector<TrapCase> traps_with_fixed_results() {
  std::vector<TrapCase> traps = simt::all_traps();
  std::erase_if(traps, [](const TrapCase& trap) { return trap.name == "h54_clock_constant"; });
  return traps;
}
INSTANTIATE_TEST_SUITE_P(, TrapRewrite, ::testing::ValuesIn(traps_with_fixed_results()),
                         [](const auto& instance) { return instance.param.name; });

TEST(TrapRewrites, RefusingEverythingIsNotTheGoal) {
  std::set<std::string> changed;
  for (const TrapCase& trap : simt::all_traps()) {
    if (optimize(trap.text, trap.name + ".ptx", forced()).changed) changed.insert(trap.name);
  }
  for (const char* name :
       {"h01_block16x16", "h12_u32_index_wrap", "h15_f64", "h16_u16", "h16b_u8_copy",
        "h41_divergent_dst_ok", "h56_lane_from_reconvergence_2d_ok"}) {
    EXPECT_TRUE(changed.contains(name)) << name;
  }
  for (const char* name : {"h07_volatile", "h37c_fence_membar", "h50_mixed_cg_cv",
                           "h28_thread_stride_loop", "h30_solver_timeout", "h54_clock_constant"}) {
    EXPECT_FALSE(changed.contains(name)) << name;
  }
  const auto merged = [](const TrapCase& trap) {
    Options options;
    options.shuffle = ShuffleMode::none;
    options.coarsen = {1, 2, 1};
    return optimize(trap.text, trap.name + ".ptx", options).changed;
  };
  for (const TrapCase& trap : simt::all_traps()) {
    if (!trap.name.starts_with("s0")) continue;
    EXPECT_EQ(merged(trap), trap.name < "s04") << trap.name;
  }
  RecordProperty("rewritten", static_cast<int>(changed.size()));
}

} // namespace
} // namespace ptxasw
