// Tiles in shared memory, seen through.
#include "passes/time_tile/any_host.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string tile(const std::string& name) {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/" + name + ".ptx");
}

struct Tile {
  const char* name;
  const char* reads;
  simt::Dim3 block;
};

constexpr unsigned room = 600; // for threads that no size keeps from loading

class StepTiles : public ::testing::TestWithParam<Tile> {};

TEST_P(StepTiles, LeaveTheSame) {
  const Tile row = GetParam();
  unsigned merged = 0;
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {5, 64, 4, 8, 2}}) {
    const Stepped stepped(tile(row.name), "", shape);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 4)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("tiles_{}", row.name));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, row.block, nx, room);
      if (!host.fit_error().empty()) {
        EXPECT_LT(nx, 7U) << host.fit_error();
        continue;
      }
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      auto plain = host.run(shape.count + 3, true);
      const auto several = host.run(shape.count + 3, false);
      plain.loaded.merge(plain.stored);
      EXPECT_TRUE(std::ranges::includes(plain.loaded, several.loaded)) << nx << 'x' << ny;
    }
    StepHost other = host_for(stepped, 70, 35, row.block, 1, room);
    EXPECT_EQ(other.fit_error(), "");
    other.block.x /= 2;
    other.grid.x *= 2;
    EXPECT_EQ(other.fit_error(), "its tile is for blocks of another shape");
  }
  EXPECT_GE(merged, 4U);
}

constexpr const char* around = "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* cross = "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* seven = "0(-3,0,0) 0(-2,0,0) 0(-1,0,0) 0(0,0,0) 0(1,0,0) 0(2,0,0) 0(3,0,0)";

INSTANTIATE_TEST_SUITE_P(T, StepTiles,
                         ::testing::Values(Tile{"tile_a", around, {16, 16, 1}},
                                           Tile{"tile_b", seven, {256, 1, 1}},
                                           Tile{"tile_c", cross, {32, 8, 1}},
                                           Tile{"tile_d", seven, {128, 1, 1}}),
                         [](const auto& row) { return row.param.name; });

} // namespace
} // namespace ptxasw
