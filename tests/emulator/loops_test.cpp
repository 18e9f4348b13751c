// Trips, induction variables and what a loop leaves as it is.
#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::emulate_body;
using test::Emulated;
using ::testing::ElementsAre;

TEST(Trace, InductionVariablesOfNestedLoops) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
    mov.u64 %rd3, %rd1;
OUTER:
    mov.u32 %r5, 0;
    mov.u64 %rd4, %rd3;
INNER:
    ld.global.f32 %f1, [%rd4];
    add.s64 %rd4, %rd4, 4;
    add.s32 %r5, %r5, 1;
    setp.lt.s32 %p1, %r5, %r1;
    @%p1 bra INNER;
    add.s64 %rd3, %rd3, 4096;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r2;
    @%p2 bra OUTER;
    ld.global.f32 %f2, [%rd3];
    ret;)");
  EXPECT_THAT(k.events(),
              ElementsAre("load in + 4096*trip0 + 4*trip1", "load in + 4096*trip0 + 4096"));
  EXPECT_EQ(k.kernel.uniformity.loops[0], analysis::Uniform::grid);
}

TEST(Trace, SeveralLatchesWithTheSameStep) {
  const Emulated k = emulate_body(R"(
    mov.u64 %rd3, %rd1;
LOOP:
    ld.global.u32 %r4, [%rd3];
    add.s64 %rd3, %rd3, 8;
    setp.eq.s32 %p1, %r4, 7;
    @%p1 bra LOOP;
    setp.eq.s32 %p2, %r4, 9;
    @%p2 bra LOOP;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in + 8*trip0"));
  EXPECT_EQ(k.kernel.uniformity.loops[0], analysis::Uniform::lane);
  EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.iterations.at(0)), sym::Uniformity::lane);
}

TEST(Trace, DifferentStepsAreNotAnInductionVariable) {
  const Emulated k = emulate_body(R"(
    mov.u64 %rd3, %rd1;
LOOP:
    ld.global.u32 %r4, [%rd3];
    add.s64 %rd3, %rd3, 8;
    setp.eq.s32 %p1, %r4, 7;
    @%p1 bra LOOP;
    add.s64 %rd3, %rd3, 8;
    setp.eq.s32 %p2, %r4, 9;
    @%p2 bra LOOP;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load loop(%rd3)"));
}

TEST(Trace, OneLatchThatDoesNotStepIsEnough) {
  for (const char* steps : {"add.s64 %rd3, %rd4, 8;\n@%p1 bra LOOP;\nmov.u64 %rd3, %rd4;",
                            "@%p1 bra LOOP;\nadd.s64 %rd3, %rd4, 8;"}) {
    const Emulated k = emulate_body(fmt::format(R"(
    mov.u64 %rd3, %rd1;
    setp.eq.s32 %p1, %r1, 7;
LOOP:
    ld.global.u32 %r4, [%rd3];
    setp.eq.s32 %p2, %r4, 9;
    mov.u64 %rd4, %rd3;
    {}
    @%p2 bra LOOP;
    ret;)",
                                                steps));
    EXPECT_THAT(k.events(), ElementsAre("load loop(%rd3)")) << steps;
  }
}

TEST(Trace, StepsThatTheLoopChangesAreNotSteps) {
  const Emulated k = emulate_body(R"(
    mov.u64 %rd3, %rd1;
LOOP:
    ld.global.u64 %rd4, [%rd3];
    add.s64 %rd3, %rd3, %rd4;
    setp.ne.s64 %p1, %rd4, 0;
    @%p1 bra LOOP;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load loop(%rd3)"));
  EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.events.at(0).address),
            sym::Uniformity::lane);
}

TEST(Trace, ALatchThatIsAlwaysTakenCounts) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
    mov.u64 %rd3, %rd1;
LOOP:
    ld.global.f32 %f1, [%rd3];
    add.s64 %rd3, %rd3, 8;
    setp.eq.s32 %p1, %r4, 0;
    @%p1 bra LOOP;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in + 8*trip0"));
}

TEST(Trace, LoopInvariantStaysItself) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
    mov.u64 %rd3, %rd1;
LOOP:
    ld.global.f32 %f1, [%rd3];
    mov.u64 %rd4, %rd3;
    mov.u64 %rd3, %rd4;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p1, %r4, %r1;
    @%p1 bra LOOP;
    ret;)");
  EXPECT_THAT(k.events(), ElementsAre("load in"));
}

} // namespace
} // namespace ptxasw
