// The conditions of rounds within a warp, one tree each; and for everything that must be refused,
// the reason.
#include "passes/warp_reduce/find.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/warp_reduce/trees.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ptxasw {
namespace {

using test::looping;
using test::replaced;
using test::unrolled;
using ::testing::HasSubstr;

struct Found {
  test::Emulated emulated;
  passes::TreeReductionPlan plan;
  explicit Found(const std::string& text) : emulated(text) {
    sym::Solver solver(*emulated.kernel.context, {});
    plan = passes::find_tree_reductions(emulated.kernel, solver);
  }
};

// Empty if it is one, else why not.
std::string why_not(const std::string& text) {
  const Found found(text);
  if (!found.plan.stretches.empty()) return "";
  return found.plan.refused.empty() ? "nothing" : found.plan.refused.text;
}

// The host says how large it is.
std::string without_size(const std::string& text) {
  return replaced(replaced(text, ".shared .align 4 .b8 tile[8192];", ""), ".visible .entry",
                  ".extern .shared .align 4 .b8 tile[];\n.visible .entry");
}

// An element and its index: only where it is larger.
TEST(TreeReduction, TheLargestAndWhereItIs) {
  const Found found(test::largest());
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_EQ(found.plan.stretches[0].cells.size(), 2U);
}

TEST(TreeReduction, ALoop) {
  const Found found(looping());
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  const passes::TreeReduction& r = found.plan.stretches[0];
  EXPECT_TRUE(r.rolled);
  EXPECT_FALSE(r.barrier_first);
  EXPECT_EQ(found.emulated.kernel.body.registers[r.width_register].name, "%r12");
  EXPECT_EQ(r.cells.size(), 1U);
  EXPECT_EQ(r.accesses.size(), 3U);
}

TEST(TreeReduction, AnUnrolledTree) {
  const Found found(unrolled({64, 32, 16, 8, 4, 2, 1}));
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  const passes::TreeReduction& r = found.plan.stretches[0];
  EXPECT_FALSE(r.rolled);
  EXPECT_EQ(r.width, 32U);
  EXPECT_TRUE(r.wide);
  EXPECT_EQ(r.barriers.size(), 6U);
  const Found narrow(unrolled({16, 8, 4, 2, 1}));
  ASSERT_EQ(narrow.plan.stretches.size(), 1U) << narrow.plan.refused.text;
  EXPECT_FALSE(narrow.plan.stretches[0].wide);
}

// What is called on the way may end threads: those that come are then no whole warps.
TEST(TreeReduction, CallsAhead) {
  const auto calling = [](const std::string& functions, const std::string& call = "call leave;") {
    return replaced(looping(), "    bar.sync 0; // first", "    " + call + "\n    bar.sync 0;") +
           functions;
  };
  const auto defined = [](const std::string& body, const std::string& name = "leave") {
    return ".func " + name +
           "() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; "
           "setp.gt.u32 %p, %r, 9; " +
           body + " ret; }\n";
  };
  EXPECT_EQ(why_not(calling(defined("@%p ret;"))), "");
  EXPECT_EQ(why_not(calling(defined("@%p trap;"))), "");
  EXPECT_EQ(why_not(calling(".extern .func free();", "call free;")), "");
  const auto ends = HasSubstr("may end threads");
  EXPECT_THAT(why_not(calling(defined("@%p exit;"))), ends);
  EXPECT_THAT(why_not(calling(defined("@%p exit;", "deep") + defined("call deep;"))), ends);
  EXPECT_THAT(why_not(calling(".extern .func leave();")), ends);
  EXPECT_THAT(why_not(calling(".weak " + defined("@%p ret;"))), ends);
  const std::string behind = replaced(looping(), "    ret;", "    call leave;\n    ret;");
  EXPECT_EQ(why_not(behind + defined("@%p exit;")), "");
}

// Of the round of width 32 the elements behind the first warp's stay in memory.
TEST(TreeReduction, FromWidth32On) {
  const auto first = [](const std::string& text) {
    const Found found(text);
    return found.plan.stretches.empty() ? 0U : found.plan.stretches[0].first_width();
  };
  EXPECT_EQ(first(looping()), 32U);
  EXPECT_EQ(first(test::rows()), 16U);
  // Behind 32 comes 24, which reaches into the next warp.
  EXPECT_EQ(first(replaced(looping(), "shr.u32 %r12, %r12, 1;",
                           "mul.lo.u32 %r33, %r12, 3;\nshr.u32 %r12, %r33, 2;")),
            16U);
  // Another array's elements.
  const auto second = [](const std::string& text, unsigned bytes) {
    return replaced(text, "st.shared.u32 [%r21], %r26;",
                    fmt::format("st.shared.u32 [%r21], %r26;\n"
                                "st.shared.u32 [%r21+{}], %r26;",
                                bytes));
  };
  EXPECT_EQ(first(second(looping(), 256)), 32U);
  EXPECT_EQ(first(second(looping(), 128)), 16U);
  EXPECT_EQ(first(second(unrolled({32, 16, 8, 4}), 256)), 32U);
  EXPECT_EQ(first(second(unrolled({32, 16, 8, 4}), 128)), 16U);
  // Not the 17th lane's and those behind it, in one of the later rounds.
  const std::string far = replaced(unrolled({32, 4}), "[%r21+16]", "[%r21+112]");
  EXPECT_EQ(first(unrolled({32, 4})), 32U);
  EXPECT_EQ(first(replaced(far, "%r3, 3;", "%r3, 3;")), 32U);
  EXPECT_EQ(first(replaced(far, "%r3, 3;", "%r3, 4;")), 0U);
}

TEST(TreeReduction, WidthsThatGrowOrAreOfSeveralWarps) {
  EXPECT_THAT(why_not(unrolled({64, 32})), Not(testing::StrEq("")));
  // From 8 to 16: the elements of 32 and of 8 are not all that 16 has, but those of 32 are there.
  const Found found(unrolled({32, 8, 16, 4, 2}));
  for (const passes::TreeReduction& r : found.plan.stretches)
    EXPECT_EQ(r.width, 32U);
  EXPECT_THAT(why_not(replaced(looping(), "shr.u32 %r12, %r12, 1;", "mul.lo.u32 %r12, %r12, 3;")),
              HasSubstr("may grow"));
  EXPECT_THAT(why_not(replaced(looping(), "shr.u32 %r12, %r12, 1;", "sub.u32 %r12, %r12, 1;")),
              HasSubstr("may grow"));
  EXPECT_THAT(why_not(replaced(looping(), "shr.u32 %r12, %r12, 1;",
                               "setp.lt.u32 %p5, %r3, 4;\n@%p5 shr.u32 %r12, %r12, 1;")),
              Not(testing::StrEq("")));
  // A round of width 32 may come twice, and the second would not find its elements in registers.
  EXPECT_THAT(why_not(replaced(looping(), "shr.u32 %r12, %r12, 1;",
                               "add.u32 %r33, %r33, 1;\nsetp.eq.u32 %p5, %r33, %r1;\n"
                               "@%p5 bra SAME;\nshr.u32 %r12, %r12, 1;\nSAME:")),
              HasSubstr("may grow"));
}

// The first levels, not the last, stay within a warp: within each.
TEST(TreeReduction, NeighboursFirst) {
  const Found found(test::neighbours());
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_TRUE(found.plan.stretches[0].grows);
  EXPECT_TRUE(found.plan.stretches[0].everywhere);
  EXPECT_EQ(found.plan.stretches[0].most_threads, 0U);
  const Found unrolled(test::unrolled_neighbours({1, 2, 4, 8, 16, 32, 64}));
  ASSERT_EQ(unrolled.plan.stretches.size(), 1U) << unrolled.plan.refused.text;
  EXPECT_EQ(unrolled.plan.stretches[0].barriers.size(), 5U);
  EXPECT_TRUE(unrolled.plan.stretches[0].everywhere);
  EXPECT_FALSE(Found(looping()).plan.stretches[0].everywhere);
  // All get there, so that an array whose size is not known has the elements.
  EXPECT_EQ(why_not(without_size(test::neighbours())), "");
  EXPECT_EQ(why_not(without_size(test::unrolled_neighbours({1, 2, 4}))), "");
}

TEST(TreeReduction, NeighboursOfOtherWarps) {
  const auto with = [](const std::string& what, const std::string& by) {
    return why_not(replaced(test::neighbours(), what, by));
  };
  EXPECT_THAT(with("mov.u32 %r12, %r13;", "add.u32 %r12, %r12, 1;"), HasSubstr("may grow"));
  EXPECT_THAT(with("shl.b32 %r13, %r12, 1;", "shl.b32 %r13, %r12, 2;"), HasSubstr("may grow"));
  // Multiples of w alone, of 3 * w.
  EXPECT_THAT(with("rem.u32 %r14, %r3, %r13;", "rem.u32 %r14, %r3, %r12;"),
              HasSubstr("stay within a warp"));
  EXPECT_THAT(
      with("rem.u32 %r14, %r3, %r13;", "mul.lo.u32 %r15, %r12, 3;\nrem.u32 %r14, %r3, %r15;"),
      HasSubstr("stay within a warp"));
  // Of 2 * w up to 16 alone: in the fifth round every other one reaches into the next warp.
  EXPECT_THAT(with("rem.u32 %r14, %r3, %r13;", "min.u32 %r15, %r13, 16;\nrem.u32 %r14, %r3, %r15;"),
              HasSubstr("stay within a warp"));
  EXPECT_THAT(why_not(test::unrolled_neighbours({1, 2, 4, 8, 16}, 1)),
              HasSubstr("stay within a warp"));
  EXPECT_THAT(why_not(test::unrolled_neighbours({32, 64})), Not(testing::StrEq("")));
}

// Where not all get to the first round, the elements have to be there: as many as threads.
TEST(TreeReduction, NeighboursThatMayNotBeThere) {
  const std::string few = replaced(test::neighbours(), "setp.ne.u32 %p2, %r14, 0;",
                                   "setp.ne.u32 %p2, %r14, 0;\n"
                                   "setp.gt.or.u32 %p2, %r3, 40, %p2;");
  const Found found(few);
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_EQ(found.plan.stretches[0].most_threads, 0U);
  EXPECT_THAT(why_not(without_size(few)), HasSubstr("first step"));
  const Found small(replaced(few, "tile[8192]", "tile[260]"));
  ASSERT_EQ(small.plan.stretches.size(), 1U) << small.plan.refused.text;
  EXPECT_EQ(small.plan.stretches[0].most_threads, 65U);
  EXPECT_THAT(why_not(replaced(few, "tile[8192]", "tile[124]")), HasSubstr("first step"));
  // Two arrays, the second behind so many elements of the first.
  const auto two = [](unsigned bytes) {
    return replaced(test::neighbours(), "st.shared.u32 [%r21], %r26;",
                    fmt::format("st.shared.u32 [%r21], %r26;\n"
                                "st.shared.u32 [%r21+{}], %r26;",
                                bytes));
  };
  EXPECT_THAT(why_not(two(64)), HasSubstr("may overlap"));
  const Found apart(two(256));
  ASSERT_EQ(apart.plan.stretches.size(), 1U) << apart.plan.refused.text;
  EXPECT_EQ(apart.plan.stretches[0].most_threads, 64U);
}

TEST(TreeReduction, ATreeForEach32Threads) {
  const Found found(test::segments());
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_TRUE(found.plan.stretches[0].everywhere);
  EXPECT_EQ(found.plan.stretches[0].barriers.size(), 5U);
  // Lanes up to the 16th read what is 16 and more further on.
  const Found beyond(replaced(test::segments(), "[%r21+64]", "[%r21+72]"));
  for (const passes::TreeReduction& r : beyond.plan.stretches)
    for (const passes::TreeAccess& access : r.accesses)
      EXPECT_LE(access.distance, 16U);
  // Behind the first round the eighth lane and those behind it would read another warp's elements.
  const Found later(replaced(test::segments(), "[%r21+32]", "[%r21+112]"));
  for (const passes::TreeReduction& r : later.plan.stretches)
    for (const passes::TreeAccess& access : r.accesses)
      EXPECT_NE(access.distance, 28U);
}

TEST(TreeReduction, WhoGetsThere) {
  // Threads that do not take part, beyond the width, or on other elements.
  EXPECT_THAT(
      why_not(replaced(looping(), "setp.ge.s32 %p2, %r3, %r12;", "setp.gt.s32 %p2, %r3, %r12;")),
      HasSubstr("stay within a warp"));
  // In an array whose size is not known they may not exist, or beyond the end of one.
  const std::string less = replaced(looping(), "setp.ge.s32 %p2, %r3, %r12;",
                                    "sub.s32 %r30, %r12, 1;\nsetp.ge.s32 %p2, %r3, %r30;");
  EXPECT_EQ(why_not(less), "");
  EXPECT_THAT(why_not(without_size(less)), HasSubstr("first step"));
  EXPECT_THAT(why_not(replaced(less, "tile[8192]", "tile[124]")), HasSubstr("first step"));
  EXPECT_EQ(why_not(replaced(less, "tile[8192]", "tile[128]")), "");
  EXPECT_THAT(
      why_not(replaced(looping(), "setp.ge.s32 %p2, %r3, %r12;", "setp.ge.s32 %p2, %r3, %r1;")),
      HasSubstr("stay within a warp"));
}

// Of a tree with a width that is written down, an element beyond those that are loaded in front;
// and beyond those of the warp.
TEST(TreeReduction, ElementsBeyondTwiceTheWidth) {
  const auto with = [](const std::string& load) {
    return Found(replaced(unrolled({8, 4}), "add.u32 %r26, %r24, %r25;",
                          load + "\nadd.u32 %r26, %r24, %r41;"));
  };
  const Found within = with("ld.shared.u32 %r41, [%r21+80];");
  ASSERT_EQ(within.plan.stretches.size(), 1U) << within.plan.refused.text;
  EXPECT_TRUE(within.plan.stretches[0].everywhere);
  const Found beyond = with("ld.shared.u32 %r41, [%r21+112];");
  EXPECT_TRUE(beyond.plan.stretches.empty());
  EXPECT_THAT(beyond.plan.refused.text, HasSubstr("stay within a warp"));
}

TEST(TreeReduction, WaysIntoThem) {
  EXPECT_THAT(why_not(replaced(unrolled({2, 1}), "bar.sync 0; // first",
                               "setp.eq.u32 %p7, %r1, 0;\n@%p7 bra L0;\nbar.sync 0;")),
              HasSubstr("branches into the tree"));
}

// Other warps need not come along where nothing they compute in the rounds is used behind them.
TEST(TreeReduction, WhatOtherWarpsCompute) {
  const auto may_skip = [](const std::string& text) {
    const Found found(text);
    return !found.plan.stretches.empty() && found.plan.stretches[0].others_may_skip;
  };
  EXPECT_TRUE(may_skip(looping()));
  const auto behind = [](const std::string& in_round, const std::string& in_all) {
    std::string text =
        replaced(looping(), "add.u32 %r26, %r24, %r25;", "add.u32 %r26, %r24, %r25;\n" + in_round);
    text = replaced(text, "NEXT: bar.sync 0;", "NEXT: bar.sync 0;\n" + in_all);
    text = replaced(text, "mov.u32 %r20, tile;", "mov.u32 %r20, tile;\nmov.u32 %r45, 0;");
    return replaced(text, "st.global.u32 [%rd5], %r27;",
                    "add.u32 %r27, %r27, %r45;\nst.global.u32 [%rd5], %r27;");
  };
  EXPECT_TRUE(may_skip(behind("mov.u32 %r45, %r26;", "")));
  EXPECT_FALSE(may_skip(behind("", "add.u32 %r45, %r45, 1;")));
  EXPECT_FALSE(may_skip(behind("mov.u32 %r45, %r26;", "add.u32 %r45, %r45, 1;")));
}

// What is written a second time behind the first warp's rounds names nothing that stands ahead.
TEST(TreeReduction, RestsThatBranchBack) {
  const auto is_copied = [](const std::string& text) {
    const Found found(text);
    return !found.plan.stretches.empty() && found.plan.stretches[0].rest_copied;
  };
  const std::string own = replaced(looping(), "ld.shared.u32 %r27, [tile];",
                                   "setp.ne.u32 %p8, %r3, 0;\n@%p8 ret;\n"
                                   "ld.shared.u32 %r27, [tile];");
  EXPECT_TRUE(is_copied(own));
  EXPECT_FALSE(is_copied(replaced(
      replaced(own, "mov.u32 %r20, tile;", "bra START;\nEARLY: ret;\nSTART: mov.u32 %r20, tile;"),
      "ld.shared.u32 %r27, [tile];",
      "setp.eq.u32 %p9, %r1, 0;\n@%p9 bra EARLY;\nld.shared.u32 %r27, [tile];")));
}

TEST(TreeReduction, ThreadsThatEndEarly) {
  EXPECT_THAT(why_not(replaced(looping(), "mov.u32 %r20, tile;",
                               "setp.gt.u32 %p6, %r3, %r1;\n@%p6 ret;\nmov.u32 %r20, tile;")),
              HasSubstr("may end ahead"));
}

TEST(TreeReduction, BarriersOfSomeThreads) {
  EXPECT_THAT(why_not(replaced(looping(), "NEXT: bar.sync 0;", "NEXT: bar.sync 0, 64;")),
              Not(testing::StrEq("")));
  EXPECT_THAT(why_not(replaced(looping(), "NEXT: bar.sync 0;", "bar.sync 0;\nNEXT:")),
              HasSubstr("come to the barrier"));
  // Each thread may come to another one.
  EXPECT_EQ(why_not(replaced(looping(), "NEXT: bar.sync 0;", "NEXT: bar.sync %r3;")), "nothing");
}

TEST(TreeReduction, StoresWithoutABarrierInBetween) {
  EXPECT_THAT(why_not(replaced(looping(), "bar.sync 0; // first", "")),
              HasSubstr("ahead of the tree"));
  EXPECT_THAT(why_not(replaced(looping(), "mov.u32 %r11, %ntid.x;",
                               "mov.u32 %r11, %ntid.x;\nst.global.u32 [%rd5], %r11;")),
              HasSubstr("ahead of the tree"));
  // A barrier on top of each round is as good.
  const std::string top =
      replaced(replaced(looping(), "bar.sync 0; // first", ""), "LOOP:", "LOOP: bar.sync 0;");
  const Found found(replaced(top, "NEXT: bar.sync 0;", "NEXT:"));
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_TRUE(found.plan.stretches[0].barrier_first);
}

// Whoever calls a function may have let threads end before.
TEST(TreeReduction, TreesOfFunctions) {
  EXPECT_THAT(why_not(replaced(looping(), ".visible .entry k(", ".func k(")),
              HasSubstr("which threads call it"));
}

// Nobody sees what a function reads that is called behind the tree: it may be others' elements.
TEST(TreeReduction, CallsBehind) {
  const auto needs_none = [](const std::string& text) {
    const Found found(text);
    return !found.plan.stretches.empty() && found.plan.stretches[0].own_behind;
  };
  const std::string plain = replaced(looping(), "ld.shared.u32 %r27, [tile];", "mov.u32 %r27, 7;"),
                    read = "call (%r27), read, (%r20);\n    st.global.u32 [%rd5], %r27;",
                    function = ".func (.reg .b32 %q) read(.reg .b32 %a) { ld.shared.u32 %q, [%a]; "
                               "ret; }\n";
  EXPECT_TRUE(needs_none(plain));
  const std::string calls = replaced(plain, "st.global.u32 [%rd5], %r27;", read) + function;
  EXPECT_EQ(why_not(calls), "");
  EXPECT_FALSE(needs_none(calls));
}

// What a thread reads between that barrier and the tree others wait for at barriers that go.
TEST(TreeReduction, LoadsWithoutABarrierInBetween) {
  const auto ahead = [](const std::string& load) {
    return replaced(test::for_thread_0(looping()), "mov.u32 %r11, %ntid.x;",
                    load + "\nmov.u32 %r11, %ntid.x;");
  };
  const auto needs_none = [](const std::string& text) {
    const Found found(text);
    return !found.plan.stretches.empty() && found.plan.stretches[0].own_behind;
  };
  EXPECT_TRUE(needs_none(ahead("")));
  // Of global memory: what is written behind waits at the last one.
  const std::string global = ahead("ld.global.u32 %r40, [%rd5];");
  EXPECT_EQ(why_not(global), "");
  EXPECT_FALSE(needs_none(global));
  EXPECT_TRUE(needs_none(ahead("ld.global.nc.u32 %r40, [%rd4];")));
  EXPECT_TRUE(needs_none(ahead("ld.param.u32 %r40, [n];")));
  EXPECT_TRUE(needs_none(replaced(ahead(""), "bar.sync 0; // first",
                                  "ld.global.u32 %r40, [%rd5];\nbar.sync 0; // first")));
  // Of shared memory: the tree stores elements that the first round may leave alone.
  EXPECT_THAT(why_not(ahead("ld.shared.u32 %r40, [%r21+4];")), HasSubstr("reads shared memory"));
  EXPECT_THAT(why_not(ahead("ld.u32 %r40, [%rd5];")), HasSubstr("reads shared memory"));
  EXPECT_TRUE(needs_none(ahead("ld.shared.u32 %r40, [%r21];")));
}

TEST(TreeReduction, ElementsOfSeveralThreads) {
  const std::string halves = replaced(looping(), "shl.b32 %r22, %r3, 2;", "shl.b32 %r22, %r3, 1;");
  EXPECT_THAT(why_not(replaced(halves, "shl.b32 %r28, %r12, 2;", "shl.b32 %r28, %r12, 1;")),
              HasSubstr("each thread's own"));
  EXPECT_THAT(why_not(replaced(looping(), "shl.b32 %r22, %r3, 2;",
                               "and.b32 %r22, %r3, 15;\nshl.b32 %r22, %r22, 2;")),
              HasSubstr("each thread's own"));
}

TEST(TreeReduction, ATreeForEachRow) {
  const Found found(test::rows());
  ASSERT_EQ(found.plan.stretches.size(), 1U) << found.plan.refused.text;
  EXPECT_TRUE(found.plan.stretches[0].rows);
  EXPECT_FALSE(Found(looping()).plan.stretches[0].rows);
  // Rows that overlap, or lie upside down; arrays that lie between each other's rows, or have other
  // rows.
  EXPECT_THAT(why_not(test::rows(16)), HasSubstr("each thread's own"));
  EXPECT_THAT(why_not(replaced(test::rows(), "%r46, 64, %r3;", "%r46, -64, %r3;")),
              HasSubstr("each thread's own"));
  const std::string store = "st.shared.u32 [%r21], %r26;";
  const auto two = [&](const std::string& second) {
    return why_not(replaced(test::rows(), store, store + "\nst.shared.u32 " + second + ", %r26;"));
  };
  EXPECT_THAT(two("[%r21+64]"), HasSubstr("may overlap"));
  EXPECT_THAT(two("[%r21+192]"), HasSubstr("may overlap"));
  EXPECT_THAT(two("[%r21+320]"), HasSubstr("may overlap"));
  EXPECT_THAT(
      why_not(replaced(replaced(test::rows(), store, store + "\nst.shared.u32 [%r49+4096], %r26;"),
                       "bar.sync 0; // first", "add.u32 %r49, %r47, %r20;\nbar.sync 0;")),
      HasSubstr("each thread's own"));
}

TEST(TreeReduction, OtherAccesses) {
  EXPECT_THAT(why_not(replaced(looping(), "add.u32 %r26, %r24, %r25;",
                               "add.u32 %r26, %r24, %r25;\nst.global.u32 [%rd2], %r26;")),
              HasSubstr("no part of a tree"));
  EXPECT_THAT(why_not(replaced(looping(), "add.u32 %r26, %r24, %r25;",
                               "activemask.b32 %r40;\nadd.u32 %r26, %r24, %r25;")),
              HasSubstr("no part of a tree"));
  EXPECT_THAT(why_not(replaced(looping(), "ld.shared.u32 %r24", "ld.volatile.shared.u32 %r24")),
              HasSubstr("volatile"));
  EXPECT_THAT(
      why_not(replaced(looping(), "ld.shared.u32 %r24, [%r21];", "ld.shared.u32 %r24, [%r20];")),
      HasSubstr("no element that is known"));
}

// In a register a product could be fused with the sum that the next round makes of it.
TEST(TreeReduction, ProductsThatCouldBeFused) {
  const auto with = [](const std::string& product) {
    return why_not(replaced(looping(), "add.u32 %r26, %r24, %r25;",
                            "mov.b32 %f1, %r24;\nmov.b32 %f2, %r25;\nadd.f32 %f3, %f1, %f2;\n" +
                                product + " %f4, %f3, 0f3F000000;\nmov.b32 %r26, %f4;"));
  };
  EXPECT_THAT(with("mul.f32"), HasSubstr("could be fused"));
  EXPECT_EQ(with("mul.rn.f32"), "");
}

TEST(TreeReduction, OldModules) {
  EXPECT_THAT(why_not(replaced(looping(), ".version 8.0", ".version 5.0")),
              HasSubstr("older than shfl.sync"));
}

TEST(TreeReduction, ArraysThatMayOverlap) {
  const std::string two = replaced(looping(), "st.shared.u32 [%r21], %r26;",
                                   "st.shared.u32 [%r21], %r26;\nst.shared.u32 [%r21+64], %r26;");
  EXPECT_THAT(why_not(two), HasSubstr("may overlap"));
}

} // namespace
} // namespace ptxasw
