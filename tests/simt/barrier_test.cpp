// Barriers, atomics and fences: order between threads of a block.
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

class Order : public testing::TestWithParam<Schedule> {
protected:
  static Shape shape(std::uint32_t threads = 128) {
    Shape s;
    s.schedule = GetParam();
    s.block = {threads, 1, 1};
    s.words = 256;
    s.report_undefined = true;
    return s;
  }
};

TEST_P(Order, ValuesCrossABarrier) {
  const Ran ran = run_body(R"(
shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;
st.shared.u32 [%r5], %r1;
bar.sync 0;
xor.b32 %r7, %r1, 127; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6;
ld.shared.u32 %r8, [%r7];
st.global.u32 [%rd2], %r8;
ret;)",
                           shape(), ".shared .align 4 .b8 s[512];");
  ASSERT_EQ(ran.result.message, "");
  for (std::uint32_t i = 0; i < 128; ++i)
    EXPECT_EQ(ran.words[i], i ^ 127);
}

TEST_P(Order, LanesThatHaveLeftAreNotWaitedFor) {
  for (const char* leave : {"ret", "bra END"}) { // the second as compilers write an early return
    const Ran ran = run_body(fmt::format(R"(
setp.ge.u32 %p1, %r1, 100;
@%p1 {};
bar.sync 0;
st.global.u32 [%rd2], 5;
END: ret;)",
                                         leave),
                             shape());
    ASSERT_EQ(ran.result.message, "") << leave;
    EXPECT_EQ(ran.words[99], 5U) << leave;
    EXPECT_EQ(ran.words[100], 100U) << leave;
  }
}

TEST_P(Order, ProducersArriveConsumersWait) {
  const Ran ran = run_body(R"(
mov.u32 %r6, s;
setp.lt.u32 %p1, %r1, 64;
@%p1 bra PRODUCE;
bar.sync 1, 128;
ld.shared.u32 %r7, [%r6];
st.global.u32 [%rd2], %r7;
ret;
PRODUCE: st.shared.u32 [%r6], 42;
membar.cta;
bar.arrive 1, 128;
ret;)",
                           shape(), ".shared .u32 s;");
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[70], 42U);
}

TEST_P(Order, ReductionOfABarrier) {
  const Ran ran = run_body(R"(
setp.lt.u32 %p1, %r1, 50;
bar.red.popc.u32 %r5, 2, %p1;
bar.red.and.pred %p2, 3, %p1;
bar.red.or.pred %p3, 3, %p1;
selp.u32 %r6, 1000, 0, %p2; selp.u32 %r7, 2000, 0, %p3;
add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;
st.global.u32 [%rd2], %r5; ret;)",
                           shape());
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[127], 2050U);
}

TEST_P(Order, UnalignedBarrierInDivergentCode) {
  const Ran ran = run_body(R"(
and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0;
@%p1 bra A;
barrier.sync 0; bra B;
A: barrier.sync 0;
B: st.global.u32 [%rd2], 3; ret;)",
                           shape());
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[1], 3U);
}

TEST_P(Order, AtomicsCountEveryThread) {
  const Ran ran = run_body(R"(
atom.global.add.u32 %r5, [%rd1+512], 1;
red.shared.max.s32 [s], %r1;
ret;)",
                           shape(), ".shared .u32 s;");
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[128], 128U + 128U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Order, testing::ValuesIn(some_schedules()));

struct AtomicCase {
  const char* instruction; // on word 0; %r9 is the operand
  std::uint32_t before, operand, after;
};
void PrintTo(const AtomicCase& c, std::ostream* out) {
  *out << c.instruction;
}

const AtomicCase atomics[] = {
    {"red.global.add.u32 [%rd1], %r9;", 0xffffffff, 2, 1},
    {"red.global.inc.u32 [%rd1], %r9;", 4, 5, 5},
    {"red.global.inc.u32 [%rd1], %r9;", 5, 5, 0},
    {"red.global.dec.u32 [%rd1], %r9;", 0, 5, 5},
    {"red.global.dec.u32 [%rd1], %r9;", 6, 5, 5},
    {"red.global.dec.u32 [%rd1], %r9;", 3, 5, 2},
    {"red.global.min.u32 [%rd1], %r9;", 0x80000000, 5, 5},
    {"red.global.min.s32 [%rd1], %r9;", 0x80000000, 5, 0x80000000},
    {"red.global.max.s32 [%rd1], %r9;", 0x80000000, 5, 5},
    {"red.global.and.b32 [%rd1], %r9;", 12, 10, 8},
    {"red.global.or.b32 [%rd1], %r9;", 12, 10, 14},
    {"red.global.xor.b32 [%rd1], %r9;", 12, 10, 6},
    {"red.global.add.f32 [%rd1], %r9;", 0x3f800000, 0x40000000, 0x40400000},
    {"red.global.add.f32 [%rd1], %r9;", 0x00400000, 0, 0}, // subnormal: flushed
    {"atom.global.exch.b32 %r8, [%rd1], %r9;", 1, 7, 7},
    {"atom.global.cas.b32 %r8, [%rd1], %r9, 99;", 7, 7, 99},
    {"atom.global.cas.b32 %r8, [%rd1], %r9, 99;", 8, 7, 8},
    {"red.global.add.noftz.f16x2 [%rd1], %r9;", 0x3c004000, 0x3c003c00, 0x40004200},
    {"cvt.u16.u32 %rs1, %r9; atom.global.cas.b16 %rs2, [%rd1], %rs1, 9;", 0x50003, 3, 0x50009},
};

class Atomic : public testing::TestWithParam<AtomicCase> {};
TEST_P(Atomic, Computes) {
  const AtomicCase& c = GetParam();
  const Ran ran = run_body(fmt::format("st.global.u32 [%rd1], {}; mov.u32 %r9, {}; {} ret;",
                                       c.before, c.operand, c.instruction),
                           {.block = {1, 1, 1}});
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[0], c.after);
}
INSTANTIATE_TEST_SUITE_P(All, Atomic, testing::ValuesIn(atomics));

// In lockstep the owner would wait for the others at the join: hardware before Volta hangs
// likewise.
TEST(Progress, SpinLockBetweenLanesOfAWarp) {
  for (const Schedule::Kind kind : {Schedule::Kind::independent, Schedule::Kind::one_lane}) {
    const Ran ran = run_body(R"(
L: atom.global.cas.b32 %r5, [%rd1], 0, 1;
setp.ne.u32 %p1, %r5, 0;
@%p1 bra L;
ld.volatile.global.u32 %r6, [%rd1+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd1+4], %r6;
atom.global.exch.b32 %r7, [%rd1], 0;
ret;)",
                             {.block = {33, 1, 1}, .schedule = {kind, 4, 1}});
    ASSERT_EQ(ran.result.message, "");
    EXPECT_EQ(ran.words[1], 34U);
  }
}

TEST(Atomic, SharedAdditionKeepsSubnormals) {
  const Ran ran = run_body("st.shared.u32 [s], 0x400000; red.shared.add.f32 [s], 0f00000000;"
                           "ld.shared.u32 %r5, [s]; st.global.u32 [%rd1], %r5; ret;",
                           {.block = {1, 1, 1}}, ".shared .u32 s;");
  ASSERT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[0], 0x400000U);
}

TEST(Barrier, MismatchesAreReported) {
  const auto message = [](std::string_view body) {
    return run_body(body, {.block = {64, 1, 1}}).result.message;
  };
  EXPECT_THAT(message("bar.sync 16; ret;"), HasSubstr("16 barriers"));
  EXPECT_THAT(message("bar.sync 0, 40; ret;"), HasSubstr("multiple of the warp size"));
  EXPECT_THAT(message("bar.sync 0, 96; ret;"), HasSubstr("deadlock"));
  EXPECT_THAT(message("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0, 64; ret;"
                      "A: bar.sync 0, 96; ret;"),
              HasSubstr("another number of threads"));
}

TEST(Blocks, RunInAnyOrder) {
  // Each block appends its number behind a counter.
  const char* body = R"(
mov.u32 %r5, %ctaid.x;
atom.global.add.u32 %r6, [%rd1], 1;
mul.wide.u32 %rd3, %r6, 4; add.s64 %rd3, %rd3, %rd1;
st.global.u32 [%rd3+4], %r5;
ret;)";
  Shape shape{.grid = {16, 1, 1}, .block = {1, 1, 1}};
  EXPECT_EQ(run_body(body, shape).words[1], 0U);
  shape.schedule.seed = 3;
  const Ran shuffled = run_body(body, shape);
  EXPECT_NE(std::vector(shuffled.words.begin() + 1, shuffled.words.begin() + 5),
            (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(shuffled.words[0], 16U);
}

} // namespace
} // namespace ptxasw::simt
