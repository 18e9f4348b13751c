// What the emulator says about addresses, flows and memory of small kernels.
#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::emulate_body;
using test::Emulated;
using ::testing::ElementsAre;

TEST(Trace, NamesParametersAndSpecialRegisters) {
  const Emulated k = emulate_body(R"(
    mad.lo.s32 %r4, %r3, %r1, %r2;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4+8];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in + 4*sext(n*%tid.x + m) + 8"));
}

TEST(Trace, SmallIndicesWidenWithoutWrap) {
  const Emulated k = emulate_body(R"(
    shl.b32 %r4, %r3, 2;
    cvt.u64.u32 %rd3, %r4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in + 4*zext(%tid.x)"));
}

TEST(Trace, ReqntidMakesConstants) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.y;
    mad.lo.s32 %r6, %r5, %r4, %r3;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ret;)",
                                  ".reqntid 64, 1, 1");
  EXPECT_THAT(k.events(), ElementsAre("load in + 4*zext(%tid.x)"));
}

TEST(Trace, GuardedDefinitionIsConditional) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, %r1;
    mov.u64 %rd3, %rd1;
    @%p1 mov.u64 %rd3, %rd2;
    ld.global.f32 %f1, [%rd3];
    @!%p1 ld.global.f32 %f2, [%rd1];
    ret;)");
  ASSERT_EQ(k.events().size(), 2U);
  EXPECT_EQ(k.events()[0], "load %tid.x <s n ? out : in");
  const auto& context = *k.kernel.context;
  EXPECT_EQ(context.value(k.kernel.trace.events[0].guard), sym::Bits{1});
  EXPECT_EQ(context.value(k.kernel.trace.events[1].guard), std::nullopt);
}

TEST(Trace, TwoWayJoinBecomesSelection) {
  const Emulated k = emulate_body(R"(
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra OTHER;
    add.s64 %rd3, %rd1, 16;
    bra JOIN;
OTHER:
    add.s64 %rd3, %rd2, 16;
JOIN:
    ld.global.f32 %f1, [%rd3];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load n == 0 ? out + 16 : in + 16"));
}

TEST(Trace, EqualValuesSurviveAJoin) {
  const Emulated k = emulate_body(R"(
    add.s64 %rd3, %rd1, 16;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra JOIN;
    add.s64 %rd3, %rd1, 16;
JOIN:
    ld.global.f32 %f1, [%rd3];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in + 16"));
}

TEST(Trace, UnrealizableBranchIsPruned) {
  const Emulated k = emulate_body(R"(
    setp.gt.u32 %p1, %r3, 2000;
    mov.u64 %rd3, %rd1;
    @%p1 bra NEVER;
    bra JOIN;
NEVER:
    mov.u64 %rd3, %rd2;
JOIN:
    ld.global.f32 %f1, [%rd3];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in"));
  EXPECT_EQ(k.kernel.trace.pruned_edges, 1U);
}

TEST(Trace, TheLastThreadOfALargeBlockIsReal) {
  const Emulated k = emulate_body(R"(
    setp.lt.u32 %p1, %r3, 1023;
    @%p1 bra DONE;
    ld.global.f32 %f1, [%rd1];
DONE:
    ret;)");
  EXPECT_EQ(k.kernel.trace.pruned_edges, 0U);
}

TEST(Trace, ASideThatTheOtherCanReachIsNoSide) {
  const Emulated k = emulate_body(R"(
    setp.eq.s32 %p1, %r1, 0;
    setp.eq.s32 %p2, %r2, 0;
    add.s64 %rd3, %rd2, 16;
    @%p1 bra SIDE;
    @%p2 bra JOIN;
SIDE:
    add.s64 %rd3, %rd1, 16;
JOIN:
    ld.global.f32 %f1, [%rd3];
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load phi(%rd3)"));
}

TEST(Trace, MergedValuesAreEqualIfTheyAgreeOnEveryPath) {
  const Emulated k = emulate_body(R"(
    setp.eq.s32 %p1, %r3, 0;
    setp.eq.s32 %p2, %r3, 1;
    mov.u64 %rd3, %rd1;
    mov.u64 %rd4, %rd1;
    mov.u64 %rd5, %rd1;
    @%p1 bra JOIN;
    mov.u64 %rd4, %rd2;
    @%p2 bra JOIN;
    mov.u64 %rd3, %rd2;
    mov.u64 %rd5, %rd2;
JOIN:
    ld.global.f32 %f1, [%rd3];
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    ret;)");
  const auto& events = k.kernel.trace.events;
  EXPECT_EQ(events.at(0).address, events.at(2).address);
  EXPECT_NE(events.at(0).address, events.at(1).address);
  EXPECT_EQ(k.kernel.context->uniformity(events[0].address), sym::Uniformity::lane);
}

TEST(Trace, NonCoherentLoadsAreCongruentOthersAreNot) {
  const Emulated k = emulate_body(R"(
    ld.global.nc.u32 %r4, [%rd1];
    ld.global.nc.u32 %r5, [%rd1];
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.s32 %rd4, %r5, 4;
    add.s64 %rd5, %rd2, %rd3;
    add.s64 %rd6, %rd2, %rd4;
    ld.global.u32 %r6, [%rd5];
    ld.global.u32 %r7, [%rd6];
    mul.wide.s32 %rd7, %r6, 4;
    mul.wide.s32 %rd8, %r7, 4;
    ld.global.u32 %r8, [%rd7];
    ld.global.u32 %r9, [%rd8];
    ret;)");
  const auto& events = k.kernel.trace.events;
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[2].address, events[3].address);
  EXPECT_NE(events[4].address, events[5].address);
}

TEST(Trace, WhatOrdersMemoryIsRecorded) {
  const Emulated k = emulate_body(R"(
    ld.volatile.global.u32 %r4, [%rd1];
    bar.sync 0;
    membar.gl;
    atom.global.add.u32 %r5, [%rd1], 1;
    red.global.add.u32 [%rd1], 1;
    shfl.sync.down.b32 %r6, %r5, 1, 31, -1;
    st.global.u32 [%rd2], %r6;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in", "clobber ld", "clobber bar", "clobber membar",
                                      "clobber atom", "clobber red", "clobber shfl", "store out"));
}

TEST(Trace, ClocksNeverReadTheSame) { // trap h54
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, %clock;
    mov.u32 %r5, %clock;
    mul.wide.u32 %rd3, %r4, 4;
    mul.wide.u32 %rd4, %r5, 4;
    ld.global.u32 %r6, [%rd3];
    ld.global.u32 %r7, [%rd4];
    ret;)");
  EXPECT_NE(k.kernel.trace.events.at(0).address, k.kernel.trace.events.at(1).address);
}

} // namespace
} // namespace ptxasw
