// T steps at once leave what T launches leave, bit for bit.
#include "passes/time_tile/emit/frame.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel(in, out, nx, ny): as the suite has them.
StepHost plane(const Stepped& stepped, unsigned nx, unsigned ny, unsigned bytes,
               unsigned seed = 1) {
  const std::size_t count = std::size_t{nx} * ny;
  return {.stepped = stepped,
          .grid = {(nx + 31) / 32, (ny + 3) / 4},
          .block = {32, 4},
          .arguments = {0, 1, nx, ny},
          .buffers = {test::random_elements(count, bytes, true, seed),
                      test::random_elements(count, bytes, true, seed + 1)},
          .pointers = {0, 1}};
}

struct Row {
  const char* kernel;
  unsigned bytes, reach;
};

class StepsOfTheSuite : public ::testing::TestWithParam<Row> {};

TEST_P(StepsOfTheSuite, LeaveTheSame) {
  const Row row = GetParam();
  const unsigned most = row.reach == 1 ? 7 : 3;
  for (const passes::StepShape& shape : {passes::StepShape{.count = 3},
                                         {3, 32, 2, 16},
                                         {most, 64, 1, 32},
                                         {3, 64, 4, 8, 4},
                                         {3, 32, 4, 8, 4},
                                         {3, 48, 3, 12, 2},
                                         {most, 64, 2, 16, 2, 0, true},
                                         {3, 32, 4, 8, 4, 0, true},
                                         {most, 64, 4, 8, 4, 0, true}}) {
    const Stepped stepped(test::golden_ptx("iterated2d"), row.kernel, shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.width == 32 && shape.columns == 1)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("steps_{}", row.kernel));
    const unsigned count = shape.count;
    std::vector<std::pair<unsigned, unsigned>> sizes{
        {2 * row.reach + 1, 2 * row.reach + 1}, {7, 33}, {70, 35}};
    if (shape.width == 32 && shape.columns == 4) // regions without a rim, rows of whole vectors
      sizes = {{72, 66}, {71, 66}, {70, 66}};
    for (const auto& [nx, ny] : sizes) {
      const StepHost host = plane(stepped, nx, ny, row.bytes);
      for (const unsigned steps : {count + 1, 2 * count + 2})
        EXPECT_EQ(host.difference(steps), "")
            << row.kernel << ' ' << nx << 'x' << ny << ", " << steps << " steps, T = " << count;
    }
  }
}

// An entry may be told to do less than its region has room for.
TEST_P(StepsOfTheSuite, LeaveTheSameAfterFewerSteps) {
  const Row row = GetParam();
  const unsigned most = row.reach == 1 ? 9 : 5;
  for (const bool lanes : {false, true}) {
    Stepped stepped(
        test::golden_ptx("iterated2d"), row.kernel,
        {.count = most, .width = 64, .strips = 4, .rows = 8, .columns = 2, .lanes = lanes});
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("fewer_{}", row.kernel));
    for (unsigned count = 3; count <= most; count += 2) {
      stepped.entry.contract.count = count;
      for (const auto& [nx, ny] : {std::pair{160U, 75U}, {159U, 61U}}) {
        unsigned merged = 0;
        EXPECT_EQ(plane(stepped, nx, ny, row.bytes).difference(2 * count + 1, &merged), "")
            << nx << 'x' << ny << ", " << count << " steps of " << most;
        EXPECT_EQ(merged, 2U);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsOfTheSuite,
                         ::testing::Values(Row{"j2d5pt_f32", 4, 1}, Row{"j2d5pt_f64", 8, 1},
                                           Row{"j2ds9pt_f32", 4, 2}, Row{"j2ds9pt_f64", 8, 2},
                                           Row{"j2d9pt_f32", 4, 1}, Row{"j2d9pt_f64", 8, 1},
                                           Row{"j2d25pt_f32", 4, 2}, Row{"j2d25pt_f64", 8, 2}),
                         [](const auto& row) { return std::string(row.param.kernel); });

TEST(Steps, LoadNothingThatNoStepLoads) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32", {.count = 3});
  ASSERT_EQ(stepped.entry.refused.text, "");
  const StepHost host = plane(stepped, 130, 67, 4);
  const auto plain = host.run(4, true), merged = host.run(4, false);
  EXPECT_EQ(merged.merged_launches, 1U);
  EXPECT_TRUE(std::ranges::includes(plain.loaded, merged.loaded));
}

// out[x] = in[x]*c[x] + in[x-1] + in[x, y+1], inside a rim.
constexpr std::string_view weighted = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny, .param .u64 c)
{
.reg .pred %p<9>;
.reg .b32 %r<29>;
.reg .b64 %rd<29>;
.reg .f32 %f<9>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
mov.u32 %r5, %ctaid.y;
mov.u32 %r6, %ntid.y;
mov.u32 %r7, %tid.y;
mad.lo.s32 %r8, %r5, %r6, %r7;
ld.param.u32 %r9, [nx];
ld.param.u32 %r10, [ny];
add.s32 %r11, %r9, -1;
add.s32 %r12, %r10, -1;
setp.lt.s32 %p1, %r4, 1;
setp.ge.s32 %p2, %r4, %r11;
setp.lt.s32 %p3, %r8, 1;
setp.ge.s32 %p4, %r8, %r12;
or.pred %p5, %p1, %p2;
or.pred %p6, %p3, %p4;
or.pred %p7, %p5, %p6;
@%p7 bra done;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [c];
cvta.to.global.u64 %rd4, %rd1;
cvta.to.global.u64 %rd5, %rd2;
cvta.to.global.u64 %rd6, %rd3;
mad.lo.s32 %r13, %r8, %r9, %r4;
mul.wide.s32 %rd7, %r13, 4;
mul.wide.s32 %rd8, %r9, 4;
add.s64 %rd9, %rd4, %rd7;
add.s64 %rd10, %rd5, %rd7;
add.s64 %rd11, %rd6, %rd7;
add.s64 %rd12, %rd9, %rd8;
ld.global.f32 %f1, [%rd9];
ld.global.f32 %f2, [%rd11];
ld.global.f32 %f3, [%rd9+-4];
ld.global.f32 %f4, [%rd12];
mul.rn.f32 %f5, %f1, %f2;
add.rn.f32 %f6, %f5, %f3;
add.rn.f32 %f7, %f6, %f4;
st.global.f32 [%rd10], %f7;
done: ret;
}
)";

TEST(Steps, OfKernelsOfSeveralFilesHaveATileThatTheLinkerKeepsOnce) {
  const auto with_tile = [](const std::string& linkage) {
    return passes::with_tile_of_module(
        linkage + " .entry e(.param .u64 a)\n.maxntid 32\n{\n.reg .b32 %r;\n"
                  "\t.shared .align 16 .b8 ptxasw_step_tile[96];\nmov.u32 %r,ptxasw_step_tile;\n}",
        "e");
  };
  EXPECT_EQ(with_tile(".weak"),
            ".weak .shared .align 16 .b8 e_tile96[96];\n\n.weak .entry e(.param .u64 a)\n"
            ".maxntid 32\n{\n.reg .b32 %r;\nmov.u32 %r,e_tile96;\n}");
  EXPECT_THAT(with_tile(".visible"), ::testing::StartsWith(".visible .entry e("));
  EXPECT_THAT(with_tile(".visible"), ::testing::HasSubstr("mov.u32 %r,ptxasw_step_tile;"));
}

TEST(Steps, OfCoefficientsLoadNothingThatNoStepLoads) {
  const Stepped stepped(std::string(weighted), "k",
                        {.count = 3, .width = 32, .strips = 3, .rows = 8, .columns = 1});
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const auto& [nx, ny] : {std::pair{70U, 60U}, {97U, 40U}}) {
    StepHost host = plane(stepped, nx, ny, 4);
    host.arguments.push_back(2);
    host.pointers.push_back(4);
    host.buffers.push_back(test::random_elements(std::size_t{nx} * ny, 4, true, 3));
    EXPECT_EQ(host.difference(9), "");
    const auto plain = host.run(4, true), merged = host.run(4, false);
    EXPECT_EQ(merged.merged_launches, 1U);
    EXPECT_TRUE(std::ranges::includes(plain.loaded, merged.loaded)) << nx;
  }
}

// All neighbours are along a row: no row is for other strips, and the tile would be empty.
TEST(Steps, ByLanesWithoutATile) {
  std::string text(weighted);
  constexpr std::string_view below = "add.s64 %rd12, %rd9, %rd8;";
  text.replace(text.find(below), below.size(), "add.s64 %rd12, %rd9, 4;");
  const Stepped stepped(
      text, "k", {.count = 3, .width = 32, .strips = 4, .rows = 2, .columns = 2, .lanes = true});
  ASSERT_EQ(stepped.entry.refused.text, "");
  test::expect_that_ptxas_takes(*stepped.both->text, "steps_without_tile");
  StepHost host = plane(stepped, 70, 20, 4);
  host.arguments.push_back(2);
  host.pointers.push_back(4);
  host.buffers.push_back(test::random_elements(std::size_t{70} * 20, 4, true, 3));
  EXPECT_EQ(host.difference(9), "");
}

// All threads of a warp have to be there, and a row within one.
TEST(Steps, LanesOfWholeWarpsAlone) {
  const auto refused = [](unsigned columns, unsigned strips) {
    const Stepped stepped(
        std::string(weighted), "k",
        {.count = 3, .width = 64, .strips = strips, .rows = 8, .columns = columns, .lanes = true});
    return stepped.entry.refused.text;
  };
  EXPECT_EQ(refused(4, 4), "");
  for (const unsigned strips : {3U, 5U})
    EXPECT_EQ(refused(4, strips), "rows are no part of a warp") << strips;
  EXPECT_EQ(refused(1, 4), "rows are no part of a warp") << "64 threads a row";
}

// Two arrays that hang on each other, on a line.
constexpr std::string_view coupled = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 u, .param .u64 u2, .param .u64 v, .param .u64 v2, .param .u32 n)
{
.reg .pred %p<4>;
.reg .b32 %r<9>;
.reg .b64 %rd<20>;
.reg .f32 %f<9>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n];
add.s32 %r6, %r5, -1;
setp.lt.s32 %p1, %r4, 1;
setp.ge.s32 %p2, %r4, %r6;
or.pred %p3, %p1, %p2;
@%p3 bra out;
ld.param.u64 %rd1, [u];
ld.param.u64 %rd2, [u2];
ld.param.u64 %rd3, [v];
ld.param.u64 %rd4, [v2];
cvta.to.global.u64 %rd5, %rd1;
cvta.to.global.u64 %rd6, %rd2;
cvta.to.global.u64 %rd7, %rd3;
cvta.to.global.u64 %rd8, %rd4;
mul.wide.s32 %rd9, %r4, 4;
add.s64 %rd10, %rd5, %rd9;
add.s64 %rd11, %rd6, %rd9;
add.s64 %rd12, %rd7, %rd9;
add.s64 %rd13, %rd8, %rd9;
ld.global.f32 %f1, [%rd10+-4];
ld.global.f32 %f2, [%rd10];
ld.global.f32 %f3, [%rd12];
ld.global.f32 %f4, [%rd12+4];
add.rn.f32 %f5, %f1, %f3;
mul.rn.f32 %f6, %f2, %f4;
st.global.f32 [%rd11], %f5;
st.global.f32 [%rd13], %f6;
out: ret;
}
)";

TEST(Steps, OfTwoArraysLeaveTheSame) {
  const Stepped stepped(std::string(coupled), "k", {.count = 5});
  ASSERT_EQ(stepped.entry.refused.text, "");
  ASSERT_EQ(stepped.plan.arrays.size(), 2U);
  for (const unsigned n : {3U, 40U, 64U, 201U}) {
    StepHost host{.stepped = stepped,
                  .grid = {(n + 31) / 32},
                  .block = {32},
                  .arguments = {0, 1, 2, 3, n},
                  .buffers = {},
                  .pointers = {0, 1, 2, 3}};
    for (unsigned buffer = 0; buffer < 4; ++buffer)
      host.buffers.push_back(test::random_elements(n, 4, true, buffer));
    for (const unsigned steps : {6U, 13U})
      EXPECT_EQ(host.difference(steps), "") << n << ", " << steps << " steps";
    EXPECT_NE(host.run(6, false).merged_launches, 0U);
  }
}

// Across memory ptxas cannot fuse what a step stores with a sum of the next; across registers it
// could.
TEST(Steps, RoundEachSumAndProductByItself) {
  for (const char* kernel : {"j2d5pt_f32", "j2d5pt_f64"}) {
    const Stepped stepped(test::golden_ptx("iterated2d"), kernel);
    ASSERT_EQ(stepped.entry.refused.text, "");
    const std::string& text = stepped.entry.text;
    for (const char* unrounded : {"add.f32", "mul.f32", "add.f64", "mul.f64"})
      EXPECT_EQ(text.find(unrounded), text.npos) << kernel << ": " << unrounded;
    EXPECT_NE(text.find("mul.rn.f"), text.npos) << kernel;
  }
}

TEST(Steps, AreNotForArraysThatOverlap) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32");
  StepHost host = plane(stepped, 64, 64, 4);
  EXPECT_EQ(host.fit_error(), "");
  host.arguments[1] = 0;
  EXPECT_EQ(host.fit_error(), "the arrays overlap");
}

TEST(Steps, AreNotForIndicesThatWrap) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32");
  StepHost host = plane(stepped, 64, 64, 4);
  host.arguments[2] = 1U << 17;
  host.arguments[3] = 1U << 17;
  EXPECT_NE(host.fit_error(), ""); // the grid does not reach so far; the index might
  host.grid = {1U << 12, 1U << 15};
  EXPECT_EQ(host.fit_error(), "an index wraps");
}

} // namespace
} // namespace ptxasw
