// Kernels whose threads meet, coarsened, against the original on the interpreter: barriers, shared
// memory of each copy and of all, copies that part, warps.
#include "passes/coarsen/coarsen_case.hpp"

#include "emulator/kernel_text.hpp"
#include "simt/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Coarsened;
using test::Factors;
using test::kernel_text;
using ::testing::HasSubstr;
using ::testing::Not;

// %r4 = %ctaid.y, %r5 = its place in rows of n, %f1 = in[%r5], %rd5 = &out[%r5], %r6 = &s[%tid.x],
// %r7 = &t[%tid.x].
std::string kernel(const std::string& body) {
  return kernel_text(R"(
    .shared .align 4 .b8 s[256];
    .shared .align 4 .b8 t[256];
    mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r8, s;
    mad.lo.u32 %r6, %r3, 4, %r8;
    mov.u32 %r9, t;
    mad.lo.u32 %r7, %r3, 4, %r9;
    ld.global.u32 %r10, [%rd4];
)" + body + "\nst.global.u32 [%rd5], %r20;\nret;");
}

struct UniformCase {
  const char* name;
  const char* body;
};

const UniformCase uniform_cases[] = {
    {"Neighbours", "st.shared.u32 [%r6], %r10;\nbar.sync 0;\nxor.b32 %r11, %r3, 15;\n"
                   "mad.lo.u32 %r12, %r11, 4, %r8;\nld.shared.u32 %r20, [%r12];"},
    // Own tile, tile for all, and the own one written again behind a barrier.
    {"TwoTiles", "mul.wide.u32 %rd8, %r3, 4;\nadd.s64 %rd8, %rd8, %rd1;\n"
                 "ld.global.u32 %r11, [%rd8];\nst.shared.u32 [%r6], %r10;\n"
                 "st.shared.u32 [%r7], %r11;\nbar.sync 0;\nld.shared.u32 %r12, [s+12];\n"
                 "ld.shared.u32 %r13, [t+20];\nadd.u32 %r20, %r12, %r13;\nbar.sync 0;\n"
                 "st.shared.u32 [%r6], %r20;\nbar.sync 0;\nld.shared.u32 %r12, [s+16];\n"
                 "add.u32 %r20, %r20, %r12;"},
    // The stores look equal and differ by a guard: block 1 leaves its tile as it was.
    {"TileUnderAGuard",
     "st.shared.u32 [%r6], 5;\nsetp.ne.u32 %p1, %r4, 1;\n@%p1 st.shared.u32 [%r6], %r3;\n"
     "bar.sync 0;\nld.shared.u32 %r20, [s+8];"},
    {"TileInABranch", "st.shared.u32 [%r6], 5;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bra L;\n"
                      "st.shared.u32 [%r6], %r3;\nL:\nbar.sync 0;\nld.shared.u32 %r20, [s+8];"},
    // A sum over a tree; the last level is done by some threads only.
    {"Tree", "st.shared.u32 [%r6], %r10;\nbar.sync 0;\nmov.u32 %r12, 8;\nL:\n"
             "setp.ge.u32 %p1, %r3, %r12;\n@%p1 bra M;\nmad.lo.u32 %r11, %r12, 4, %r6;\n"
             "ld.shared.u32 %r13, [%r11];\nld.shared.u32 %r14, [%r6];\n"
             "add.u32 %r14, %r14, %r13;\nst.shared.u32 [%r6], %r14;\nM:\nbar.sync 0;\n"
             "shr.u32 %r12, %r12, 1;\nsetp.ne.u32 %p2, %r12, 0;\n@%p2 bra L;\n"
             "ld.shared.u32 %r20, [s];"},
    {"EarlyReturnedThreads", "setp.gt.u32 %p1, %r3, 12;\n@%p1 ret;\nst.shared.u32 [%r6], %r10;\n"
                             "bar.sync 0;\nld.shared.u32 %r20, [s+4];"},
    // Copies part: one way or two, one in another, in a loop, in a loop of their own.
    {"OneWay", "mov.u32 %r20, 1;\nsetp.eq.u32 %p1, %r4, 2;\n@%p1 bra L;\nmov.u32 %r20, %r10;\n"
               "L:\nbar.sync 0;"},
    {"TwoWays", "setp.lt.u32 %p1, %r10, 64;\n@%p1 bra L;\nmul.lo.u32 %r20, %r10, 3;\nbra.uni M;\n"
                "L:\nadd.u32 %r20, %r10, %r4;\nM:\nst.shared.u32 [%r6], %r20;\nbar.sync 0;\n"
                "ld.shared.u32 %r20, [s+4];"},
    {"OneInAnother",
     "mov.u32 %r20, 9;\nsetp.lt.u32 %p1, %r10, 64;\n@%p1 bra L;\nsetp.lt.u32 %p2, %r10, 99;\n"
     "@%p2 bra M;\nmul.lo.u32 %r20, %r10, 3;\nM:\nadd.u32 %r20, %r20, 1;\nL:\n"
     "add.u32 %r20, %r20, %r4;\nbar.sync 0;"},
    {"InALoop", "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nL:\nsetp.lt.u32 %p1, %r10, %r12;\n"
                "@%p1 bra M;\nadd.u32 %r20, %r20, %r10;\nM:\nst.shared.u32 [%r6], %r20;\n"
                "bar.sync 0;\nld.shared.u32 %r13, [s+8];\nbar.sync 0;\nadd.u32 %r20, %r20, %r13;\n"
                "add.u32 %r12, %r12, 40;\nsetp.lt.u32 %p2, %r12, 200;\n@%p2 bra L;"},
    {"TripsOfTheirOwn",
     "and.b32 %r11, %r10, 7;\nmov.u32 %r12, 0;\nmov.u32 %r20, 0;\nL:\nadd.u32 %r20, %r20, %r10;\n"
     "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, %r11;\n@%p2 bra L;\n"
     "st.shared.u32 [%r6], %r12;\nbar.sync 0;\nld.shared.u32 %r11, [s+8];\n"
     "add.u32 %r20, %r20, %r11;"},
    // Behind the loop an index is known by the number of trips, which each copy has its own of.
    {"AnIndexFromTrips",
     "mov.u32 %r12, 0;\nL:\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, %r4;\n@%p2 bra L;\n"
     "mul.wide.u32 %rd8, %r12, 4;\nadd.s64 %rd8, %rd8, %rd1;\nld.global.u32 %r20, [%rd8];\n"
     "bar.sync 0;"},
    // Written in a region of one copy, read by all behind it.
    {"WrittenForSome",
     "mov.u32 %r20, 7;\nsetp.eq.u32 %p1, %r4, 1;\n@!%p1 bra L;\nmov.u32 %r20, 8;\nL:\nbar.sync 0;"},
    {"TwoRegions",
     "mov.u32 %r20, 7;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bra L;\nadd.u32 %r20, %r20, 1;\n"
     "L:\n@!%p1 bra M;\nadd.u32 %r20, %r20, 5;\nM:\nbar.sync 0;"},
    {"AfterStores", "st.global.u32 [%rd5], %r3;\nmov.u32 %r20, 1;\nsetp.eq.u32 %p1, %r4, 2;\n"
                    "@%p1 bra L;\nld.global.u32 %r20, [%rd5];\nL:\nadd.u32 %r20, %r20, %r10;"},
    // Conditions of two halves, of which the second differs, or the first; a side that stands
    // apart.
    {"OneOrTheOther",
     "mov.u32 %r20, 3;\nsetp.lt.u32 %p2, %r3, 3;\n@%p2 bra L;\nsetp.lt.u32 %p1, %r10, 64;\n"
     "@!%p1 bra M;\nL:\nadd.u32 %r20, %r10, %r4;\nM:\nst.shared.u32 [%r6], %r20;\nbar.sync 0;\n"
     "ld.shared.u32 %r20, [s+4];"},
    {"ASideThatStandsApart",
     "mov.u32 %r20, 3;\nmov.u32 %r12, 0;\nsetp.lt.u32 %p1, %r10, 64;\n@%p1 bra O;\nL:\n"
     "add.u32 %r20, %r20, %r10;\nbra M;\nO:\nadd.u32 %r20, %r4, 2;\nadd.u32 %r12, %r12, 1;\n"
     "bra L;\nM:\nmad.lo.u32 %r20, %r12, 99, %r20;\nbar.sync 0;"},
    // The rest of the trips first, then four at a time.
    {"AnUnrolledLoop",
     "and.b32 %r11, %r10, 7;\nmov.u32 %r20, 0;\nsetp.eq.u32 %p1, %r11, 0;\n@%p1 bra E;\n"
     "and.b32 %r12, %r11, 1;\nsetp.eq.u32 %p2, %r12, 0;\n@%p2 bra H;\nR:\n"
     "mad.lo.u32 %r20, %r20, 3, %r10;\nsub.u32 %r11, %r11, 1;\nsetp.eq.u32 %p1, %r11, 0;\n"
     "@%p1 bra E;\nH:\nmad.lo.u32 %r20, %r20, 3, %r10;\nmad.lo.u32 %r20, %r20, 3, %r4;\n"
     "sub.u32 %r11, %r11, 2;\nsetp.gt.s32 %p1, %r11, 0;\n@%p1 bra H;\nE:\nbar.sync 0;"},
    // The scope ends where the side does.
    {"AScopeAtTheEnd", "mov.u32 %r20, 3;\nsetp.lt.u32 %p1, %r10, 64;\n@%p1 bra L;\n{ .reg .b32 q;\n"
                       "add.u32 q, %r10, 9;\n{ .reg .b32 q;\nmov.u32 q, 5;\n"
                       "add.u32 %r20, %r10, q; }}\nL:\nbar.sync 0;"},
    // What a warp says: of all its lanes, and of some in a region.
    {"Shuffled", "shfl.sync.bfly.b32 %r11, %r10, 5, 31, -1;\nvote.sync.ballot.b32 %r12, %p0, -1;\n"
                 "add.u32 %r20, %r11, %r10;"},
    {"ShuffledInARegion",
     "mov.u32 %r20, %r10;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bra L;\n"
     "shfl.sync.down.b32 %r20, %r10, 3, 31, 65535;\nL:\nadd.u32 %r20, %r20, 1;"},
    {"ShuffledByLanesThatPart",
     "mov.u32 %r20, %r10;\nadd.u32 %r11, %r3, %r4;\nsetp.lt.u32 %p1, %r11, 6;\n"
     "vote.sync.ballot.b32 %r12, %p1, 65535;\n@!%p1 bra L;\n"
     "shfl.sync.bfly.b32 %r20, %r10, 1, 31, %r12;\nL:\nadd.u32 %r20, %r20, 1;"},
    // Loads of other copies are not used where they were not run, and not across a barrier.
    {"LoadedInARegion",
     "mov.u32 %r20, 0;\nmul.wide.s32 %rd7, %r1, 4;\nadd.s64 %rd6, %rd4, %rd7;\n"
     "setp.eq.u32 %p1, %r4, 1;\n@%p1 bra L;\nld.global.u32 %r20, [%rd6];\nL:\nbar.sync 0;\n"
     "ld.global.u32 %r11, [%rd4];\nadd.u32 %r20, %r20, %r11;"},
    // What a barrier counts is each copy's own; some threads give, others take.
    {"Counting", "setp.lt.u32 %p1, %r10, 99;\nbar.red.popc.u32 %r11, 0, %p1;\n"
                 "setp.lt.u32 %p2, %r3, 5;\nbar.red.popc.u32 %r12, 0, %p2;\n"
                 "mad.lo.u32 %r20, %r11, 100, %r12;"},
    {"SomeGive", "mov.u32 %r20, 1;\nsetp.gt.u32 %p1, %r3, 12;\n@%p1 ret;\n"
                 "st.shared.u32 [%r6], %r10;\nbar.sync 1, 32;\nld.shared.u32 %r20, [s+16];"},
    // Each copy counts for itself, in memory of all and in its own.
    {"Counted", "red.global.add.u32 [%rd2+8192], 1;\natom.global.add.u32 %r11, [%rd2+8196], %r10;\n"
                "mov.u32 %r20, 1;"},
    {"Histogram", "st.shared.u32 [%r6], 0;\nbar.sync 0;\nand.b32 %r11, %r10, 15;\n"
                  "mad.lo.u32 %r12, %r11, 4, %r8;\natom.shared.add.u32 %r13, [%r12], 1;\n"
                  "bar.sync 0;\nld.shared.u32 %r20, [%r6];\nmul.wide.u32 %rd8, %r3, 4;\n"
                  "add.s64 %rd8, %rd8, %rd2;\nred.global.add.u32 [%rd8+8192], %r20;"},
    {"CountedInARegion", "mov.u32 %r20, 1;\nsetp.lt.u32 %p1, %r10, 64;\n@%p1 bra L;\n"
                         "red.global.add.u32 [%rd2+8192], 1;\nL:\nbar.sync 0;"},
    // The value that was there before is each copy's own: of the three, the first is kept.
    {"OrderedAccesses", "st.volatile.shared.u32 [%r6], %r10;\nld.volatile.shared.u32 %r11, [%r6];\n"
                        "membar.cta;\nst.volatile.shared.u32 [%r6], %r3;\n"
                        "ld.volatile.shared.u32 %r12, [%r6];\nadd.u32 %r20, %r11, %r12;"},
    // Who comes last sums up what all have left, as its copy's own way.
    {"LastBlock",
     "setp.ne.u32 %p1, %r3, 0;\nmov.u32 %r20, 1;\n@%p1 bra L;\nmul.wide.u32 %rd8, %r4, 4;\n"
     "add.s64 %rd8, %rd8, %rd2;\nst.global.u32 [%rd8+8192], %r10;\nmembar.gl;\n"
     "mov.u32 %r11, %nctaid.y;\nsub.u32 %r11, %r11, 1;\n"
     "atom.global.inc.u32 %r12, [%rd2+8256], %r11;\nsetp.ne.u32 %p2, %r12, %r11;\n@%p2 bra L;\n"
     "membar.gl;\nmov.u32 %r13, 0;\nmov.u32 %r14, 0;\nM:\nmul.wide.u32 %rd8, %r13, 4;\n"
     "add.s64 %rd8, %rd8, %rd2;\nld.volatile.global.u32 %r15, [%rd8+8192];\n"
     "add.u32 %r14, %r14, %r15;\nadd.u32 %r13, %r13, 1;\nsetp.le.u32 %p3, %r13, %r11;\n"
     "@%p3 bra M;\nst.global.u32 [%rd2+8260], %r14;\nL:\nbar.sync 0;"},
    // Blocks that leave, that skip what has barriers, that are the only ones to come there.
    {"BlocksThatLeave", "setp.ge.u32 %p1, %r4, 5;\n@%p1 ret;\nst.shared.u32 [%r6], %r10;\n"
                        "bar.sync 0;\nld.shared.u32 %r20, [s+4];\nadd.u32 %r20, %r20, %r3;"},
    {"OneBlockStays", "setp.ne.u32 %p1, %r4, 2;\n@%p1 exit;\nst.shared.u32 [%r6], %r10;\n"
                      "bar.sync 0;\nld.shared.u32 %r20, [s+4];"},
    {"AnIfAroundBarriers",
     "mov.u32 %r20, 7;\nsetp.lt.u32 %p1, %r4, 3;\n@%p1 bra L;\nst.shared.u32 [%r6], %r10;\n"
     "bar.sync 0;\nld.shared.u32 %r20, [s+4];\nbar.sync 0;\nst.shared.u32 [%r6], %r20;\nL:\n"
     "bar.sync 1;\nadd.u32 %r20, %r20, %r4;\nsetp.gt.u32 %p2, %r3, 9;\n@%p2 ret;"},
    {"TwoAgreements",
     "mov.u32 %r20, 1;\nsetp.lt.u32 %p1, %r4, 1;\n@%p1 ret;\nand.b32 %r11, %r4, 2;\n"
     "setp.eq.u32 %p2, %r11, 0;\n@%p2 bra L;\nst.shared.u32 [%r6], %r10;\nbar.sync 0;\n"
     "ld.shared.u32 %r20, [s+4];\nL:\nadd.u32 %r20, %r20, %r4;"},
    {"ScopesOfRegisters",
     "mov.u32 %r20, 0;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bra L;\n{ .reg .b32 q; add.u32 q, %r10, 1;\n"
     "mov.u32 %r20, q; }\n"
     "add.u32 %r20, %r20, 1;\nL:\nbar.sync 0;"},
};

simt::VerifyResult compare(const Coarsened& coarsened) {
  simt::VerifyOptions options{.launches = 6, .schedules = 2, .threads = 1};
  options.grids = {{1, 4, 1}, {1, 8, 1}, {1, 7, 1}};
  options.blocks = {{16, 1, 1}};
  options.arguments = {"random:u32:4096:1:200", "zeros:16384", "16", "8"};
  return simt::verify(coarsened.module, coarsened.result, "k", options);
}

TEST(CoarsenUniform, ComputesTheSame) {
  for (const UniformCase& one : uniform_cases) {
    for (const unsigned factor : {2U, 4U}) {
      for (const auto order : {passes::CopyOrder::copies, passes::CopyOrder::instructions}) {
        const Coarsened c(kernel(one.body), {.factors = {1, factor, 1}, .order = order});
        ASSERT_EQ(c.plan.refused.text, "") << one.name;
        EXPECT_TRUE(c.plan.uniform) << one.name;
        EXPECT_TRUE(c.result->diagnostics.empty()) << c.text;
        const auto result = compare(c);
        EXPECT_TRUE(result.ok()) << one.name << "\n" << simt::text_of(result, "k") << c.text;
      }
    }
  }
}

// In a grid that the launcher divides: no group, one, several, and as many blocks behind them as
// there can be. Each of those has the tile of copy 0 for itself.
TEST(CoarsenUniform, WhatFillsNoGroupStandsByItself) {
  for (const UniformCase& one : uniform_cases) {
    for (const unsigned factor : {2U, 3U, 4U}) {
      const Coarsened c(kernel(one.body), {.factors = {1, factor, 1}}, "",
                        {.grid = CoarsenGrid::launcher});
      ASSERT_EQ(c.plan.refused.text, "") << one.name;
      ASSERT_FALSE(c.text == *c.module->text) << one.name;
      simt::VerifyOptions options{.launches = 6, .schedules = 1, .threads = 1};
      options.divide = {1, factor, 1};
      options.original_grid = options.rest_by_itself = true;
      options.grids = {{1, 1, 1}, {1, 3, 1}, {1, 4, 1}, {1, 7, 1}, {1, 8, 1}, {1, 11, 1}};
      options.blocks = {{16, 1, 1}};
      options.arguments = {"random:u32:4096:1:200", "zeros:16384", "16", "8"};
      const auto result = simt::verify(c.module, c.result, "k", options);
      EXPECT_TRUE(result.ok()) << one.name << "\n" << simt::text_of(result, "k") << c.text;
    }
  }
}

TEST(CoarsenUniform, TheRestOfTwoAxesHasNoForm) {
  const Coarsened c(test::golden_ptx("controls"), {.factors = {2, 2, 1}}, "matmul_tiled",
                    {.grid = CoarsenGrid::launcher});
  EXPECT_EQ(c.plan.refused.text, "");
  EXPECT_EQ(c.text, *c.module->text);
}

TEST(CoarsenUniform, IsTakenByPtxas) {
  std::string all;
  for (const UniformCase& one : uniform_cases) {
    const Coarsened c(kernel(one.body), Factors{1, 4, 1});
    test::expect_that_ptxas_takes(c.text, std::string("uniform_") + one.name);
    const Coarsened divided(kernel(one.body), {.factors = {1, 4, 1}}, "",
                            {.grid = CoarsenGrid::launcher});
    test::expect_that_ptxas_takes(divided.text, std::string("divided_") + one.name);
  }
}

// A leaf with a frame of its own, called by each copy, also where copies part; what it has loaded
// is not taken for the same in all.
TEST(CoarsenUniform, CallsOfLeaves) {
  const std::string callee = R"(.func (.param .b32 r) at (.param .b64 p, .param .b32 i)
{ .reg .b32 %a; .reg .b64 %q, %o; .local .align 4 .b8 l[16]; ld.param.b64 %q, [p];
  ld.param.b32 %a, [i]; mul.wide.u32 %o, %a, 4; add.s64 %q, %q, %o; ld.global.u32 %a, [%q];
  st.local.u32 [l+4], %a; ld.local.u32 %a, [l+4]; and.b32 %a, %a, 15; st.param.b32 [r], %a; ret; }
)";
  const auto call = [](const char* index, const char* result) {
    return fmt::format("{{ .reg .b32 tmp; .param .b64 p1; .param .b32 i1; .param .b32 r1;\n"
                       "mov.u32 tmp, {};\nst.param.b64 [p1], %rd1;\nst.param.b32 [i1], tmp;\n"
                       "call.uni (r1), at, (p1, i1);\nld.param.b32 {}, [r1]; }}\n",
                       index, result);
  };
  const std::string used = "mul.wide.u32 %rd8, %r11, 4;\nadd.s64 %rd8, %rd8, %rd1;\n"
                           "ld.global.u32 %r20, [%rd8];\nbar.sync 0;";
  const std::string parted = "mov.u32 %r20, 3;\nsetp.lt.u32 %p1, %r10, 64;\n@%p1 bra L;\n" +
                             call("%r3", "%r20") + "add.u32 %r20, %r20, 1;\nL:\nbar.sync 0;";
  for (const std::string& body : {call("%r4", "%r11") + used, call("%r3", "%r11") + used, parted}) {
    std::string text = kernel(body);
    text.insert(text.find(".visible .entry"), callee);
    const Coarsened c(text, {.factors = {1, 4, 1}}, "k");
    ASSERT_EQ(c.plan.refused.text, "") << body;
    const auto result = compare(c);
    EXPECT_TRUE(result.ok()) << simt::text_of(result, "k") << c.text;
    test::expect_that_ptxas_takes(c.text, "uniform_calls");
  }
}

// One tile for all copies is stored and loaded once, an own one stands once for each.
TEST(CoarsenUniform, TheTilesOfAMatrixProduct) {
  const Coarsened four(test::golden_ptx("controls"), {.factors = {1, 4, 1}}, "matmul_tiled");
  ASSERT_EQ(four.plan.refused.text, "");
  EXPECT_THAT(four.text, HasSubstr(".b8 _ZZ12matmul_tiledE2ta_c3[1024];"));
  EXPECT_THAT(four.text, Not(HasSubstr("2tb_c1")));
  EXPECT_EQ(four.report.loads_left, 4U * 17 + 17);
  simt::VerifyOptions options{.launches = 4, .schedules = 1, .threads = 1};
  options.grids = {{2, 4, 1}, {1, 7, 1}};
  options.blocks = {{16, 16, 1}};
  const auto result = simt::verify(four.module, four.result, "matmul_tiled", options);
  EXPECT_TRUE(result.ok()) << simt::text_of(result, "matmul_tiled");
}

// Threads of several warps share what is the block's, copy after copy: none goes on to the next one
// while others still use it.
TEST(CoarsenUniform, WhereCopiesDoNotAgreeTheBlockBeginsAgain) {
  const std::string body =
      "setp.eq.u32 %p1, %r4, 1;\n@%p1 ret;\nst.shared.u32 [%r6], %r10;\nbar.sync 0;\n"
      "sub.u32 %r11, 63, %r3;\nmad.lo.u32 %r12, %r11, 4, %r8;\nld.shared.u32 %r20, [%r12];";
  for (const CoarsenGrid grid : {CoarsenGrid::kernel, CoarsenGrid::launcher}) {
    const Coarsened c(kernel(body), {.factors = {1, 4, 1}}, "", {.grid = grid});
    ASSERT_EQ(c.plan.refused.text, "");
    EXPECT_EQ(c.report.agreements, 1U);
    EXPECT_THAT(c.text, HasSubstr("copy by copy"));
    simt::VerifyOptions options{.launches = 4, .schedules = 6, .threads = 1};
    if (grid == CoarsenGrid::launcher) {
      options.divide = {1, 4, 1};
      options.original_grid = options.rest_by_itself = true;
    }
    options.grids = {{1, 4, 1}, {1, 9, 1}};
    options.blocks = {{64, 1, 1}};
    options.arguments = {"random:u32:65536:1:200", "zeros:65536", "64", "8"};
    const auto result = simt::verify(c.module, c.result, "k", options);
    EXPECT_TRUE(result.ok()) << simt::text_of(result, "k") << c.text;
  }
}

// No form in which threads would decide for themselves, and no check that they would answer.
TEST(CoarsenUniform, OneFormForTheBlock) {
  const Coarsened two(kernel(uniform_cases[0].body), Factors{1, 2, 1});
  EXPECT_THAT(two.text, Not(HasSubstr("sequential")));
  EXPECT_THAT(two.text, Not(HasSubstr("no index wraps")));
}

} // namespace
} // namespace ptxasw
