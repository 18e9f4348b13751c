// Tiles in dynamic shared memory: steps of blocks of a shape that a launch has shown.
#include "passes/time_tile/any_host.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using passes::BlockShape;
using test::StepHost;
using test::Stepped;

std::string forms() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/dynamic.ptx");
}

Stepped stepped_for(const std::string& text, const std::string& name,
                    std::vector<BlockShape> launched, const passes::StepShape& shape = {}) {
  return Stepped(text, name, shape, passes::Motion::exchanged, 0, launched);
}

struct Tile {
  const char* name;
  const char* reads;
  unsigned (*bytes)(const BlockShape& block); // up to the last one that a thread touches
};

unsigned with_a_rim(const BlockShape& block) {
  return 4 * (block[0] + 2) * (block[1] + 2);
}
unsigned with_a_rim_but_corners(const BlockShape& block) {
  return with_a_rim(block) - 4;
}
unsigned of_a_line(const BlockShape& block) {
  return 4 * (block[0] + 6);
}
unsigned of_two(const BlockShape& block) {
  return 8 * (block[0] + 2) * block[1] - 4;
}
unsigned of_one_on_each_side(const BlockShape& block) {
  return 4 * (block[0] + 2);
}

class DynamicTiles : public ::testing::TestWithParam<Tile> {};

TEST_P(DynamicTiles, LeaveTheSame) {
  const Tile& tile = GetParam();
  const bool is_line = tile.bytes == of_a_line || tile.bytes == of_one_on_each_side;
  const std::vector<BlockShape> blocks = is_line ? std::vector<BlockShape>{{128, 1, 1}, {64, 1, 1}}
                                                 : std::vector<BlockShape>{{16, 8, 1}, {32, 4, 1}};
  unsigned merged = 0;
  for (const BlockShape& block : blocks) {
    const Stepped stepped =
        stepped_for(forms(), tile.name, {block}, {.count = 3, .width = 64, .strips = 4, .rows = 8});
    ASSERT_EQ(stepped.plan.refused.text, "");
    EXPECT_EQ(offsets_text(stepped.plan), tile.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    EXPECT_EQ(stepped.entry.text.find(", s;"), std::string::npos);
    test::expect_that_ptxas_takes(*stepped.both->text, std::string("dynamic_") + tile.name);
    for (const auto& [nx, ny] : {std::pair{7U, 9U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      StepHost host = host_for(stepped, nx, ny, {block[0], block[1], 1}, nx, 600);
      host.shared = tile.bytes(block);
      EXPECT_EQ(host.fit_error(), "");
      EXPECT_EQ(host.difference(6, &merged), "") << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << nx << 'x' << ny;
      host.shared -= 4;
      EXPECT_EQ(host.fit_error(), "its tile is larger than its dynamic shared memory");
      host.shared += 4;
      host.block.x /= 2;
      host.grid.x *= 2;
      EXPECT_EQ(host.fit_error(), "its tile is for blocks of another shape");
    }
  }
  EXPECT_GE(merged, 8U);
}

INSTANTIATE_TEST_SUITE_P(
    T, DynamicTiles,
    ::testing::Values(
        Tile{"edges", "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)", with_a_rim_but_corners},
        Tile{"line", "0(-3,0,0) 0(-2,0,0) 0(-1,0,0) 0(0,0,0) 0(1,0,0) 0(2,0,0) 0(3,0,0)",
             of_a_line},
        Tile{"together", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)", with_a_rim},
        Tile{"halves", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(1,0,0)", of_two},
        Tile{"names", "0(-1,0,0) 0(1,0,0)", of_one_on_each_side}),
    [](const auto& row) { return row.param.name; });

std::string refusal(const std::string& text, const std::string& name,
                    std::vector<BlockShape> launched) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, name);
  return passes::StepKernel(kernel, {.time = std::chrono::seconds(30)}, launched)
      .find()
      .refused.text;
}

TEST(DynamicTilesRefused, WhereNoLaunchSaysTheShape) {
  EXPECT_EQ(refusal(forms(), "together", {}), "the shape of its blocks is not known");
}

std::string with(std::string text, const std::string& some, const std::string& other) {
  const auto at = text.find(some);
  EXPECT_NE(at, std::string::npos) << some;
  return text.replace(at, some.size(), other);
}

// What another name has stored there is seen: t's last place is s's.
TEST(DynamicTilesRefused, WhereAnotherNameIsStoredTo) {
  const std::string text =
      with(forms(), "st.shared.u32 \t[%r15+8], %r12;", "st.shared.u32 \t[%r15+4], %r12;");
  EXPECT_NE(refusal(text, "names", {{128, 1, 1}}), "");
}

// How much is launched with is no place of the thread.
TEST(DynamicTilesRefused, WhereItsSizeIsRead) {
  const std::string text =
      with(forms(),
           ".visible .entry names(\n\t.param .u64 names_param_0,\n\t.param .u64 "
           "names_param_1,\n\t.param .u32 names_param_2\n)\n{\n",
           ".visible .entry names(\n\t.param .u64 names_param_0,\n\t.param .u64 names_param_1,\n"
           "\t.param .u32 names_param_2\n)\n{\n\t.reg .b32 %size;\n\t.reg .f32 %as;\n"
           "\tmov.u32 %size, %dynamic_smem_size;\n\tmov.b32 %as, %size;\n");
  const std::size_t scaled = text.rfind("0f3F000000");
  ASSERT_NE(scaled, std::string::npos);
  EXPECT_NE(refusal(std::string(text).replace(scaled, 10, "%as"), "names", {{128, 1, 1}}), "");
}

} // namespace
} // namespace ptxasw
