// Indices that may wrap, and what bounds them, in loops as well.
#include "passes/coarsen/block_found.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::block::find;
using test::block::Found;
using ::testing::ElementsAre;

// %rd8 = &in[%r5] + n: inside the widening in one load, outside in the other.
constexpr const char* pitch_outside = R"(
    mul.wide.s32 %rd9, %r1, 4;
    add.s64 %rd8, %rd4, %rd9;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd4];
)";

// "4*nx + nx*%ctaid.y + %tid.x < 2^31"
std::string bound_of(const Found& f) {
  std::string sum;
  for (const auto& [factors, coefficient] : f.plan.bound.products) {
    std::vector<std::string> parts;
    if (coefficient != 1 || factors.empty()) parts.push_back(fmt::to_string(coefficient));
    for (const sym::Term factor : factors)
      parts.push_back(f.emulated.kernel.context->to_string(factor));
    sum += fmt::format("{}{}", sum.empty() ? "" : " + ", fmt::join(parts, "*"));
  }
  return sum.empty() ? sum : sum + " < 2^31";
}

TEST(BlockBound, IndicesThatMayWrapAreBounded) {
  const Found f = find(std::string(pitch_outside) + "ret;");
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0?"));
  EXPECT_EQ(bound_of(f), "n + n*%ctaid.y + %tid.x < 2^31");
}

// The bound is about values that are known on entry, those of copy 0: not where a base that each
// copy has loaded for itself keeps the address from being carried over.
TEST(BlockBound, NotForAddressesThatOneCopyHolds) {
  EXPECT_THAT(find(R"(
    mul.wide.u32 %rd8, %r4, 8;
    add.s64 %rd8, %rd8, %rd2;
    ld.global.u64 %rd8, [%rd8];
    mul.wide.s32 %rd9, %r6, 4;
    add.s64 %rd10, %rd8, %rd9;
    ld.global.f32 %f1, [%rd10];
    mul.wide.s32 %rd11, %r1, 4;
    add.s64 %rd12, %rd8, %rd3;
    add.s64 %rd12, %rd12, %rd11;
    ld.global.f32 %f2, [%rd12];
    ld.global.f32 %f3, [%rd10];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load", "load load", "1.0 1.1"));
}

// An unsigned index may be below zero before it is widened: no sum of magnitudes tells.
TEST(BlockBound, UnsignedIndicesMustNotBeNegative) {
  const auto rows = [](const char* constant) {
    return fmt::format(R"(
    add.s32 %r8, %r5, {};
    mul.wide.u32 %rd8, %r8, 4;
    add.s64 %rd8, %rd8, %rd1;
    mul.wide.u32 %rd9, %r1, 4;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    ret;)",
                       constant);
  };
  EXPECT_THAT(find(rows("3")).sources(), ElementsAre("load load", "load 0.0?"));
  EXPECT_THAT(find(rows("-3")).sources(), ElementsAre("load load", "load load"));
}

// The largest index counts, whichever of the two loads it is in.
TEST(BlockBound, BothLoadsAreBounded) {
  const std::string inside = "ld.global.f32 %f1, [%rd6];\n";
  const std::string outside = "add.s32 %r8, %r5, 100;\nmul.wide.s32 %rd8, %r8, 4;\n"
                              "mul.wide.s32 %rd9, %r1, 4;\nadd.s64 %rd8, %rd8, %rd9;\n"
                              "add.s64 %rd8, %rd8, %rd1;\nld.global.f32 %f2, [%rd8+-400];\n";
  for (const std::string& loads : {inside + outside, outside + inside}) {
    const Found f = find(loads + "ret;");
    EXPECT_THAT(f.sources(), ElementsAre("load load", "0.0? 0.1?"));
    EXPECT_EQ(bound_of(f), "100 + 2*n + n*%ctaid.y + %tid.x < 2^31");
  }
}

TEST(BlockBound, NotIn16Bits) {
  EXPECT_THAT(find(R"(cvt.u16.u32 %rs1, %r5;
    add.s16 %rs2, %rs1, 3;
    cvt.s64.s16 %rd8, %rs1;
    cvt.s64.s16 %rd9, %rs2;
    add.s64 %rd8, %rd8, %rd1;
    add.s64 %rd9, %rd9, %rd1;
    ld.global.u8 %r8, [%rd9];
    ld.global.u8 %r9, [%rd8+3];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load"));
}

TEST(BlockBound, NothingToBoundIn64Bits) {
  const Found f = find(R"(
    cvt.u64.u32 %rd8, %r4;
    mul.wide.u32 %rd9, %r1, 4;
    mad.lo.s64 %rd8, %rd8, %rd9, %rd1;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    ret;)");
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0"));
  EXPECT_EQ(bound_of(f), "");
}

TEST(BlockBound, Paranoid) {
  const Found f =
      find(std::string(pitch_outside) + "ret;", {.factors = {1, 2, 1}, .paranoid = true});
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0?"));
}

// A loop over %r8 whose index it is in.
Found find_in_loop(const char* start, const char* next) {
  return find(fmt::format(R"(mov.u32 %r8, {};
L:
    add.s32 %r9, %r5, %r8;
    mul.wide.s32 %rd8, %r9, 4;
    add.s64 %rd8, %rd8, %rd1;
    mul.wide.s32 %rd9, %r1, 4;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    {}
    @%p1 bra L;
M:
    ret;)",
                          start, next));
}

TEST(BlockBound, TripsAreBoundedByWhatEndsTheLoop) {
  const struct {
    const char *start, *next, *bound;
  } cases[] = {
      {"0", "add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.le.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 4;\nsetp.lt.s32 %p1, %r8, %r2;",
       "8 + n + n*%ctaid.y + 4*m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"%r2", "add.s32 %r8, %r8, -1;\nsetp.gt.s32 %p1, %r8, 3;",
       "6 + n + n*%ctaid.y + 2*m + %tid.x < 2^31"},
      // It may also end earlier.
      {"0",
       "ld.global.u32 %r10, [%rd1];\nsetp.eq.s32 %p2, %r10, 0;\n@%p2 bra M;\n"
       "add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
  };
  for (const auto& one : cases) {
    const Found f = find_in_loop(one.start, one.next);
    EXPECT_EQ(bound_of(f), one.bound) << one.next;
    EXPECT_EQ(f.sources()[1], "load 0.0?") << one.next;
  }
}

TEST(BlockBound, TripsThatNothingBounds) {
  const struct {
    const char *start, *next;
  } cases[] = {
      // Up to whatever is in memory; past the end, if the step does not hit it.
      {"0", "add.s32 %r8, %r8, 1;\nld.global.u32 %r10, [%rd1];\nsetp.lt.s32 %p1, %r8, %r10;"},
      {"0", "add.s32 %r8, %r8, 3;\nsetp.ne.s32 %p1, %r8, %r2;"},
      // Unsigned numbers that begin or end near the wrap.
      {"-5", "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r2;"},
      {"%r2", "add.s32 %r8, %r8, -2;\nsetp.gt.u32 %p1, %r8, 0;"},
      {"%r2", "setp.gt.u32 %p1, %r8, 1;\nadd.s32 %r8, %r8, -3;"},
      // An end that moves along, and one that is behind.
      {"0", "add.s32 %r8, %r8, 1;\nadd.s32 %r10, %r8, %r2;\nsetp.lt.s32 %p1, %r8, %r10;"},
      {"0", "add.s32 %r8, %r8, -1;\nsetp.lt.s32 %p1, %r8, %r2;"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.gt.s32 %p1, %r8, %r2;"},
      // An exit that not every trip passes.
      {"0", "add.s32 %r8, %r8, 1;\nld.global.u32 %r10, [%rd1];\nsetp.eq.s32 %p1, %r10, 0;\n"
            "@%p1 bra N;\nsetp.ge.s32 %p2, %r8, %r2;\n@%p2 bra M;\nN:\n"
            "setp.ne.s32 %p1, %r10, 9;"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(find_in_loop(one.start, one.next).sources()[1], "load load") << one.next;
}

} // namespace
} // namespace ptxasw
