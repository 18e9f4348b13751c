// Three arrays in rotation: entries in pairs leave what single launches leave, bit for bit.
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace ptxasw {
namespace {

using passes::Motion;
using passes::StepShape;
using test::StepHost;
using test::Stepped;

struct Type {
  const char *name, *reg, *add, *sub, *scale;
  unsigned bytes;
  bool is_float;
};
constexpr Type f32{"f32", "f32", "add.rn.f32", "sub.rn.f32", "mul.rn.f32", 4, true},
    f64{"f64", "f64", "add.rn.f64", "sub.rn.f64", "mul.rn.f64", 8, true},
    s32{"s32", "b32", "add.s32", "sub.s32", "mul.lo.s32", 4, false},
    u16{"u16", "b16", "add.s16", "sub.s16", "mul.lo.s16", 2, false};

// next = now*c - old + the neighbours of now, within the rim: wave(old, now, next, nx, ny).
// `beside`: old is read at a neighbour, too.
std::string wave(const Type& type, bool beside = false) {
  const unsigned bytes = type.bytes;
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry wave(.param .u64 old, .param .u64 now, .param .u64 next, .param .u32 nx,
                     .param .u32 ny)
{{
.reg .pred %p<9>;
.reg .b32 %r<29>;
.reg .b64 %rd<29>;
.reg .{1} %v<19>;
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
ld.param.u64 %rd1, [old];
ld.param.u64 %rd2, [now];
ld.param.u64 %rd3, [next];
cvta.to.global.u64 %rd4, %rd1;
cvta.to.global.u64 %rd5, %rd2;
cvta.to.global.u64 %rd6, %rd3;
mad.lo.s32 %r13, %r8, %r9, %r4;
mul.wide.s32 %rd7, %r13, {2};
mul.wide.s32 %rd8, %r9, {2};
add.s64 %rd9, %rd4, %rd7;
add.s64 %rd10, %rd5, %rd7;
add.s64 %rd11, %rd6, %rd7;
add.s64 %rd12, %rd10, %rd8;
sub.s64 %rd13, %rd10, %rd8;
add.s64 %rd14, %rd9, %rd8;
ld.global.{0} %v1, [%rd9];
ld.global.{0} %v2, [%rd10];
ld.global.{0} %v3, [%rd10+-{2}];
ld.global.{0} %v4, [%rd10+{2}];
ld.global.{0} %v5, [%rd12];
ld.global.{0} %v6, [%rd13];
ld.global.{0} %v7, [%rd{6}];
{3} %v8, %v3, %v4;
{3} %v9, %v5, %v6;
{3} %v10, %v8, %v9;
{5} %v11, %v2, %v10;
{4} %v12, %v11, %v1;
{3} %v13, %v12, %v7;
st.global.{0} [%rd11], %v13;
done: ret;
}}
)",
                     type.name, type.reg, bytes, type.add, type.sub, type.scale, beside ? 14 : 9);
}

StepHost host_of(const Stepped& stepped, const Type& type, unsigned nx, unsigned ny,
                 unsigned seed = 1) {
  StepHost host{.stepped = stepped,
                .grid = {(nx + 31) / 32, (ny + 3) / 4},
                .block = {32, 4},
                .arguments = {0, 1, 2, nx, ny},
                .buffers = {},
                .pointers = {0, 1, 2}};
  for (unsigned n = 0; n < 3; ++n)
    host.buffers.push_back(
        test::random_elements(std::size_t{nx} * ny, type.bytes, type.is_float, seed + n));
  return host;
}

const std::vector<StepShape> shapes{{.count = 3, .width = 32, .strips = 2, .rows = 8},
                                    {.count = 6, .width = 32, .strips = 2, .rows = 16},
                                    {3, 32, 4, 8, 4},
                                    {3, 48, 3, 12, 2},
                                    {.count = 6, .width = 32, .strips = 4, .rows = 8},
                                    {3, 32, 4, 8, 4, 0, true},
                                    {3, 64, 4, 8, 2},
                                    {6, 64, 4, 8, 2, 0, true}};

class RotatedStepsOf : public ::testing::TestWithParam<std::tuple<Type, bool>> {};

TEST_P(RotatedStepsOf, LeaveTheSame) {
  const auto& [type, beside] = GetParam();
  for (const StepShape& shape : shapes) {
    if (shape.lanes && type.bytes < 4) continue;
    const Stepped stepped(wave(type, beside), "wave", shape, Motion::rotated);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.width == 64 && !shape.lanes)
      test::expect_that_ptxas_takes(*stepped.both->text,
                                    fmt::format("rotated_{}_{}", type.name, beside));
    const unsigned both = 2 * shape.count;
    std::vector<std::pair<unsigned, unsigned>> sizes{{3, 3}, {7, 33}, {70, 35}};
    if (shape.columns == 4) // regions without a rim, rows of whole vectors
      sizes = {{72, 66}, {70, 66}};
    for (const auto& [nx, ny] : sizes) {
      unsigned merged = 0;
      for (const unsigned steps : {both + 1, 2 * both + 3})
        EXPECT_EQ(host_of(stepped, type, nx, ny).difference(steps, &merged), "")
            << nx << 'x' << ny << ", " << steps << " steps, T = " << shape.count;
      EXPECT_EQ(merged, 3U);
    }
  }
}

// The shape that plain waves get, with its inner regions.
TEST(RotatedSteps, LeaveTheSameInLargeRegions) {
  for (const Type& type : {f32, f64}) {
    const Stepped stepped(wave(type), "wave",
                          {.count = 6,
                           .width = 64,
                           .strips = 8,
                           .rows = 8,
                           .columns = 2,
                           .resident = 3,
                           .lanes = true},
                          Motion::rotated);
    ASSERT_EQ(stepped.entry.refused.text, "");
    for (const auto& [nx, ny] : {std::pair{200U, 190U}, {133U, 71U}})
      EXPECT_EQ(host_of(stepped, type, nx, ny).difference(13), "") << nx << 'x' << ny;
  }
}

INSTANTIATE_TEST_SUITE_P(
    T, RotatedStepsOf, ::testing::Combine(::testing::Values(f32, f64, s32, u16), ::testing::Bool()),
    [](const auto& row) {
      return std::string(std::get<0>(row.param).name) + (std::get<1>(row.param) ? "_beside" : "");
    });

TEST(RotatedSteps, OfEverySizeAndNumber) {
  const Stepped stepped(wave(f32), "wave", shapes[0], Motion::rotated);
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (unsigned n = 1; n <= 40; ++n)
    for (const unsigned steps : {n, 41 - n}) {
      const StepHost host = host_of(stepped, f32, n, 43 - n, n);
      if (n < 3)
        EXPECT_EQ(host.fit_error(), "nothing is stored") << n;
      else
        EXPECT_EQ(host.difference(steps, &merged), "") << n << ", " << steps << " steps";
    }
  EXPECT_GT(merged, 200U);
}

// Elements outside the guard differ from array to array, and each keeps its own.
TEST(RotatedSteps, TouchNothingThatNoStepTouches) {
  for (const bool beside : {false, true}) {
    const Stepped stepped(wave(f32, beside), "wave", shapes[0], Motion::rotated);
    ASSERT_EQ(stepped.entry.refused.text, "");
    const StepHost host = host_of(stepped, f32, 70, 35);
    auto plain = host.run(7, true), merged = host.run(7, false);
    EXPECT_EQ(merged.merged_launches, 1U);
    const simt::Allocation* const fourth = merged.memory.find("fourth");
    ASSERT_NE(fourth, nullptr);
    const auto is_fourth = [&](std::uint64_t at) { return fourth->contains(at, 1); };
    std::set<std::uint64_t> read_of_fourth;
    std::ranges::copy_if(merged.loaded, std::inserter(read_of_fourth, read_of_fourth.end()),
                         is_fourth);
    EXPECT_FALSE(read_of_fourth.empty());
    EXPECT_TRUE(std::ranges::includes(merged.stored, read_of_fourth));
    std::erase_if(merged.loaded, is_fourth);
    std::erase_if(merged.stored, is_fourth);
    EXPECT_TRUE(std::ranges::includes(plain.stored, merged.stored));
    plain.loaded.merge(plain.stored);
    EXPECT_TRUE(std::ranges::includes(plain.loaded, merged.loaded));
  }
}

TEST(RotatedSteps, AreNotForArraysThatOverlap) {
  const Stepped stepped(wave(f32), "wave", shapes[0], Motion::rotated);
  StepHost host = host_of(stepped, f32, 64, 64);
  EXPECT_EQ(host.fit_error(), "");
  for (const auto& [a, b] : {std::pair{0U, 1U}, {1U, 2U}, {0U, 2U}}) {
    StepHost same = host;
    same.arguments[a] = same.arguments[b];
    EXPECT_EQ(same.fit_error(), "the arrays overlap") << a << b;
  }
}

TEST(RotatedSteps, ComeRoundAfterThree) {
  for (const unsigned count : {4U, 5U, 7U})
    EXPECT_EQ(Stepped(wave(f32), "wave", {.count = count}, Motion::rotated).entry.refused.text,
              "no such shape");
  EXPECT_EQ(Stepped(wave(f32), "wave", {.count = 6}).entry.refused.text, "no such shape");
}

// What wave computes for a line is its own step: no strips.
TEST(RotatedSteps, OnALine) {
  std::string text = wave(f64);
  const auto replace = [&](std::string_view what, std::string_view with) {
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
  };
  replace("mad.lo.s32 %r8, %r5, %r6, %r7;", "");
  replace("mov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %ntid.y;\nmov.u32 %r7, %tid.y;", "");
  replace("setp.lt.s32 %p3, %r8, 1;\nsetp.ge.s32 %p4, %r8, %r12;", "");
  replace("or.pred %p6, %p3, %p4;\nor.pred %p7, %p5, %p6;\n@%p7", "@%p5");
  replace("mad.lo.s32 %r13, %r8, %r9, %r4;", "mov.u32 %r13, %r4;");
  replace("mul.wide.s32 %rd8, %r9, 8;", "mov.b64 %rd8, 16;");
  replace("add.s32 %r11, %r9, -1;", "add.s32 %r11, %r9, -2;");
  replace("setp.lt.s32 %p1, %r4, 1;", "setp.lt.s32 %p1, %r4, 2;");
  for (const StepShape& shape : {StepShape{.count = 3}, {.count = 6, .columns = 2}}) {
    const Stepped stepped(text, "wave", shape, Motion::rotated);
    ASSERT_EQ(stepped.entry.refused.text, "");
    for (const unsigned n : {5U, 33U, 64U, 201U}) {
      StepHost host = host_of(stepped, f64, n, 1);
      host.grid.y = host.block.y = 1;
      unsigned merged = 0;
      EXPECT_EQ(host.difference(15, &merged), "") << n;
      EXPECT_NE(merged, 0U);
    }
  }
}

} // namespace
} // namespace ptxasw
