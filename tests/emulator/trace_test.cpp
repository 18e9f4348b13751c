// What the emulator says about addresses, flows and loops of small kernels.
#include "emulator/kernel_text.hpp"
#include "sanitized.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw {
namespace {

using test::emulate_body;
using test::Emulated;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.trips.at(0)), sym::Uniformity::lane);
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

TEST(Uniformity, CallResultsVaryByLane) { // trap h23
  const Emulated k(R"(.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 result) f(.param .b32 a) { ret; }
.visible .entry k(.param .u32 n)
{
.reg .b32 %r<4>;
ld.param.u32 %r1, [n];
{
.param .b32 argument;
.param .b32 result;
st.param.b32 [argument], %r1;
call (result), f, (argument);
ld.param.b32 %r2, [result];
}
ret;
}
)",
                   1);
  EXPECT_EQ(k.kernel.uniformity.registers.at(0), analysis::Uniform::grid);
  EXPECT_EQ(k.kernel.uniformity.registers.at(1), analysis::Uniform::lane);
}

TEST(Trace, ParametersOfFunctionsVaryByLane) {
  const Emulated k(R"(.version 8.0
.target sm_90
.address_size 64
.func f(.param .b64 a)
{
.reg .b64 %rd<2>;
.reg .f32 %f<2>;
ld.param.u64 %rd1, [a];
ld.global.f32 %f1, [%rd1];
ret;
}
)");
  ASSERT_EQ(k.kernel.trace.events.size(), 1U);
  EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.events[0].address), sym::Uniformity::lane);
  EXPECT_EQ(k.kernel.uniformity.registers.at(0), analysis::Uniform::lane);
}

// What reads a register before the one place that makes it vary.
TEST(Trace, WhatReadsARegisterVariesWithItAlongALoop) {
  const Emulated k = emulate_body("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                                  "mov.u32 %r5, 0;\nLOOP:\nadd.u32 %r3, %r2, 1;\n"
                                  "add.u32 %r2, %r1, 1;\nmov.u32 %r1, %tid.x;\n"
                                  "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 9;\n"
                                  "@%p1 bra LOOP;\nret;");
  const auto& registers = k.kernel.body.registers;
  unsigned seen = 0;
  for (std::size_t reg = 0; reg < registers.size(); ++reg) {
    if (registers[reg].name == "%r3") {
      EXPECT_EQ(k.kernel.uniformity.registers.at(reg), analysis::Uniform::lane);
      ++seen;
    }
    if (registers[reg].name == "%r5") {
      EXPECT_EQ(k.kernel.uniformity.registers.at(reg), analysis::Uniform::grid);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2U);
}

// Each of many branches to one place is searched for joins: with too many nothing is said.
TEST(Trace, UniformityOfThousandsOfExitsIsNotWorkedOut) {
  const auto uniform_after = [](unsigned exits) {
    std::string body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n";
    for (unsigned n = 0; n < exits; ++n)
      body += fmt::format("setp.eq.u32 %p1, %r2, {};\n@%p1 bra OUT;\nadd.u32 %r2, %r2, 3;\n", n);
    const Emulated k = emulate_body(body + "OUT:\nret;");
    const auto& registers = k.kernel.body.registers;
    for (std::size_t reg = 0; reg < registers.size(); ++reg)
      if (registers[reg].name == "%r1") return k.kernel.uniformity.registers.at(reg);
    return analysis::Uniform::grid;
  };
  EXPECT_EQ(uniform_after(100), analysis::Uniform::block);
  EXPECT_EQ(uniform_after(3000), analysis::Uniform::lane);
}

TEST(Trace, IrreducibleControlFlowIsRefused) {
  const Emulated k = emulate_body(R"(
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra B;
A:
    add.s32 %r1, %r1, 1;
B:
    add.s32 %r1, %r1, 2;
    setp.lt.s32 %p2, %r1, 100;
    @%p2 bra A;
    ret;)");
  EXPECT_THAT(k.kernel.trace.refused, HasSubstr("irreducible"));
}

TEST(Trace, UnreadableStatementRefusesTheKernel) {
  const Emulated k = emulate_body("ld.global.f32 %f1, [%rd1;\nret;");
  EXPECT_FALSE(k.kernel.trace.refused.empty());
}

TEST(Trace, UnknownInstructionRefusesTheKernel) {
  const Emulated k = emulate_body("frobnicate.u32 %r4, %r1;\nret;");
  EXPECT_THAT(k.kernel.trace.refused, HasSubstr("unknown instruction"));
}

TEST(Trace, NamesWithoutDeclarationRefuseTheKernel) {
  EXPECT_FALSE(emulate_body("add.s32 %r4, %q1, 1;\nret;").kernel.trace.refused.empty());
}

TEST(Trace, AccessesOfUnknownFormAreNotTakenForPlainOnes) {
  const Emulated k = emulate_body("st.global.f32 [%rd1], 1;\nret;"); // an integer among floats
  EXPECT_THAT(k.events(), ElementsAre("clobber st"));
}

TEST(Trace, NoFactAtALoopHeader) {
  const Emulated k = emulate_body(R"(
    setp.ge.s32 %p1, %r3, %r1;
    @%p1 bra DONE;
LOOP:
    ld.global.f32 %f1, [%rd1];
    add.s64 %rd1, %rd1, 4;
    setp.lt.s64 %p2, %rd1, %rd2;
    @%p2 bra LOOP;
DONE:
    ret;)");
  EXPECT_THAT(k.kernel.facts_at(k.kernel.trace.events.at(0).block), IsEmpty());
}

TEST(Trace, NoFactWhereTwoPathsEnter) {
  const Emulated k = emulate_body(R"(
    setp.ge.s32 %p1, %r3, %r1;
    @%p1 bra L;
    add.s64 %rd1, %rd1, 4;
L:
    ld.global.f32 %f1, [%rd1];
    ret;)");
  EXPECT_THAT(k.kernel.facts_at(k.kernel.trace.events.at(0).block), IsEmpty());
}

TEST(Trace, FactsOfGuardingBranches) {
  const Emulated k = emulate_body(R"(
    setp.ge.s32 %p1, %r3, %r1;
    @%p1 bra DONE;
    ld.global.f32 %f1, [%rd1];
DONE:
    ret;)");
  const auto facts = k.kernel.facts_at(k.kernel.trace.events.at(0).block);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(k.kernel.context->to_string(facts[0]), "%tid.x <s n");
}

TEST(Trace, TimeBudgetLeavesTheKernelAlone) {
  const ptx::Module module = ptx::parse(test::kernel_text("ret;"), "test.ptx");
  const emulator::Kernel kernel =
      emulator::emulate(module, module.functions.at(0), {.time = std::chrono::milliseconds(-1)});
  EXPECT_THAT(kernel.trace.refused, HasSubstr("time budget"));
}

// n sums, each of the one before and a loaded value: terms of up to n monomials.
std::string growing_sum(unsigned n) {
  std::string body = "cvta.to.global.u64 %rd3, %rd1; mov.b32 %r4, 0;\n";
  for (unsigned i = 0; i < n; ++i)
    body += "ld.global.nc.u32 %r5, [%rd3+" + std::to_string(4 * i) +
            "]; add.s32 %r4, %r4, %r5; mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd3, %rd4;"
            " ld.global.f32 %f1, [%rd5];\n";
  return test::kernel_text(body + "ret;");
}

TEST(Trace, BudgetsCountWork) {
  const ptx::Module module = ptx::parse(growing_sum(200), "test.ptx");
  const auto spent = [&](std::chrono::milliseconds time, std::size_t memory) {
    const emulator::Kernel kernel =
        emulator::emulate(module, module.functions.at(0), {.time = time, .memory = memory});
    return std::pair{kernel.trace.refused.text, kernel.context->spent()};
  };
  constexpr std::size_t plenty = std::size_t{1} << 30;
  const auto [none, all] = spent(std::chrono::milliseconds(1000), plenty);
  EXPECT_EQ(none, "");
  EXPECT_EQ(spent(std::chrono::milliseconds(1000), plenty).second, all); // again the same
  EXPECT_THAT(spent(std::chrono::milliseconds(1000), 64 << 10).first, HasSubstr("memory budget"));
  if (test::sanitized) GTEST_SKIP() << "the clock may come first";
  const auto [refused, part] = spent(std::chrono::milliseconds(1), plenty);
  EXPECT_THAT(refused, HasSubstr("time budget"));
  EXPECT_LT(part, emulator::Budget::steps_per_millisecond * 11 / 10);
}

// What a process of its own takes for it at most.
long peak_kilobytes(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  return usage.ru_maxrss;
}

// The budget counts the states that are still needed, and the others are gone: of 8000 blocks with
// 4000 registers each, two or three.
TEST(Trace, MemoryIsGivenBackBlockByBlock) {
  if (test::sanitized) GTEST_SKIP() << "what is given back is kept for a while";
  constexpr unsigned forks = 4000;
  std::string body = ".reg .b32 %q<4000>; .reg .pred %p<4000>; cvta.to.global.u64 %rd3, %rd1;\n";
  for (unsigned i = 0; i < forks; ++i)
    body += fmt::format("mov.b32 %q{0}, 0; setp.eq.u32 %p{0}, %r3, {0}; @%p{0} bra L{0};"
                        " mov.b32 %q{0}, 4; L{0}:\n",
                        i);
  for (unsigned i = 0; i < forks; ++i)
    body += fmt::format("mul.wide.u32 %rd4, %q{}, 4; add.s64 %rd5, %rd3, %rd4;"
                        " ld.global.f32 %f1, [%rd5];\n",
                        i);
  const ptx::Module module = ptx::parse(test::kernel_text(body + "ret;"), "test.ptx");
  const long before = peak_kilobytes([] {});
  const long peak = peak_kilobytes([&] {
    const emulator::Kernel kernel =
        emulator::emulate(module, module.functions.at(0), {.time = std::chrono::seconds(10)});
    if (!kernel.trace.refused.empty()) _exit(1);
  });
  EXPECT_LT(peak - before, 80 << 10);
}

// --- Uniformity ---------------------------------------------------------------------------------

analysis::Uniform of(const Emulated& k, std::string_view reg) {
  for (std::size_t i = 0; i < k.kernel.body.registers.size(); ++i) {
    if (k.kernel.body.registers[i].name == reg) return k.kernel.uniformity.registers[i];
  }
  ADD_FAILURE() << "no register " << reg;
  return analysis::Uniform::grid;
}

TEST(Uniformity, ByOrigin) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, %ctaid.x;
    add.s32 %r5, %r4, %r1;
    add.s32 %r6, %r5, %r3;
    ld.global.u32 %r7, [%rd1];
    ld.global.nc.u32 %r8, [%rd1];
    atom.global.add.u32 %r9, [%rd1], 1;
    activemask.b32 %r10;
    mov.u32 %r11, %clock;
    vote.sync.ballot.b32 %r12, 1, -1;
    st.global.u32 [%rd1], %r6;
    ret;)");
  using analysis::Uniform;
  EXPECT_EQ(of(k, "%r1"), Uniform::grid);
  EXPECT_EQ(of(k, "%r5"), Uniform::block);
  EXPECT_EQ(of(k, "%r6"), Uniform::lane);
  EXPECT_EQ(of(k, "%r7"), Uniform::lane);
  EXPECT_EQ(of(k, "%r8"), Uniform::grid);
  for (const char* reg : {"%r9", "%r10", "%r11", "%r12"})
    EXPECT_EQ(of(k, reg), Uniform::lane);
}

TEST(Uniformity, GuardsAndUnknownForms) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    mov.u32 %r4, 1;
    @%p1 mov.u32 %r4, 2;
    mov.f32 %f1, 0f3F800000;
    add.f32 %f2, %f1, 1;
    st.global.u32 [%rd1], %r4;
    st.global.f32 [%rd1], %f2;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%f1"), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%f2"), analysis::Uniform::lane); // an integer among floats has no meaning here
}

TEST(Uniformity, JoinOfADivergentBranch) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    mov.u32 %r4, 1;
    @%p1 bra JOIN;
    mov.u32 %r4, 2;
    mov.u32 %r5, 3;
JOIN:
    add.s32 %r6, %r4, 1;
    st.global.u32 [%rd1], %r6;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r6"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r5"), analysis::Uniform::grid); // not live where the paths join
}

TEST(Uniformity, EarlyExitDoesNotMakeALoopDivergent) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    @%p1 bra DONE;
    mov.u32 %r4, 0;
LOOP:
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r1;
    @%p2 bra LOOP;
DONE:
    ret;)");
  EXPECT_EQ(k.kernel.uniformity.loops.at(0), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::grid);
}

TEST(Uniformity, LoopsLeftAtDifferentTrips) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
LOOP:
    add.s32 %r5, %r1, 1;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r3;
    @%p2 bra LOOP;
    st.global.u32 [%rd1], %r4;
    ret;)");
  EXPECT_EQ(k.kernel.uniformity.loops.at(0), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r5"), analysis::Uniform::lane);
}

// Read ahead of what makes it vary, which comes back with the next trip.
TEST(Uniformity, WhatALoopBringsBack) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
LOOP:
    mov.u32 %r6, %r5;
    add.s32 %r7, %r6, 1;
    mov.u32 %r5, %r3;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r1;
    @%p2 bra LOOP;
    st.global.u32 [%rd1], %r7;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%r6"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r7"), analysis::Uniform::lane);
}

} // namespace
} // namespace ptxasw
