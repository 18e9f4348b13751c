// Trees in registers on the interpreter: shapes of blocks, loops and unrolled ones, widths, each
// compared with the original under every schedule.
#include "passes/warp_reduce/emit.hpp"

#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"
#include "passes/warp_reduce/trees.hpp"
#include "simt/trap_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using simt::Dim3;
using test::looping;
using test::replaced;
using test::unrolled;

struct Rewritten {
  std::size_t stretches = 0;
  std::string original, text, why;

  explicit Rewritten(std::string source, const std::array<std::uint32_t, 3>& shape = {})
      : original(std::move(source)) {
    test::Emulated emulated(original);
    sym::Solver solver(*emulated.kernel.context, {});
    passes::TreeReductionPlan plan = passes::find_tree_reductions(emulated.kernel, solver);
    why = plan.refused.text;
    const auto edits = passes::reduce_in_registers(emulated.kernel, plan, shape);
    stretches = plan.stretches.size();
    text = test::applied(emulated.kernel, edits);
  }
  [[nodiscard]] std::string difference(Dim3 block) const {
    const simt::TrapCase launch{.name = "k",
                                .text = original,
                                .grid = {1},
                                .block = block,
                                .arguments = {"in", "out", "5", "7"}};
    return simt::compare(launch, text, simt::trap_schedules());
  }
};

void expect_same(const std::string& text, const std::vector<Dim3>& blocks) {
  const Rewritten rewritten(text);
  ASSERT_EQ(rewritten.stretches, 1U) << rewritten.why;
  for (const Dim3 block : blocks)
    EXPECT_EQ(rewritten.difference(block), "") << block.x << "x" << block.y << '\n'
                                               << rewritten.text;
}

TEST(RoundsRun, ALoop) {
  expect_same(looping(), {{32}, {64}, {96}, {128}, {256}, {1}, {2}, {16}, {33}, {48}, {100}});
  test::expect_that_ptxas_takes(Rewritten(looping()).text, "rounds_loop");
}

TEST(RoundsRun, AnUnrolledTree) {
  expect_same(unrolled({64, 32, 16, 8, 4, 2, 1}), {{128}, {256}, {160}});
  test::expect_that_ptxas_takes(Rewritten(unrolled({16, 8, 4, 2, 1})).text, "rounds_unrolled");
}

// One instruction does the last five levels.
TEST(RoundsRun, AReduction) {
  for (const char* operation : {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"})
    for (const std::string& tree :
         {looping(), unrolled({32, 16, 8, 4, 2, 1}), unrolled({64, 32, 16, 8, 4, 2, 1}),
          unrolled({16, 8, 4, 2, 1})}) {
      const std::string text = test::all_replaced(test::for_thread_0(tree), "add.u32 %r26",
                                                  fmt::format("{} %r26", operation));
      const std::string rewritten = Rewritten(text).text;
      EXPECT_THAT(rewritten, testing::HasSubstr(fmt::format("redux.sync.{}", operation)));
      expect_same(text, {{32}, {64}, {96}, {128}, {256}, {16}, {40}});
      test::expect_that_ptxas_takes(rewritten, "rounds_redux");
    }
  EXPECT_THAT(Rewritten(test::for_thread_0(unrolled({32, 16, 8, 4, 2, 1}))).text,
              testing::Not(testing::HasSubstr("shfl")));
}

// Who thread 0 is may be known from the last round.
TEST(RoundsRun, AReductionAndWhatIsKept) {
  std::string text = test::for_thread_0(unrolled({32, 16, 8, 4, 2, 1}));
  text = replaced(text, "setp.gt.s32 %p2, %r3, 0;", "setp.ne.u32 %p5, %r3, 0;");
  text = replaced(text, "@%p2 bra L5;", "@%p5 bra L5;");
  text = replaced(text, "setp.ne.u32 %p5, %r3, 0;\n    @%p5 bra OUT;", "@%p5 bra OUT;");
  EXPECT_THAT(Rewritten(text).text, testing::HasSubstr("redux.sync"));
  expect_same(text, {{64}, {96}, {128}, {40}});
}

// Compilers know the number of thread 0.
TEST(RoundsRun, TheLastRoundByNumber) {
  std::string text = unrolled({32, 16, 8, 4, 2, 1});
  text = replaced(text, "setp.gt.s32 %p2, %r3, 0;", "setp.ne.u32 %p2, %r3, 0;");
  text = replaced(text, "ld.shared.u32 %r25, [%r21+4];", "ld.shared.u32 %r25, [tile+4];");
  expect_same(text, {{64}, {96}, {128}});
  expect_same(replaced(text, "ld.shared.u32 %r24, [%r21];\n    ld.shared.u32 %r25, [tile+4]",
                       "ld.shared.u32 %r24, [tile];\n    ld.shared.u32 %r25, [tile+4]"),
              {{64}, {96}});
}

TEST(RoundsRun, OtherWidths) {
  expect_same(unrolled({15, 7, 3, 1}), {{32}, {64}, {40}});
  expect_same(unrolled({16, 11, 11, 5, 2}), {{32}, {64}, {40}});
  const std::string thirds =
      replaced(looping(), "shr.u32 %r12, %r12, 1;", "shr.u32 %r12, %r12, 2;");
  expect_same(replaced(thirds, "setp.ne.u32 %p3, %r12, 0;", "setp.gt.u32 %p3, %r12, 1;"),
              {{32}, {64}, {96}});
  expect_same(thirds, {{32}, {64}, {96}});
}

TEST(RoundsRun, BarriersOnTop) {
  std::string text = replaced(looping(), "bar.sync 0; // first", "");
  text = replaced(replaced(text, "NEXT: bar.sync 0;", "NEXT:"), "LOOP:", "LOOP: bar.sync 0;");
  expect_same(
      replaced(text, "ld.shared.u32 %r27, [tile];", "bar.sync 0;\nld.shared.u32 %r27, [tile];"),
      {{32}, {64}, {96}, {1}, {48}});
}

// What was stored in an early round may be read without another barrier.
TEST(RoundsRun, NoBarrierBehind) {
  std::string text = replaced(looping(), "bar.sync 0; // first", "");
  text = replaced(replaced(text, "NEXT: bar.sync 0;", "NEXT:"), "LOOP:", "LOOP: bar.sync 0;");
  expect_same(replaced(text, "[tile];", "[tile+20];"), {{32}, {64}, {96}});
  expect_same(replaced(text, "[tile];", "[%r21];"), {{32}, {64}, {96}});
}

TEST(RoundsRun, DoublesAndPredicates) {
  std::string text = looping();
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"shl.b32 %r22, %r3, 2;", "shl.b32 %r22, %r3, 3;\ncvt.rn.f64.u32 %fd1, %r23;"},
           {"st.shared.u32 [%r21], %r23;", "st.shared.f64 [%r21], %fd1;"},
           {"shl.b32 %r28, %r12, 2;", "shl.b32 %r28, %r12, 3;"},
           {"ld.shared.u32 %r24, [%r21];", "ld.shared.f64 %fd2, [%r21];"},
           {"ld.shared.u32 %r25, [%r29];", "ld.shared.f64 %fd3, [%r29];"},
           {"add.u32 %r26, %r24, %r25;", "add.f64 %fd4, %fd2, %fd3;\nsetp.gt.f64 %p7, %fd4, %fd2;"},
           {"st.shared.u32 [%r21], %r26;", "@%p7 st.shared.f64 [%r21], %fd4;"},
           {"ld.shared.u32 %r27, [tile];",
            "ld.shared.f64 %fd5, [tile];\ncvt.rzi.u32.f64 %r27, %fd5;"}})
    text = replaced(text, what, by);
  expect_same(text, {{32}, {64}, {128}, {40}});
}

// The first thread's sum stays in a register, as compilers do it.
TEST(RoundsRun, TheOwnElementIsKnown) {
  std::string text = unrolled({32, 16, 8, 4, 2, 1});
  expect_same(replaced(text, "    ld.shared.u32 %r27, [tile];",
                       "    mov.u32 %r27, %r26;\nselp.u32 %r27, %r27, 0, %p2;"),
              {{64}, {96}});
}

// Of a loop, by those alone that change the element; the others have kept what they had.
TEST(RoundsRun, TheSumInARegister) {
  std::string text = replaced(looping(), "    mov.u32 %r20, tile;",
                              "    mov.u32 %r20, tile;\nadd.u32 %r45, %r3, 3;");
  text =
      replaced(text, "add.u32 %r26, %r24, %r25;", "add.u32 %r26, %r24, %r25;\nmov.u32 %r45, %r26;");
  text = replaced(text, "ld.shared.u32 %r27, [tile];", "mov.u32 %r27, %r45;");
  expect_same(text, {{32}, {64}, {96}, {128}, {256}, {40}});
  EXPECT_THAT(Rewritten(text).text, testing::HasSubstr("setp.ge.u32"));
}

// What all warps compute in the rounds is needed behind them.
TEST(RoundsRun, RegistersThatAreUsedBehind) {
  std::string text =
      replaced(looping(), "NEXT: bar.sync 0;", "NEXT: bar.sync 0;\nadd.u32 %r45, %r45, %r3;");
  text = replaced(text, "mov.u32 %r20, tile;", "mov.u32 %r20, tile;\nmov.u32 %r45, 0;");
  expect_same(replaced(text, "st.global.u32 [%rd5], %r27;",
                       "add.u32 %r27, %r27, %r45;\nst.global.u32 [%rd5], %r27;"),
              {{32}, {64}, {128}});
}

// Elements that no thread accesses in the first round are as they were behind the last.
TEST(RoundsRun, ElementsThatFewAccess) {
  expect_same(test::largest(), {{32}, {64}, {96}, {128}, {40}, {2}});
  const std::string less = replaced(looping(), "setp.ge.s32 %p2, %r3, %r12;",
                                    "sub.s32 %r30, %r12, 1;\nsetp.ge.s32 %p2, %r3, %r30;");
  expect_same(less, {{32}, {64}, {40}});
  expect_same(replaced(less, "[tile];", "[%r21];"), {{32}, {64}, {40}});
}

TEST(RoundsRun, ATreeForEachRow) {
  expect_same(test::rows(),
              {{32, 4}, {32, 1}, {32, 3}, {16, 2}, {64, 2}, {32, 2, 2}, {8, 4}, {33, 2}});
  const Rewritten rows(test::rows());
  EXPECT_THAT(rows.text, testing::HasSubstr("%ntid.z"));
  EXPECT_EQ(Rewritten(test::rows(), {64, 2, 1}).stretches, 0U);
  EXPECT_EQ(Rewritten(test::rows(), {32, 2, 2}).stretches, 0U);
  EXPECT_EQ(Rewritten(test::rows(), {32, 8, 1}).difference({32, 8}), "");
}

TEST(RoundsRun, NeighboursFirst) {
  const std::vector<Dim3> blocks{{32}, {64}, {96}, {128}, {256}, {1}, {2}, {16}, {33}, {48}};
  expect_same(test::neighbours(), blocks);
  expect_same(replaced(test::neighbours(), "[tile];", "[%r21];"), blocks);
  expect_same(test::unrolled_neighbours({1, 2, 4, 8, 16, 32, 64}), {{128}, {256}, {160}});
  expect_same(replaced(test::unrolled_neighbours({1, 2, 4, 8, 16}), "[tile];", "[%r21];"),
              {{32}, {64}, {48}});
  expect_same(test::segments(), {{32}, {64}, {96}, {40}, {16, 2}});
  test::expect_that_ptxas_takes(Rewritten(test::neighbours()).text, "rounds_neighbours");
  // A block of which some threads have no element of their own.
  const std::string two = replaced(test::neighbours(), "st.shared.u32 [%r21], %r26;",
                                   "st.shared.u32 [%r21], %r26;\n"
                                   "st.shared.u32 [%r21+256], %r26;");
  expect_same(two, {{32}, {64}});
  EXPECT_THAT(Rewritten(two).text, testing::HasSubstr("setp.gt.or.u32"));
  EXPECT_EQ(Rewritten(two, {96, 1, 1}).stretches, 0U);
  EXPECT_EQ(Rewritten(two, {64, 1, 1}).stretches, 1U);
}

// Remainders and quotients by the width are known bits in the copies, of numbers below zero, too.
TEST(RoundsRun, DivisionsByTheWidth) {
  const std::string sums = "st.shared.u32 [%r21], %r26;";
  for (const std::string type : {"u32", "s32"}) {
    const std::string text =
        replaced(test::neighbours(), sums,
                 fmt::format("sub.s32 %r40, %r26, 1000000;\nxor.b32 %r40, %r40, %r3;\n"
                             "rem.{0} %r41, %r40, %r13;\ndiv.{0} %r42, %r40, %r12;\n"
                             "mad.lo.u32 %r26, %r41, 31, %r26;\nadd.u32 %r26, %r26, %r42;\n{1}",
                             type, sums));
    expect_same(replaced(text, "rem.u32 %r14", "rem." + type + " %r14"), {{32}, {64}, {128}, {40}});
  }
  EXPECT_THAT(Rewritten(test::neighbours()).text, testing::HasSubstr("and.b32 \t%r14, %r3, 31;"));
}

// A loop that is entered with another width goes on as it was.
TEST(RoundsRun, NeighboursFromAnotherWidthOn) {
  expect_same(replaced(test::neighbours(), "mov.u32 %r12, 1;", "mov.u32 %r12, 2;"),
              {{32}, {64}, {128}});
  expect_same(replaced(test::neighbours(), "mov.u32 %r12, 1;",
                       "and.b32 %r12, %r1, 3;\n"
                       "max.u32 %r12, %r12, 1;"),
              {{32}, {64}, {128}});
}

TEST(RoundsRun, NeighboursWithBarriersOnTop) {
  std::string text = replaced(test::neighbours(), "bar.sync 0; // first", "");
  text = replaced(replaced(text, "NEXT: bar.sync 0;", "NEXT:"), "LOOP:", "LOOP: bar.sync 0;");
  expect_same(
      replaced(text, "ld.shared.u32 %r27, [tile];", "bar.sync 0;\nld.shared.u32 %r27, [tile];"),
      {{32}, {64}, {96}, {128}, {256}, {48}});
}

TEST(RoundsRun, AKnownShapeIsNotAskedFor) {
  const Rewritten known(looping(), {64, 1, 1});
  EXPECT_THAT(known.text, testing::Not(testing::HasSubstr("%ntid.y")));
  EXPECT_EQ(known.difference({64}), "") << known.text;
}

TEST(RoundsRun, KnownShapesThatAreNoRowOfWarps) {
  for (const std::array<std::uint32_t, 3>& shape :
       {std::array{48U, 1U, 1U}, {16U, 2U, 1U}, {32U, 1U, 2U}}) {
    const Rewritten known(looping(), shape);
    EXPECT_EQ(known.stretches, 0U);
    EXPECT_EQ(known.text, known.original);
  }
}

// Only the first thread reads behind the rounds: nobody waits for it.
TEST(RoundsRun, TheLastBarrier) {
  const std::string first = replaced(looping(), "ld.shared.u32 %r27, [tile];",
                                     "setp.ne.u32 %p8, %r3, 0;\n@%p8 ret;\n"
                                     "ld.shared.u32 %r27, [tile];");
  expect_same(first, {{32}, {64}, {128}, {40}});
  const auto barriers = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("bar.sync", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  EXPECT_EQ(barriers(Rewritten(first).text), 3U);
  EXPECT_THAT(Rewritten(first).text, testing::HasSubstr("mov.b32 \t%r27, %ptxasw_round"));
  // Each thread its own: those beyond the first warp have it in memory alone.
  const std::string own =
      replaced(looping(), "ld.shared.u32 %r27, [tile];", "ld.shared.u32 %r27, [%r21];");
  expect_same(own, {{32}, {64}, {128}, {40}});
  EXPECT_EQ(barriers(Rewritten(own).text), 3U);
  EXPECT_EQ(barriers(Rewritten(looping()).text), 4U);
  // The next one's, which it has not stored itself; and a store that others may read still.
  EXPECT_EQ(barriers(Rewritten(replaced(first, "[tile];", "[tile+4];")).text), 4U);
  EXPECT_EQ(barriers(Rewritten(replaced(first, "ld.shared.u32 %r27, [tile];",
                                        "st.shared.u32 [tile], %r3;\nmov.u32 %r27, 5;"))
                         .text),
            4U);
}

// Blocks whose widths never come by 32 run the loop as it was; the others ask in a copy of it.
TEST(RoundsRun, WiderTripsAskInACopy) {
  const Rewritten rewritten(looping());
  const std::size_t asked = rewritten.text.find("_again:"),
                    as_it_was = rewritten.text.find("_slow:");
  ASSERT_NE(asked, std::string::npos);
  ASSERT_NE(as_it_was, std::string::npos);
  EXPECT_LT(asked, as_it_was);
  EXPECT_EQ(rewritten.text.find("setp.eq.u32", as_it_was), std::string::npos);
  expect_same(looping(), {{32}, {64}, {96}, {192}, {200}, {224}, {256}, {512}});
}

// Rows of one block would share the elements: such blocks take the way as it was.
TEST(RoundsRun, BlocksOfSeveralRows) {
  const Rewritten rewritten(looping());
  EXPECT_THAT(rewritten.text, testing::HasSubstr("%ntid.y"));
  EXPECT_THAT(rewritten.text, testing::HasSubstr("%ntid.z"));
}

} // namespace
} // namespace ptxasw
