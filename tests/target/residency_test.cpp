// Steps of the register file, and who stands on which.
#include "target/residency.hpp"

#include <gtest/gtest.h>

namespace ptxasw::target {
namespace {

constexpr BlockSizes any;

TEST(Residency, Blocks) {
  EXPECT_EQ(resident_blocks(32, 1024), 2U);
  EXPECT_EQ(resident_blocks(33, 1024), 1U);
  EXPECT_EQ(resident_blocks(64, 1024), 1U);
  EXPECT_EQ(resident_blocks(65, 1024), 0U);
  EXPECT_EQ(resident_blocks(40, 512), 3U);
  EXPECT_EQ(resident_blocks(48, 512), 2U);
  EXPECT_EQ(resident_blocks(8, 32), 32U);
  EXPECT_EQ(resident_blocks(255, 32), 8U);
  EXPECT_EQ(resident_blocks(0, 1), 32U);
}

TEST(Residency, SizesThatLose) {
  EXPECT_EQ(block_that_loses(16, 32, any), 0U);
  EXPECT_NE(block_that_loses(32, 33, any), 0U);
  EXPECT_EQ(block_that_loses(33, 40, any), 0U);
  EXPECT_EQ(block_that_loses(40, 33, any), 0U);
  EXPECT_EQ(block_that_loses(56, 64, {1024, 1024}), 0U);
  EXPECT_EQ(block_that_loses(32, 40, {1, 32}), 0U);
  EXPECT_EQ(block_that_loses(32, 40, {1, 64}), 33U);
  EXPECT_EQ(block_that_loses(32, 56, {1000, 1024}), 1000U);
  EXPECT_EQ(block_that_loses(32, 56, {1, 1}), 0U);
}

TEST(Residency, SharedMemoryTakesRoomFromBlocksToo) {
  constexpr unsigned hopper = 228U << 10, turing = 64U << 10;
  const auto loses = [](unsigned before, unsigned after, const BlockSizes& sizes, unsigned room) {
    return block_that_loses({20, before}, {20, after}, sizes, room);
  };
  EXPECT_EQ(loses(3072, 6144, any, hopper), 0U) << "32 blocks of 7 KiB with the driver's";
  EXPECT_EQ(loses(3072, 6400, any, hopper), 1U);
  EXPECT_EQ(loses(20000, 40000, {256, 256}, hopper), 256U) << "5 instead of 8";
  EXPECT_EQ(loses(20000, 40000, {512, 512}, hopper), 0U) << "4 in any case";
  EXPECT_EQ(loses(8192, 16384, {256, 256}, turing), 256U);
  EXPECT_EQ(loses(40000, 20000, {256, 256}, hopper), 0U);
  EXPECT_EQ(loses(64, 128, any, 0), 1U) << "of an SM that is not known";
  EXPECT_EQ(block_that_loses({32, 64}, {33, 64}, {256, 256}, hopper), 256U) << "registers count";
  EXPECT_EQ(block_that_loses({32, 64}, {33, 128}, {256, 256}, hopper), 256U);
}

TEST(Residency, MostThatKeepAll) {
  EXPECT_EQ(registers_that_keep_blocks(1, any), registers_for_all_blocks);
  EXPECT_EQ(registers_that_keep_blocks(32, any), 32U);
  EXPECT_EQ(registers_that_keep_blocks(33, any), 40U);
  EXPECT_EQ(registers_that_keep_blocks(255, any), 255U);
  EXPECT_EQ(registers_that_keep_blocks(56, {1024, 1024}), 64U);
  EXPECT_EQ(registers_that_keep_blocks(34, {1024, 1024}), 64U);
  for (unsigned before = 1; before < 255; ++before) {
    const unsigned most = registers_that_keep_blocks(before, any);
    for (unsigned threads = 1; threads <= 1024; ++threads)
      ASSERT_EQ(resident_blocks(most, threads), resident_blocks(before, threads))
          << before << " registers, " << threads << " threads";
  }
}

TEST(Residency, WarpsThatRegistersLeave) {
  const Profile* const hopper = find_profile("sm_90");
  EXPECT_EQ(resident_warps(*hopper, 32, 512), 64U);
  EXPECT_EQ(resident_warps(*hopper, 33, 512), 48U);
  EXPECT_EQ(resident_warps(*hopper, 40, 256), 48U);
  EXPECT_EQ(resident_warps(*hopper, 48, 256), 40U);
  EXPECT_EQ(resident_warps(*hopper, 128, 512), 16U);
  EXPECT_EQ(resident_warps(*hopper, 16, 32), 32U) << "an SM holds 32 blocks";
}

} // namespace
} // namespace ptxasw::target
