// Trees that are one reduction over a warp, and each reason for which one is not.
#include "passes/warp_reduce/find.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/warp_reduce/trees.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptxasw {
namespace {

using test::all_replaced;
using test::for_thread_0;
using test::looping;
using test::replaced;
using test::unrolled;

// The operation, or "" where the rounds stay rounds; "no tree" where there are none in registers.
std::string combined(const std::string& text) {
  const test::Emulated emulated(text);
  auto kernel = emulator::emulate(*emulated.module, emulated.module->functions.at(0));
  sym::Solver solver(*kernel.context, {});
  const passes::TreeReductionPlan plan = passes::find_tree_reductions(kernel, solver);
  if (plan.stretches.size() != 1) return "no tree";
  const passes::TreeReduction& rounds = plan.stretches[0];
  if (rounds.combined == ptx::none) return "";
  const ptx::Inst& inst = kernel.body.insts[rounds.combined];
  return std::string(ptx::name(inst.op)) + "." + std::string(ptx::name(inst.mods.type));
}

const std::vector<unsigned> all{32, 16, 8, 4, 2, 1};

TEST(RoundsAsOne, OperationsInAnyOrder) {
  for (const std::string operation :
       {"add.u32", "add.s32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    for (const std::string& text : {looping(), unrolled(all)})
      EXPECT_EQ(combined(all_replaced(for_thread_0(text), "add.u32 %r26", operation + " %r26")),
                operation);
  EXPECT_EQ(combined(for_thread_0(unrolled({16, 8, 4, 2, 1}))), "add.u32");
}

TEST(RoundsAsOne, OperationsInTheOrderOfTheTree) {
  const std::string text = for_thread_0(looping());
  for (const char* other :
       {"sub.u32 %r26, %r24, %r25;", "mul.lo.u32 %r26, %r24, %r25;", "add.u32 %r26, %r24, 1;",
        "add.sat.s32 %r26, %r24, %r25;", "add.u32 %r26, %r24, %r24;", "add.u32 %r26, %r24, %r3;",
        "add.u32 %r25, %r25, 1;\nadd.u32 %r26, %r24, %r25;",
        "add.u32 %r26, %r24, %r25;\n@%p9 add.u32 %r26, %r24, %r25;",
        "add.u32 %r26, %r24, %r25;\nadd.u32 %r26, %r26, 1;"})
    EXPECT_EQ(combined(replaced(text, "add.u32 %r26, %r24, %r25;", other)), "") << other;
  std::string floats = text;
  for (const std::string number : {"24", "25", "26"})
    floats = all_replaced(floats, "%r" + number, "%f" + number);
  EXPECT_EQ(combined(replaced(floats, "add.u32 %f26", "add.f32 %f26")), "");
  const std::string two =
      replaced(unrolled({16, 8, 4, 2, 1}), "add.u32 %r26, %r24", "max.u32 %r26, %r24");
  EXPECT_EQ(combined(for_thread_0(two)), "") << "two operations";
}

TEST(RoundsAsOne, AllWidthsAndNoOthers) {
  EXPECT_EQ(combined(for_thread_0(unrolled({16, 8, 4, 2}))), "");
  EXPECT_EQ(combined(for_thread_0(unrolled({8, 4, 2, 1}))), "");
  EXPECT_EQ(combined(for_thread_0(unrolled({16, 4, 8, 2, 1}))), "");
  EXPECT_EQ(combined(for_thread_0(unrolled({16, 8, 8, 4, 2, 1}))), "");
  const std::string text = for_thread_0(looping());
  for (const char* other :
       {"setp.gt.u32 %p3, %r12, 1;", "setp.ne.u32 %p3, %r12, 4;", "setp.gt.u32 %p3, %r12, 16;"})
    EXPECT_NE(combined(replaced(text, "setp.ne.u32 %p3, %r12, 0;", other)), "add.u32") << other;
  for (const char* other :
       {"shr.u32 %r12, %r12, 2;", "shr.u32 %r30, %r12, 1;\nshr.u32 %r31, %r12, 2;\n"
                                  "or.b32 %r12, %r30, %r31;"})
    EXPECT_NE(combined(replaced(text, "shr.u32 %r12, %r12, 1;", other)), "add.u32") << other;
}

// As compilers write the last round: thread 0 reads what lies behind the first element.
TEST(RoundsAsOne, TheLastRoundByNumber) {
  std::string text = for_thread_0(unrolled(all));
  text = replaced(text, "setp.gt.s32 %p2, %r3, 0;", "setp.ne.u32 %p2, %r3, 0;");
  text = replaced(text, "ld.shared.u32 %r25, [%r21+4];", "ld.shared.u32 %r25, [tile+4];");
  EXPECT_EQ(combined(text), "add.u32");
  EXPECT_NE(combined(replaced(text, "setp.ne.u32 %p2, %r3, 0;", "setp.ne.u32 %p2, %r3, 1;")),
            "add.u32");
  EXPECT_NE(combined(replaced(text, "[tile+4]", "[tile+8]")), "add.u32");
}

// Who thread 0 is may be known from the last round.
TEST(RoundsAsOne, WhatDoesNotHangOnTheRounds) {
  std::string text = for_thread_0(unrolled(all));
  text = replaced(text, "setp.gt.s32 %p2, %r3, 0;", "setp.ne.u32 %p5, %r3, 0;");
  text = replaced(text, "@%p2 bra L5;", "@%p5 bra L5;");
  text = replaced(text, "setp.ne.u32 %p5, %r3, 0;\n    @%p5 bra OUT;", "@%p5 bra OUT;");
  EXPECT_EQ(combined(text), "add.u32");
  const std::string made = "setp.ne.u32 %p5, %r3, 0;";
  EXPECT_EQ(combined(replaced(text, made, made + "\n@%p2 setp.ne.u32 %p5, %r3, 0;")), "");
  EXPECT_EQ(combined(replaced(text, made, made + "\nsetp.ne.u32 %p5, %r3, 0;")), "") << "twice";
  EXPECT_EQ(combined(replaced(replaced(text, "L0: bar", "mov.u32 %r40, %r3;\nL0: bar"), made,
                              "setp.ne.u32 %p5, %r3, 0;\nadd.u32 %r41, %r40, 1;\n"
                              "setp.gt.u32 %p6, %r41, 1;\n")),
            "add.u32")
      << "nothing of that is read";
  EXPECT_EQ(combined(replaced(replaced(text, made, "setp.ne.u32 %p5, %r3, 0;\nclz.b32 %r40, %r25;"),
                              "st.global.u32 [%rd5], %r27;", "st.global.u32 [%rd5], %r40;")),
            "")
      << "what a round has loaded";
}

// Fewer threads, or more, would leave another value.
TEST(RoundsAsOne, ThoseBelowTheWidthAndNoOthers) {
  const std::string text = for_thread_0(looping());
  EXPECT_EQ(combined(replaced(text, "setp.ge.s32 %p2, %r3, %r12;",
                              "add.u32 %r30, %r3, 1;\nsetp.ge.s32 %p2, %r30, %r12;")),
            "");
  EXPECT_EQ(combined(replaced(text, "@%p2 bra NEXT;",
                              "setp.eq.u32 %p8, %r1, 7;\n@%p8 bra NEXT;\n"
                              "@%p2 bra NEXT;")),
            "");
  std::string tree = for_thread_0(unrolled(all));
  EXPECT_EQ(combined(replaced(tree, "setp.gt.s32 %p2, %r3, 3;", "setp.gt.s32 %p2, %r3, 2;")), "");
  EXPECT_EQ(combined(replaced(tree, "setp.gt.s32 %p2, %r3, 3;", "setp.gt.s32 %p2, %r3, 7;")), "");
  EXPECT_EQ(combined(replaced(tree, "st.shared.u32 [%r21], %r26;",
                              "setp.ne.u32 %p7, %r24, 5;\n@%p7 st.shared.u32 [%r21], %r26;")),
            "add.u32")
      << "the round of width 32 stays as it is";
  EXPECT_EQ(
      combined(replaced(for_thread_0(unrolled({16, 8, 4, 2, 1})), "st.shared.u32 [%r21], %r26;",
                        "setp.ne.u32 %p7, %r24, 5;\n@%p7 st.shared.u32 [%r21], %r26;")),
      "");
}

TEST(RoundsAsOne, OnlyThread0ReadsItBehind) {
  EXPECT_EQ(combined(looping()), "") << "all threads read it";
  const std::string text = for_thread_0(looping());
  EXPECT_EQ(combined(replaced(text, "setp.ne.u32 %p5, %r3, 0;", "setp.gt.u32 %p5, %r3, 1;\n")), "");
  EXPECT_EQ(
      combined(replaced(replaced(text, "setp.ne.u32 %p5, %r3, 0;", "setp.ne.u32 %p5, %r3, 1;"),
                        "[tile]", "[tile+4]")),
      "")
      << "thread 1 has another part of it";
  EXPECT_EQ(combined(replaced(text, "st.global.u32 [%rd5], %r27;",
                              "add.u32 %r27, %r27, %r25;\nst.global.u32 [%rd5], %r27;")),
            "")
      << "what a round has loaded";
}

TEST(RoundsAsOne, WhereTheChipHasIt) {
  const std::string text = for_thread_0(looping());
  EXPECT_EQ(combined(replaced(text, ".target sm_90", ".target sm_90a")), "add.u32");
  EXPECT_EQ(combined(replaced(text, ".target sm_90", ".target sm_80")), "add.u32");
  EXPECT_EQ(combined(replaced(text, ".target sm_90", ".target sm_75")), "");
  EXPECT_EQ(combined(replaced(text, ".version 8.0", ".version 6.5")), "");
}

} // namespace
} // namespace ptxasw
