// Steps of launches with a thread for each place: how many rows there are no guard says.
#include "passes/time_tile/any_host.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string unguarded() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/unguarded.ptx");
}

// `threads`: that lie in one line.
StepHost in_line(const Stepped& stepped, unsigned nx, unsigned ny, unsigned threads) {
  StepHost host = host_for(stepped, nx, ny, {threads, 1, 1}, nx);
  host.block = {threads};
  host.grid = {nx * ny / threads};
  return host;
}

TEST(StepUnguarded, LeavesTheSame) {
  for (const char* name : {"around", "compared", "clamped"}) {
    const Stepped stepped(unguarded(), name, {.count = 3, .width = 32, .strips = 4, .rows = 8});
    ASSERT_EQ(stepped.entry.refused.text, "") << name;
    ASSERT_TRUE(stepped.plan.rows) << name;
    unsigned merged = 0, sizes = 0;
    for (const auto& [nx, ny, threads] :
         {std::array{5U, 4U, 10U}, {32U, 32U, 64U}, {70U, 35U, 49U}, {33U, 96U, 96U}}) {
      const StepHost host = in_line(stepped, nx, ny, threads);
      EXPECT_EQ(host.fit_error(), "") << name;
      EXPECT_EQ(host.difference(7, &merged), "") << name << ' ' << nx;
      ++sizes;
    }
    EXPECT_EQ(merged, 2 * sizes) << name;
  }
}

// One thread more would be in a row of its own.
TEST(StepUnguarded, AsksForAsManyThreadsAsPlaces) {
  for (const char* name : {"around", "compared", "clamped"}) {
    const Stepped stepped(unguarded(), name, {.count = 3, .width = 32, .strips = 4, .rows = 8});
    ASSERT_EQ(stepped.entry.refused.text, "") << name;
    for (const unsigned blocks : {31U, 33U}) {
      StepHost host = in_line(stepped, 32, 32, 32);
      EXPECT_EQ(host.fit_error(), "");
      host.grid = {blocks};
      EXPECT_NE(host.fit_error(), "") << name << ' ' << blocks;
    }
  }
}

TEST(StepUnguarded, TileAroundATorus) {
  const Stepped stepped(unguarded(), "tile_around",
                        {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const unsigned n : {8U, 16U, 40U, 64U}) {
    const StepHost host = host_for(stepped, n, n, {8, 8, 1}, n);
    EXPECT_EQ(host.fit_error(), "") << n;
    EXPECT_EQ(host.difference(7, &merged), "") << n;
  }
  EXPECT_EQ(merged, 8U);
}

} // namespace
} // namespace ptxasw
