// Kernels that are refused, facts that do not hold, and budgets.
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

} // namespace
} // namespace ptxasw
