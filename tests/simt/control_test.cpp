// Divergence and reconvergence, in every schedule.
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

class Control : public testing::TestWithParam<Schedule> {
protected:
  static Shape shape() {
    Shape s;
    s.schedule = GetParam();
    return s;
  }
  static void expect_words(const Ran& ran, const std::function<std::uint32_t(std::uint32_t)>& f,
                           std::uint32_t count = 32) {
    ASSERT_EQ(ran.result.message, "");
    for (std::uint32_t i = 0; i < count; ++i)
      EXPECT_EQ(ran.words[i], f(i)) << "word " << i;
  }
};

TEST_P(Control, StraightLine) {
  expect_words(run_body("mul.lo.u32 %r5, %r1, 3; st.global.u32 [%rd2], %r5; ret;", shape()),
               [](std::uint32_t i) { return 3 * i; });
}

TEST_P(Control, IfThenElse) {
  expect_words(run_body(R"(
setp.lt.u32 %p1, %r1, 10;
@%p1 bra THEN;
mov.u32 %r5, 200;
bra JOIN;
THEN: mov.u32 %r5, 100;
JOIN: add.u32 %r5, %r5, %r1;
st.global.u32 [%rd2], %r5;
ret;)",
                        shape()),
               [](std::uint32_t i) { return (i < 10 ? 100 : 200) + i; });
}

TEST_P(Control, LoopWithDifferentTrips) {
  expect_words(run_body(R"(
mov.u32 %r5, 0; mov.u32 %r6, 0;
LOOP: add.u32 %r5, %r5, %r6;
add.u32 %r6, %r6, 1;
setp.le.u32 %p1, %r6, %r1;
@%p1 bra LOOP;
st.global.u32 [%rd2], %r5;
ret;)",
                        shape()),
               [](std::uint32_t i) { return i * (i + 1) / 2; });
}

TEST_P(Control, EarlyReturnAndPredicatedExit) {
  expect_words(run_body(R"(
setp.lt.u32 %p1, %r1, 4;
@%p1 ret;
setp.gt.u32 %p2, %r1, 20;
@%p2 exit;
mov.u32 %r5, 7;
st.global.u32 [%rd2], %r5;
ret;)",
                        shape()),
               [](std::uint32_t i) { return i < 4 || i > 20 ? i : 7; });
}

TEST_P(Control, BranchTable) {
  expect_words(run_body(R"(
and.b32 %r5, %r1, 3;
T: .branchtargets A, B, C, B;
brx.idx %r5, T;
A: mov.u32 %r6, 1; bra J;
B: mov.u32 %r6, 2; bra J;
C: mov.u32 %r6, 3;
J: st.global.u32 [%rd2], %r6;
ret;)",
                        shape()),
               [](std::uint32_t i) {
                 const std::uint32_t expected[] = {1, 2, 3, 2};
                 return expected[i % 4];
               });
}

TEST_P(Control, UnstructuredLoopWithTwoExits) {
  expect_words(run_body(R"(
mov.u32 %r5, %r1; mov.u32 %r6, 0;
L: setp.gt.u32 %p1, %r5, 40;
@%p1 bra OUT;
and.b32 %r7, %r5, 7;
setp.eq.u32 %p2, %r7, 7;
@%p2 bra MID;
add.u32 %r5, %r5, 3; add.u32 %r6, %r6, 1;
bra L;
MID: add.u32 %r6, %r6, 100;
OUT: st.global.u32 [%rd2], %r6;
ret;)",
                        shape()),
               [](std::uint32_t i) {
                 std::uint32_t iterations = 0;
                 for (std::uint32_t v = i; v <= 40; v += 3, ++iterations)
                   if ((v & 7) == 7) return iterations + 100;
                 return iterations;
               });
}

TEST_P(Control, PartialWarpsAndSeveralBlocks) {
  Shape s = shape();
  s.grid = {3, 1, 1};
  s.block = {45, 1, 1};
  s.words = 160;
  expect_words(
      run_body(R"(
mov.u32 %r5, %ctaid.x;
mad.lo.u32 %r6, %r5, %r4, %r1;
mul.wide.u32 %rd3, %r6, 4;
add.s64 %rd3, %rd1, %rd3;
mul.lo.u32 %r7, %r6, %r6;
st.global.u32 [%rd3], %r7;
ret;)",
               s),
      [](std::uint32_t i) { return i < 135 ? i * i : i; }, 160);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Control, testing::ValuesIn(some_schedules()));

TEST(Reconvergence, AfterABranchAllLanesMoveTogether) {
  const Ran ran = run_body(R"(
setp.lt.u32 %p1, %r1, 10;
@%p1 bra THEN;
mov.u32 %r5, 1;
bra JOIN;
THEN: mov.u32 %r5, 2;
JOIN: activemask.b32 %r6;
st.global.u32 [%rd2], %r6;
ret;)");
  EXPECT_THAT(ran.words, testing::Contains(0xffffffffU).Times(32));
}

TEST(Reconvergence, InsideABranchOnlyItsLanesAreActive) {
  const Ran ran = run_body(R"(
setp.lt.u32 %p1, %r1, 10;
@%p1 bra THEN;
activemask.b32 %r6;
bra JOIN;
THEN: activemask.b32 %r6;
JOIN: st.global.u32 [%rd2], %r6;
ret;)");
  EXPECT_EQ(ran.words[0], 0x3ffU);
  EXPECT_EQ(ran.words[31], 0xfffffc00U);
}

TEST(Reconvergence, LoopsWaitForTheirLastLane) {
  // One store request for the whole warp behind the loop.
  const Ran ran = run_body(R"(
mov.u32 %r6, 0;
LOOP: add.u32 %r6, %r6, 1;
setp.le.u32 %p1, %r6, %r1;
@%p1 bra LOOP;
st.global.u32 [%rd2], %r6;
ret;)");
  EXPECT_EQ(ran.result.counts.global_store_requests, 1U);
}

// Does a lane ever see another one in a different trip of its loop, as one of its active mask?
bool meets_another_trip(bool across_iterations) {
  const char* body = R"(
mov.u32 %r5, 0; mov.u32 %r9, 0;
L: activemask.b32 %r6;
shfl.sync.idx.b32 %r7, %r5, 0, 31, %r6;
mov.u32 %r8, %lanemask_eq; and.b32 %r8, %r6, 1; setp.eq.u32 %p1, %r8, 1;
setp.ne.and.u32 %p1, %r7, %r5, %p1;
@%p1 add.u32 %r9, %r9, 1;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p2, %r5, 6;
@%p2 bra L;
st.global.u32 [%rd2], %r9; ret;)";
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Shape shape;
    shape.schedule = {Schedule::Kind::independent, seed, 1, across_iterations};
    const Ran ran = run_body(body, shape);
    EXPECT_EQ(ran.result.message, "");
    for (std::uint32_t i = 0; i < 32; ++i)
      if (ran.words[i] != 0) return true;
  }
  return false;
}

TEST(Trips, LanesMeetInTheSameOneUnlessToldOtherwise) {
  EXPECT_FALSE(meets_another_trip(false));
  EXPECT_TRUE(meets_another_trip(true));
}

TEST(Budget, EndlessLoopStops) {
  const Ran ran = run_body("L: bra L;");
  EXPECT_EQ(ran.result.status, Result::Status::budget);
}

TEST(Trap, StopsTheLaunch) {
  const Ran ran = run_body("setp.eq.u32 %p1, %r1, 5; @%p1 trap; ret;");
  EXPECT_EQ(ran.result.status, Result::Status::trapped);
  EXPECT_THAT(ran.result.message, testing::HasSubstr("thread (5, 0, 0)"));
}

TEST(Unknown, InstructionIsNamed) {
  const Ran ran = run_body("tanhh.f32 %f1, %f2; ret;");
  EXPECT_EQ(ran.result.status, Result::Status::unsupported);
  EXPECT_THAT(ran.result.message, testing::HasSubstr("tanhh.f32 %f1, %f2"));
}

} // namespace
} // namespace ptxasw::simt
