// Which kernels are time steps, and why others are not.
#include "passes/time_tile/step/step.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/time_tile/offsets_text.hpp"
#include "passes/time_tile/place_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace ptxasw::passes {
namespace {

using testing::HasSubstr;

using test::places;

// Out where x < 1, x >= n - 1, y < 1 or y >= m - 1.
constexpr std::string_view guard = R"(
setp.lt.s32 %p1, %r10, 1;
add.s32 %r12, %r1, -1;
setp.ge.s32 %p2, %r10, %r12;
setp.lt.s32 %p3, %r11, 1;
add.s32 %r13, %r2, -1;
setp.ge.s32 %p4, %r11, %r13;
or.pred %p5, %p1, %p2;
or.pred %p6, %p3, %p4;
or.pred %p7, %p5, %p6;
@%p7 bra out;
)";

// %rd5 = the element in `in`, %rd6 = that in `out`.
constexpr std::string_view addresses = R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r14, %r11, %r1, %r10;
mul.wide.s32 %rd7, %r14, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
)";

std::string kernel(std::string_view before, std::string_view work) {
  return test::kernel_text(fmt::format("{}{}{}out: ret;", places, before, work));
}

StepPlan plan_of(const std::string& text, Motion motion = Motion::exchanged) {
  test::Emulated emulated(text);
  return find_step(emulated.kernel, motion);
}

StepPlan plan_of(std::string_view before, std::string_view work) {
  return plan_of(kernel(before, work));
}

std::string with(std::string_view work) {
  return std::string(addresses) + std::string(work);
}

TEST(Step, OfAStar) {
  const StepPlan plan = plan_of(guard, with(R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+-4];
sub.s32 %r15, %r14, %r1;
mul.wide.s32 %rd8, %r15, 4;
add.s64 %rd9, %rd3, %rd8;
ld.global.f32 %f4, [%rd9];
mul.wide.s32 %rd10, %r1, 4;
add.s64 %rd11, %rd5, %rd10;
ld.global.f32 %f5, [%rd11+4];
add.rn.f32 %f6, %f1, %f2;
add.rn.f32 %f7, %f4, %f5;
add.rn.f32 %f8, %f6, %f7;
st.global.f32 [%rd6], %f8;
)"));
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(offsets_text(plan), "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(1,1,0)");
  EXPECT_TRUE(plan.convex);
  EXPECT_EQ(plan.guards.size(), 1U);
  ASSERT_EQ(plan.arrays.size(), 1U);
  EXPECT_EQ(plan.arrays[0].out, 1U);
}

TEST(Step, WithoutAGuardOnARowWraps) {
  const std::string_view only_rows = R"(
setp.lt.s32 %p3, %r11, 1;
add.s32 %r13, %r2, -1;
setp.ge.s32 %p4, %r11, %r13;
setp.ge.s32 %p5, %r10, %r1;
or.pred %p6, %p3, %p4;
or.pred %p7, %p5, %p6;
@%p7 bra out;
)";
  EXPECT_THAT(plan_of(only_rows, with(R"(
ld.global.f32 %f1, [%rd5+-4];
st.global.f32 [%rd6], %f1;
)"))
                  .refused.text,
              HasSubstr("a row is too short"));
  EXPECT_EQ(plan_of(only_rows, with(R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
)"))
                .refused.text,
            "");
}

// What is read at several constant offsets and somewhere else is no array of the step's, if there
// is another one.
TEST(Step, OfAnArrayThatIsReadAtOffsetsOnly) {
  std::string text = kernel(guard, with(R"(
ld.param.u64 %rd15, [c];
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+4];
ld.global.f32 %f3, [%rd3];
cvta.to.global.u64 %rd8, %rd15;
add.s64 %rd9, %rd8, %rd7;
ld.global.f32 %f4, [%rd9];
add.rn.f32 %f5, %f1, %f2;
add.rn.f32 %f6, %f3, %f4;
add.rn.f32 %f7, %f5, %f6;
st.global.f32 [%rd6], %f7;
)"));
  const std::string_view last = ".param .u32 m";
  text.insert(text.find(last) + last.size(), ", .param .u64 c");
  const StepPlan plan = plan_of(text);
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(offsets_text(plan), "4(0,0,0)");
}

TEST(Step, NearMissesAreRefused) {
  const auto refused = [](std::string_view work) {
    return plan_of(guard, with(work)).refused.text;
  };
  EXPECT_THAT(refused("ld.global.f32 %f1, [%rd6];\nst.global.f32 [%rd6], %f1;\n"),
              HasSubstr("reads what the step writes"));
  EXPECT_THAT(refused("st.global.f32 [%rd6], 0f00000000;\n"), HasSubstr("no array is read"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd3];
add.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd6], %f3;
)"),
              HasSubstr("not at a constant offset"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
st.global.f32 [%rd6+4], %f1;
)"),
              HasSubstr("fields lie too close"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
st.global.f32 [%rd6+2], %f1;
)"),
              HasSubstr("a second store"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
cvt.rn.f32.u32 %f2, %r3;
add.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd6], %f3;
)"),
              HasSubstr("uses %tid.x"));
  EXPECT_THAT(refused(R"(
ld.volatile.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
)"),
              HasSubstr("volatile"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
bar.sync 0;
st.global.f32 [%rd6], %f1;
)"),
              HasSubstr("waits"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
setp.gt.f32 %p8, %f1, 0f00000000;
@%p8 bra out;
st.global.f32 [%rd6], %f1;
)"),
              HasSubstr("a guard depends on"));
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5];
setp.gt.f32 %p8, %f1, 0f00000000;
@%p8 st.global.f32 [%rd6], %f1;
)"),
              HasSubstr("guarded by itself"));
  EXPECT_THAT(refused(R"(
add.rn.f32 %f2, %f3, 0f3F800000;
ld.global.f32 %f1, [%rd5];
mov.f32 %f3, %f1;
add.rn.f32 %f4, %f2, %f3;
st.global.f32 [%rd6], %f4;
)"),
              HasSubstr("what it reads is written behind it"));
  EXPECT_THAT(refused(R"(
@%p8 bra out;
setp.ge.s32 %p8, %r10, %r1;
@%p8 bra out;
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
)"),
              HasSubstr("what it reads is written behind it"));
}

// Out where x >= n, y < 1 or y >= m - 1.
constexpr std::string_view whole_rows = R"(
setp.ge.s32 %p1, %r10, %r1;
setp.lt.s32 %p3, %r11, 1;
add.s32 %r13, %r2, -1;
setp.ge.s32 %p4, %r11, %r13;
or.pred %p6, %p3, %p4;
or.pred %p7, %p1, %p6;
@%p7 bra out;
)";

constexpr std::string_view element_at_r16 = R"(
mad.lo.s32 %r17, %r11, %r1, %r16;
mul.wide.s32 %rd8, %r17, 4;
add.s64 %rd9, %rd3, %rd8;
ld.global.f32 %f1, [%rd9];
st.global.f32 [%rd6], %f1;
)";

TEST(Step, OfANeighbourThatAClampWouldKeepInside) {
  const std::string clamped = fmt::format("{}add.s32 %r15, %r10, -1;\nmax.s32 %r16, %r15, 0;\n{}",
                                          addresses, element_at_r16);
  const StepPlan plan = plan_of(guard, clamped);
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(offsets_text(plan), "0(-1,0,0)");
  EXPECT_TRUE(plan.inner.empty());
  // In a row's first place it acts.
  const StepPlan acting = plan_of(whole_rows, clamped);
  EXPECT_EQ(acting.refused.text, "");
  EXPECT_EQ(offsets_text(acting), "0(-1,0,0)");
  ASSERT_EQ(acting.arrays[0].loads[0].cases.size(), 2U);
  EXPECT_EQ(acting.arrays[0].loads[0].cases[1].offset, (Offset{0, 0, 0}));
  EXPECT_EQ(acting.inner.size(), 1U);
}

// x + 1 where x < n - 1, else 0: the last place of a row reads the first one.
TEST(Step, OfANeighbourThatWouldBeTheFirstBehindTheLast) {
  const std::string round = fmt::format(R"({}
add.s32 %r15, %r10, 1;
add.s32 %r18, %r1, -1;
setp.lt.s32 %p8, %r10, %r18;
selp.b32 %r16, %r15, 0, %p8;
{})",
                                        addresses, element_at_r16);
  const StepPlan plan = plan_of(guard, round);
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_FALSE(plan.periods[0].has_value());
  const StepPlan torus = plan_of(whole_rows, round);
  EXPECT_EQ(torus.refused.text, "");
  EXPECT_EQ(torus.periods[0],
            IntegerPolynomial(Quantity{.number = 2, .as = contract::Token::Type::s32}));
  EXPECT_EQ(offsets_text(torus), "0(1,0,0)");
}

TEST(Step, OfElementsOfOneAndTwoBytes) {
  for (const auto& [type, bytes, reg] :
       {std::tuple{"u8", 1, "%rs1"}, {"s8", 1, "%r20"}, {"u16", 2, "%rs1"}, {"b16", 2, "%rs1"}}) {
    const std::string work = fmt::format(R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r14, %r11, %r1, %r10;
mul.wide.s32 %rd7, %r14, {0};
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
ld.global.{1} {2}, [%rd5+-{0}];
st.global.{1} [%rd6], {2};
)",
                                         bytes, type, reg);
    const StepPlan plan = plan_of(guard, work);
    EXPECT_EQ(plan.refused.text, "") << type;
    EXPECT_EQ(offsets_text(plan), "0(-1,0,0)") << type;
  }
}

// The older array is parameter 4; its element is at %rd16, the newer one's at %rd5.
StepPlan rotated(std::string_view work, std::string_view before = guard) {
  std::string text = kernel(before, with(fmt::format(R"(
ld.param.u64 %rd14, [old];
cvta.to.global.u64 %rd15, %rd14;
add.s64 %rd16, %rd15, %rd7;
{})",
                                                     work)));
  const std::string_view last = ".param .u32 m";
  text.insert(text.find(last) + last.size(), ", .param .u64 old");
  return plan_of(text, Motion::rotated);
}

constexpr std::string_view wave = R"(
ld.global.f32 %f1, [%rd16];
ld.global.f32 %f2, [%rd5+-4];
ld.global.f32 %f3, [%rd5+4];
add.rn.f32 %f4, %f2, %f3;
sub.rn.f32 %f5, %f4, %f1;
st.global.f32 [%rd6], %f5;
)";

TEST(Step, OfThreeArraysInRotation) {
  const StepPlan plan = rotated(wave);
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(plan.rotation, (contract::Rotation{.old = 4, .now = 0, .next = 1}));
  ASSERT_EQ(plan.arrays.size(), 2U);
  EXPECT_FALSE(plan.arrays[0].carried);
  EXPECT_TRUE(plan.arrays[1].carried);
  EXPECT_EQ(offsets_text(plan), "0(-1,0,0) 0(1,0,0) 4(0,0,0)");
  std::vector<unsigned> touched;
  for (const contract::Touched& one : plan.touched) {
    EXPECT_TRUE(one.written);
    touched.push_back(one.parameter);
  }
  EXPECT_THAT(touched, testing::UnorderedElementsAre(0, 1, 4));
}

TEST(Step, OfTwoArraysDoesNotRotate) {
  const StepPlan plan = plan_of(guard, with(R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
)"));
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_FALSE(plan.rotation);
}

// What is read beside a row of the older array is in the next one.
TEST(Step, OfThreeArraysNoneOfWhichWraps) {
  const std::string_view only_rows = R"(
setp.lt.s32 %p3, %r11, 1;
add.s32 %r13, %r2, -1;
setp.ge.s32 %p4, %r11, %r13;
setp.ge.s32 %p5, %r10, %r1;
or.pred %p6, %p3, %p4;
or.pred %p7, %p5, %p6;
@%p7 bra out;
)";
  const auto reads = [](std::string_view old, std::string_view now) {
    return fmt::format("ld.global.f32 %f1, [%rd16+{}];\nld.global.f32 %f2, [%rd5+{}];\n"
                       "add.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd6], %f3;\n",
                       old, now);
  };
  EXPECT_EQ(rotated(reads("0", "0"), only_rows).refused.text, "");
  for (const auto& [old, now] : {std::pair{"-4", "0"}, {"0", "-4"}})
    EXPECT_THAT(rotated(reads(old, now), only_rows).refused.text, HasSubstr("a row is too short"));
}

TEST(Step, OfThreeArraysWhereNoClampActs) {
  const std::string_view clamped = R"(
add.s32 %r15, %r10, -1;
max.s32 %r16, %r15, 0;
mad.lo.s32 %r17, %r11, %r1, %r16;
mul.wide.s32 %rd8, %r17, 4;
add.s64 %rd9, %rd15, %rd8;
ld.global.f32 %f1, [%rd9];
ld.global.f32 %f2, [%rd5];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd6], %f3;
)";
  const StepPlan plan = rotated(clamped);
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(plan.least, (Offset{-1, 0, 0}));
  EXPECT_TRUE(plan.inner.empty());
  EXPECT_EQ(rotated(clamped, whole_rows).inner.size(), 1U);
}

TEST(Step, NearMissesOfThreeArraysAreRefused) {
  const auto refused = [](std::string_view work) { return rotated(work).refused.text; };
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd16];
ld.global.f32 %f2, [%rd5+4];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd16], %f3;
)"),
              HasSubstr("reads what the step writes"))
      << "in place";
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5+-4];
ld.global.f32 %f2, [%rd5+4];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd6], %f3;
)"),
              HasSubstr("no two arrays are read"))
      << "of two arrays";
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd15];
ld.global.f32 %f2, [%rd5+4];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd6], %f3;
)"),
              HasSubstr("no two arrays are read"))
      << "the first element of old";
  EXPECT_THAT(refused(R"(
ld.global.u16 %rs1, [%rd16];
ld.global.f32 %f2, [%rd5+4];
cvt.rn.f32.u16 %f1, %rs1;
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd6], %f3;
)"),
              HasSubstr("no two arrays are read"))
      << "old has other elements";
  EXPECT_THAT(refused(R"(
ld.global.f32 %f1, [%rd5+4];
st.global.f32 [%rd6], %f1;
st.global.f32 [%rd16], %f1;
)"),
              HasSubstr("several arrays are written"));
}

} // namespace
} // namespace ptxasw::passes
