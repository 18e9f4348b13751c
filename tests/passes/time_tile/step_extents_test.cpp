// Sizes that a kernel asks its launch for, and blocks that are rows.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/place_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::step_extents {
namespace {

using passes::StepShape;
using test::StepHost;
using test::Stepped;

std::string extents() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/extents.ptx");
}

// As many places as the launch has threads.
StepHost host_of_all(const Stepped& stepped, simt::Dim3 grid, simt::Dim3 block) {
  const bool by_block = stepped.plan.by_block;
  const unsigned nx = by_block ? block.x : grid.x * block.x,
                 ny = by_block ? grid.x : grid.y * block.y;
  StepHost host = test::host_for(stepped, nx, ny, block, 1, 4 * (nx + ny));
  host.grid = grid;
  host.block = block;
  return host;
}

struct OfExtents {
  const char* kernel;
  std::vector<std::pair<simt::Dim3, simt::Dim3>> launches; // grids and blocks
};

const std::vector<std::pair<simt::Dim3, simt::Dim3>> planes{{{6, 5}, {16, 8}}, {{3, 21}, {32, 2}}},
    rows{{{30}, {97}}, {{97}, {30}}}, lines{{{7}, {100}}, {{1}, {333}}};

class StepsOfExtents : public ::testing::TestWithParam<OfExtents> {};

TEST_P(StepsOfExtents, LeaveTheSame) {
  const auto& [kernel, launches] = GetParam();
  const bool is_line = launches == lines;
  for (const StepShape& shape :
       {is_line ? StepShape{.count = 3, .width = 64} : StepShape{3, 32, 4, 8, 4},
        is_line ? StepShape{.count = 5, .width = 96} : StepShape{5, 64, 4, 8, 2}}) {
    const Stepped stepped(extents(), kernel, shape);
    ASSERT_EQ(stepped.plan.refused.text, "");
    ASSERT_EQ(stepped.entry.refused.text, "");
    EXPECT_EQ(stepped.plan.by_block, launches == rows);
    unsigned merged = 0;
    for (const auto& [grid, block] : launches) {
      const StepHost host = host_of_all(stepped, grid, block);
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << grid.x << ' ' << block.x;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3));
    }
    EXPECT_EQ(merged, 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsOfExtents,
                         ::testing::Values(OfExtents{"torus", planes}, OfExtents{"inside", planes},
                                           OfExtents{"long_inside", planes},
                                           OfExtents{"line", lines}, OfExtents{"rows", rows},
                                           OfExtents{"framed_rows", rows},
                                           OfExtents{"torus_of_rows", rows}),
                         [](const auto& row) { return std::string(row.param.kernel); });

// The launch has as many threads as the program says elsewhere.
TEST(StepsOfExtents, AreNumbersOfTheProgram) {
  for (const char* kernel : {"written", "written_inside"}) {
    const Stepped stepped(extents(), kernel, {3, 32, 4, 8, 4});
    ASSERT_EQ(stepped.plan.refused.text, "") << kernel;
    ASSERT_EQ(stepped.entry.refused.text, "") << kernel;
    unsigned merged = 0;
    for (const unsigned rows : {12U, 11U, 5U}) // the rows below are nobody's
      EXPECT_EQ(host_of_all(stepped, {6, rows}, {16, 8}).difference(6, &merged), "") << kernel;
    EXPECT_EQ(merged, 3U);
    EXPECT_NE(host_of_all(stepped, {5, 12}, {16, 8}).fit_error(), "") << kernel;
    EXPECT_NE(host_of_all(stepped, {7, 12}, {16, 8}).fit_error(), "") << kernel;
  }
}

TEST(StepsOfExtents, MayBeLargeNumbersOfTheProgram) {
  const Stepped stepped(extents(), "written_1024", {3, 32, 4, 8, 4});
  ASSERT_EQ(stepped.entry.refused.text, "");
  EXPECT_EQ(host_of_all(stepped, {64, 64}, {16, 16}).fit_error(), "");
  EXPECT_NE(host_of_all(stepped, {64, 65}, {16, 16}).fit_error(), "");
  EXPECT_NE(host_of_all(stepped, {65, 64}, {16, 16}).fit_error(), "");
  const Stepped rows(extents(), "rows_of_1000", {3, 32, 4, 8, 4});
  ASSERT_EQ(rows.entry.refused.text, "");
  EXPECT_EQ(host_of_all(rows, {1000}, {1000}).fit_error(), "");
  EXPECT_EQ(host_of_all(rows, {50}, {1024}).fit_error(), "");
  EXPECT_NE(host_of_all(rows, {1000}, {999}).fit_error(), "");
}

TEST(StepsOfExtents, StoreToThePlaceOfTheThread) {
  EXPECT_EQ(Stepped(extents(), "torus", {3, 32, 4, 8, 4}).plan.refused.text, "");
  EXPECT_THAT(Stepped(extents(), "turned", {3, 32, 4, 8, 4}).plan.refused.text,
              testing::HasSubstr("where it stores is not known over whole numbers"));
}

// Far from row to row, farther than addresses go: they come round.
TEST(StepsOfExtents, HaveElementsWithinReach) {
  const auto refusal = [](std::string_view near, std::string_view far) {
    const std::string text = test::kernel_text(fmt::format(R"({}
mov.u32 %r20, %nctaid.x;
mul.lo.s32 %r21, %r20, %r5;
setp.ge.s32 %p1, %r10, %r21;
@%p1 bra done;
mul.lo.s32 %r22, %r11, {};
mul.wide.u32 %rd5, %r22, 1;
mul.lo.s64 %rd6, %rd5, {};
mad.wide.s32 %rd7, %r10, 4, %rd6;
mul.wide.u32 %rd12, %r21, 4;
add.s64 %rd7, %rd7, %rd12;
add.s64 %rd8, %rd1, %rd7;
add.s64 %rd9, %rd2, %rd7;
ld.global.f32 %f1, [%rd8];
st.global.f32 [%rd9], %f1;
done: ret;)",
                                                           test::places, near, far));
    return Stepped(text, "k", {3, 32, 4, 8, 4}).plan.refused.text;
  };
  EXPECT_EQ(refusal("64", "64"), "");
  EXPECT_NE(refusal("1073741824", "1125899906842624"), "");
}

TEST(StepsOfExtents, BlocksOfPlanesAreNoRows) {
  const Stepped stepped(extents(), "rows", {3, 32, 4, 8, 4});
  EXPECT_EQ(host_of_all(stepped, {30}, {97}).fit_error(), "");
  EXPECT_EQ(host_of_all(stepped, {30, 2}, {97}).fit_error(), "its blocks are no rows");
  EXPECT_EQ(host_of_all(stepped, {30}, {97, 2}).fit_error(), "its blocks are no rows");
  EXPECT_FALSE(stepped.plan.copy);
}

} // namespace
} // namespace ptxasw::step_extents
