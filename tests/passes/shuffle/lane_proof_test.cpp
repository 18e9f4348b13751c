// Closer looks at the conditions of the lane axis: bytes that overlap in part, the registers in
// which an index is checked, what the solver is asked, and pairs of loads that only look alike.
#include "passes/shared/found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::find;
using test::Found;
using test::kernel_text;
using ::testing::HasSubstr;

TEST(LaneProof, StoresThatOverlapInPart) {
  const auto covered = [](const char* load, const char* store) {
    return Found(kernel_text(fmt::format(R"(
    mul.wide.u32 %rd3, %r3, 16;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.{0} %fd1, [%rd4];
    st.global.{1};
    ld.global.{0} %fd2, [%rd4+16];
    ret;)",
                                         load, store)))
        .covered(1);
  };
  EXPECT_FALSE(covered("f64", "f64 [%rd4+12], %fd3")); // its end reaches into the bytes
  EXPECT_FALSE(covered("f64", "f32 [%rd4+20], %f1"));  // it begins inside them
  EXPECT_TRUE(covered("f64", "f64 [%rd4+24], %fd3"));
}

TEST(LaneProof, OtherLanesStoresAtAnUnknownDistance) {
  const Found f(kernel_text(R"(
    mul.lo.s32 %r4, %r3, %r1;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd6+4], %f1;
    ld.global.f32 %f2, [%rd6];
    ret;)"));
  EXPECT_THAT(f.kept(1), HasSubstr("may write it")); // with n = 1, the next lane does
}

TEST(LaneProof, ChecksSpanAllDistancesOfOneAddress) {
  // Two widened indices each: S(x + 1) holds r4 + 1 and r4 + 2 where D has r4 twice.
  const Found constants(kernel_text(R"(
    mad.lo.s32 %r4, %r1, %r2, %r3;
    add.s32 %r5, %r4, 1;
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.s32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd5, %rd4;
    add.s64 %rd7, %rd5, %rd3;
    ld.global.f32 %f1, [%rd6];
    ld.global.f32 %f2, [%rd7+12];
    ret;)"));
  ASSERT_EQ(constants.cover(1).checks.size(), 1U);
  EXPECT_EQ(constants.cover(1).checks[0].fact.constants.highest, 2);
  const Found units(kernel_text(R"(
    mul.lo.s32 %r4, %r3, %r1;
    add.s32 %r5, %r4, %r1;
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.s32 %rd4, %r5, 4;
    mul.wide.s32 %rd8, %r1, 12;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd5, %rd4;
    add.s64 %rd7, %rd5, %rd3;
    add.s64 %rd7, %rd7, %rd8;
    ld.global.f32 %f1, [%rd6];
    ld.global.f32 %f2, [%rd7];
    ret;)"));
  ASSERT_EQ(units.cover(1).checks.size(), 1U);
  EXPECT_EQ(units.cover(1).checks[0].fact.units.highest, 2);
}

// --- Where the index is at the covered load -----------------------------------------------------

std::string kept_for_want_of_a_register(const std::string& body) {
  const Found f(kernel_text("mad.lo.s32 %r4, %r1, %r2, %r3;\n" + body));
  return f.kept(1);
}

TEST(LaneProof, IndexRegisterIsGone) {
  EXPECT_THAT(kept_for_want_of_a_register(R"(
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    mov.u32 %r4, 0;
    ld.global.f32 %f2, [%rd4+4];
    ret;)"),
              HasSubstr("in no register"));
}

TEST(LaneProof, IndexRegisterIsGoneOnTheNextTrip) {
  EXPECT_THAT(kept_for_want_of_a_register(R"(
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    mov.u32 %r5, 0;
LOOP:
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    add.s32 %r4, %r4, 3;
    add.s32 %r5, %r5, 1;
    setp.lt.s32 %p1, %r5, %r1;
    @%p1 bra LOOP;
    ret;)"),
              HasSubstr("in no register"));
}

TEST(LaneProof, IndexRegisterWasWrittenOnOnePathOnly) {
  EXPECT_THAT(kept_for_want_of_a_register(R"(
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra L;
    mov.u32 %r5, %r4;
L:
    mov.u32 %r4, 0;
    ld.global.f32 %f2, [%rd4+4];
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f2;
    ret;)"),
              HasSubstr("in no register"));
}

TEST(LaneProof, IndexOnEntryIsOverwrittenFirst) {
  EXPECT_THAT(kept_for_want_of_a_register(R"(
    mov.u32 %r6, %r4;
    mov.u32 %r7, 0;
LOOP:
    add.s32 %r4, %r4, 1;
    mul.wide.s32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s32 %r6, %r6, 1;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    mul.wide.s32 %rd5, %r4, 4;
    add.s64 %rd6, %rd2, %rd5;
    add.s32 %r7, %r7, 1;
    setp.lt.s32 %p1, %r7, %r1;
    st.global.f32 [%rd6], %f2;
    @%p1 bra LOOP;
    ret;)"),
              HasSubstr("in no register"));
}

// --- What normal forms do not decide ------------------------------------------------------------

// The same number widened by sign and by zeros: equal where it is known not to be negative.
std::string widened_twice(std::string_view guard) {
  return kernel_text(fmt::format(R"(
    {}
    xor.b32 %r4, %r1, %r2;
    mul.wide.u32 %rd3, %r3, 4;
    mul.wide.s32 %rd4, %r4, 4;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd1, %rd3;
    add.s64 %rd7, %rd6, %rd4;
    add.s64 %rd8, %rd6, %rd5;
    ld.global.f32 %f1, [%rd7];
    ld.global.f32 %f2, [%rd8+4];
DONE:
    ret;)",
                                 guard));
}
constexpr const char* not_negative = R"(
    or.b32 %r5, %r1, %r2;
    setp.lt.s32 %p1, %r5, 0;
    @%p1 bra DONE;)";

TEST(LaneProof, TheSolverDecidesUnderTheFactsOfThePath) {
  const Found proved(widened_twice(not_negative));
  EXPECT_EQ(proved.cover(1).proof, sym::ProofKind::z3);
  EXPECT_TRUE(proved.cover(1).checks.empty());
  EXPECT_THAT(Found(widened_twice("")).kept(1), HasSubstr("not proved"));
}

TEST(LaneProof, CheckedFactsSayNoMoreThanTheCheck) {
  // That %r4 + 1 does not wrap leaves %r4 free to be positive, and n ^ m to be negative.
  const Found f(kernel_text(R"(
    add.s32 %r4, %r1, %r3;
    setp.lt.s32 %p1, %r4, 0;
    @%p1 bra DONE;
    xor.b32 %r5, %r1, %r2;
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.s32 %rd4, %r5, 4;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd1, %rd3;
    add.s64 %rd7, %rd6, %rd4;
    add.s64 %rd8, %rd6, %rd5;
    ld.global.f32 %f1, [%rd7];
    ld.global.f32 %f2, [%rd8+4];
DONE:
    ret;)"));
  EXPECT_THAT(f.kept(1), HasSubstr("not proved"));
}

TEST(LaneProof, WhatTheSolverCannotDecideStays) { // trap h30
  Emulated emulated(widened_twice(not_negative));
  sym::Solver solver(*emulated.kernel.context, {.use_z3 = false});
  const passes::LanePlan plan = passes::find_lane_reuse(emulated.kernel, solver, {});
  EXPECT_THAT(plan.loads.at(1).kept, HasSubstr("not proved"));
}

TEST(LaneProof, RegistersMustBeAlike) {
  EXPECT_THAT(find(R"(
    mul.wide.u32 %rd6, %r3, 2;
    add.s64 %rd7, %rd1, %rd6;
    ld.global.u16 %rs1, [%rd7];
    ld.global.u16 %r5, [%rd7+2];
    ret;)")
                  .kept(1),
              HasSubstr("another width or type"));
  EXPECT_THAT(find(R"(
    mul.wide.u32 %rd6, %r3, 8;
    add.s64 %rd7, %rd1, %rd6;
    ld.global.v2.f32 {%f1, %f2}, [%rd7];
    ld.global.v2.f32 {_, %f3}, [%rd7+8];
    ret;)")
                  .kept(1),
              HasSubstr("fill its register"));
}

TEST(LaneProof, SpacesMustAgree) {
  const Found f(kernel_text(R"(
    shl.b32 %r4, %r3, 2;
    cvt.u64.u32 %rd3, %r4;
    ld.shared.f32 %f1, [%r4];
    ld.global.f32 %f2, [%rd3+4];
    ret;)"),
                {.shared = true});
  EXPECT_THAT(f.kept(1), HasSubstr("another width or type"));
}

TEST(LaneProof, LocalMemoryIsEachThreadsOwn) {
  const Found f = find("ld.local.f32 %f1, [%rd4];\nld.local.f32 %f2, [%rd4+4];\nret;");
  EXPECT_THAT(f.kept(1), HasSubstr("local memory"));
}

TEST(LaneProof, OuterLoopsNeedUniformTripsToo) {
  const auto kept = [](const char* bound) {
    return find(fmt::format(R"(
    setp.lt.s32 %p1, %r1, 5; // the inner loop alone does not vary
    mov.u32 %r4, 0;
OUTER:
    mov.u32 %r5, 0; // the loops have a header each
INNER:
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    @%p1 bra INNER;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, {};
    @%p2 bra OUTER;
    ret;)",
                            bound))
        .kept(1);
  };
  EXPECT_EQ(kept("%r1"), "");
  EXPECT_THAT(kept("%r3"), HasSubstr("trip count may differ"));
}

} // namespace
} // namespace ptxasw
