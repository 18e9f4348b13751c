// Loops over places whose stride is written in other words than as all threads of the launch.
#include "passes/time_tile/any_host.hpp"

#include <string>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

constexpr passes::StepShape small{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 2};

Stepped strided(const std::string& kernel) {
  return Stepped(test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/strides.ptx"),
                 kernel, small);
}

// One thread a block along that axis.
TEST(StepStrides, OfBlocks) {
  const Stepped stepped = strided("rows_by_blocks");
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const auto& [nx, ny] : {std::pair{5U, 7U}, {33U, 17U}, {70U, 35U}})
    for (const unsigned blocks : {1U, 2U, 7U, 60U}) {
      StepHost host = host_for(stepped, nx, ny, {32, 1, 1}, nx);
      host.grid.y = blocks;
      unsigned merged = 0;
      EXPECT_EQ(host.difference(6, &merged), "") << nx << 'x' << ny << " by " << blocks;
      EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << nx << 'x' << ny << " by " << blocks;
      EXPECT_EQ(merged, 1U);
    }
  StepHost two = host_for(stepped, 33, 17, {32, 2, 1}, 33);
  EXPECT_EQ(two.fit_error(), "several threads store to one element");
}

// One block along that axis.
TEST(StepStrides, OfThreads) {
  const Stepped stepped = strided("rows_by_threads");
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const unsigned threads : {1U, 3U, 8U, 64U}) {
    StepHost host = host_for(stepped, 33, 17, {1, threads, 1}, 33);
    host.grid.y = 1;
    unsigned merged = 0;
    EXPECT_EQ(host.difference(6, &merged), "") << threads;
    EXPECT_EQ(merged, 1U);
    host.grid.y = 2;
    EXPECT_EQ(host.fit_error(), "several threads store to one element");
  }
}

TEST(StepStrides, OfTheInterior) {
  const Stepped stepped = strided("interior_in_line");
  EXPECT_EQ(offsets_text(stepped.plan), "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)");
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const auto& [nx, ny] : {std::pair{4U, 3U}, {33U, 17U}, {70U, 35U}}) {
    StepHost host = host_for(stepped, nx, ny, {64, 1, 1}, nx);
    host.grid = {((nx - 2) * (ny - 2) + 63) / 64, 1, 1};
    unsigned merged = 0;
    EXPECT_EQ(host.difference(6, &merged), "") << nx << 'x' << ny;
    EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << nx << 'x' << ny;
    EXPECT_EQ(merged, 1U) << nx << 'x' << ny;
    host.arguments[2] = 2; // no place
    EXPECT_NE(host.fit_error(), "");
  }
  StepHost few = host_for(stepped, 70, 35, {64, 1, 1}, 70);
  few.grid = {20, 1, 1};
  EXPECT_EQ(few.fit_error(), "some rows have no threads");
}

// x - 1 < n - 2 of a place at the rim is a comparison of a number that has wrapped.
TEST(StepStrides, WithARimThatIsStored) {
  for (const char* kernel : {"rim_264_250", "strided_264_250"}) {
    const Stepped stepped = strided(kernel);
    EXPECT_EQ(offsets_text(stepped.plan), "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)") << kernel;
    ASSERT_EQ(stepped.entry.refused.text, "") << kernel;
    StepHost host = host_for(stepped, 264, 250, {256, 1, 1}, 1, 2000);
    host.grid = {(264 * 250 + 255) / 256, 1, 1};
    unsigned merged = 0;
    EXPECT_EQ(host.difference(6, &merged), "") << kernel;
    EXPECT_EQ(merged, 1U) << kernel;
    host.grid.x = 100;
    EXPECT_EQ(host.fit_error(), "some rows have no threads") << kernel;
  }
}

} // namespace
} // namespace ptxasw
