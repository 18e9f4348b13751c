// Threads that decide for themselves, whose copies diverge in loops, behind stores, or by what they
// have loaded: each copy runs a region by itself, and takes what another has loaded there.
#include "passes/coarsen/block_found.hpp"
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
using test::block::Found;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// %r4 = %ctaid.y, %r5 = x + n*%ctaid.y, %rd4 = &in[%r5], %rd5 = &out[%r5], %rd6 = &in[%r5 + n],
// %rd8 = &in[2*%tid.x], %r10 = in[%r5], which is load 0. Threads leave for what they are.
std::string region_kernel(const std::string& body) {
  return kernel_text(std::string(test::block::by_row) +
                     "mul.wide.u32 %rd8, %r3, 8;\nadd.s64 %rd8, %rd8, %rd1;\n"
                     "setp.gt.s32 %p10, %r5, 300;\n@%p10 bra E;\nld.global.u32 %r10, [%rd4];\n" +
                     body + "\nst.global.u32 [%rd5], %r20;\nE:\nret;");
}

// Rounds of a loop, in each of which a copy comes by as its own data say.
std::string if_in_loop(const std::string& in_region, const std::string& guard = "@%p1 bra M;") {
  return "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nL:\nsetp.lt.u32 %p1, %r10, %r12;\n" + guard + "\n" +
         in_region + "\nM:\nadd.u32 %r12, %r12, 40;\nsetp.lt.u32 %p2, %r12, 200;\n@%p2 bra L;";
}

// What some copies move, behind what all do: a value of each round.
std::string moves_in_region(const std::string& ahead, const std::string& in_region) {
  return "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nmov.u32 %r14, 3;\nL:\n"
         "setp.lt.u32 %p1, %r10, 99;\n" +
         ahead + "\n@%p1 bra M;\n" + in_region +
         "\nM:\nmad.lo.u32 %r20, %r20, 5, %r13;\nadd.u32 %r12, %r12, 1;\n"
         "setp.lt.u32 %p2, %r12, 4;\n@%p2 bra L;";
}

struct RegionCase {
  const char* name;
  std::string body;
};

const RegionCase region_cases[] = {
    {"InALoop", if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;")},
    {"TheOtherWay",
     if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;", "@!%p1 bra M;")},
    {"Vectors",
     if_in_loop("ld.global.v2.u32 {%r13, %r14}, [%rd8];\nmad.lo.u32 %r20, %r13, 3, %r20;\n"
                "add.u32 %r20, %r20, %r14;")},
    {"ItsOwnAddress", if_in_loop("mov.u64 %rd9, %rd8;\nld.global.u64 %rd9, [%rd9];\n"
                                 "cvt.u32.u64 %r13, %rd9;\nadd.u32 %r20, %r20, %r13;")},
    {"RowsOfNeighbours", if_in_loop("ld.global.u32 %r14, [%rd6];\nld.global.u32 %r13, [%rd4];\n"
                                    "mad.lo.u32 %r20, %r13, 3, %r20;\nadd.u32 %r20, %r20, %r14;")},
    {"OwnStoresAhead", if_in_loop("st.global.u32 [%rd5], %r12;\nld.global.u32 %r13, [%rd8];\n"
                                  "add.u32 %r20, %r20, %r13;")},
    {"OwnStoresBehind", if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;\n"
                                   "st.global.u32 [%rd5], %r20;")},
    {"TheGuardIsWritten", if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;\n"
                                     "setp.ne.u32 %p1, %r13, 50;")},
    {"TheValueIsWritten", if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;\n"
                                     "mov.u32 %r13, 5;\nadd.u32 %r20, %r20, %r13;")},
    {"SomeLoad", if_in_loop("setp.gt.u32 %p3, %r10, 100;\nmov.u32 %r13, 7;\n"
                            "@%p3 ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;")},
    {"OneInAnother",
     if_in_loop("setp.gt.u32 %p3, %r10, 100;\n@%p3 bra M;\nld.global.u32 %r13, [%rd8];\n"
                "add.u32 %r20, %r20, %r13;")},
    {"ALoopInside", if_in_loop("mov.u32 %r15, 0;\nK:\nmul.wide.u32 %rd9, %r15, 4;\n"
                               "add.s64 %rd9, %rd9, %rd8;\nld.global.u32 %r13, [%rd9];\n"
                               "add.u32 %r20, %r20, %r13;\nadd.u32 %r15, %r15, 1;\n"
                               "setp.lt.u32 %p3, %r15, 3;\n@%p3 bra K;")},
    {"Scopes", if_in_loop("{ .reg .b32 q;\nld.global.u32 q, [%rd8];\nadd.u32 %r20, %r20, q;\n"
                          "{ .reg .b32 q;\nld.global.u32 q, [%rd8+4];\nadd.u32 %r20, %r20, q; }}")},
    // Nothing that the copies would have to start over for.
    {"ByData", "mov.u32 %r20, 1;\nsetp.lt.u32 %p1, %r10, 99;\n@%p1 bra M;\n"
               "ld.global.u32 %r20, [%rd8];\nM:\nadd.u32 %r20, %r20, %r4;"},
    {"BehindAStore", "ld.global.u32 %r13, [%rd5];\nadd.u32 %r13, %r13, 1;\n"
                     "st.global.u32 [%rd5], %r13;\nmov.u32 %r20, %r13;\nsetp.eq.u32 %p1, %r4, 1;\n"
                     "@%p1 bra M;\nld.global.u32 %r14, [%rd8];\nadd.u32 %r20, %r20, %r14;\nM:"},
    {"AgreedAheadOfRegions",
     "setp.gt.u32 %p4, %r4, 2;\nmov.u32 %r20, 5;\n@%p4 bra F;\n" +
         if_in_loop("ld.global.u32 %r13, [%rd8];\nadd.u32 %r20, %r20, %r13;") + "\nF:"},
    // The counter of the rounds is written in regions, and only again.
    {"RepeatedMoves",
     "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nmov.u32 %r15, 0;\nL:\nsetp.lt.u32 %p1, %r10, %r12;\n"
     "add.u32 %r16, %r12, 40;\nmov.u32 %r12, %r16;\n@%p1 bra M;\nld.global.u32 %r13, [%rd8];\n"
     "add.u32 %r20, %r20, %r13;\nmov.u32 %r12, %r16;\nM:\nsetp.lt.u32 %p2, %r12, 200;\n"
     "@%p2 bra L;"},
    {"MovesOfWhatDiffers",
     "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nL:\nsetp.lt.u32 %p1, %r10, 99;\n"
     "mov.u32 %r13, %r10;\n@%p1 bra M;\nmov.u32 %r13, %r10;\nM:\nadd.u32 %r20, %r20, %r13;\n"
     "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, 3;\n@%p2 bra L;"},
    {"MovesOfAnother", moves_in_region("mov.u32 %r13, %r12;", "mov.u32 %r13, %r14;")},
    {"MovesOfWhatIsWritten",
     moves_in_region("mov.u32 %r13, %r14;\nadd.u32 %r14, %r14, 7;", "mov.u32 %r13, %r14;")},
    {"MovesToWhatIsWritten",
     moves_in_region("mov.u32 %r13, %r12;\nadd.u32 %r13, %r13, 2;", "mov.u32 %r13, %r12;")},
    {"MovesOfARegion",
     moves_in_region("mov.u32 %r13, 4;", "mov.u32 %r13, %r12;\nmov.u32 %r13, %r12;")},
    {"MovesUnderAGuard",
     "mov.u32 %r20, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 3;\nL:\nsetp.lt.u32 %p1, %r10, 99;\n"
     "setp.eq.u32 %p3, %r12, 1;\n@%p3 mov.u32 %r13, %r12;\n@%p1 bra M;\nmov.u32 %r13, %r12;\nM:\n"
     "mad.lo.u32 %r20, %r20, 5, %r13;\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, 4;\n"
     "@%p2 bra L;"},
};

passes::BlockOptions in_regions(Factors factors, passes::CopyOrder order = {}) {
  return {.factors = factors, .regions = true, .order = order};
}

// Blocks of lines, of rows and of less than a warp; no group, one, several, and some that are left.
void expect_equal_regions(const Coarsened& c, const char* name, bool divided, Factors factors) {
  simt::VerifyOptions options{.launches = 9, .schedules = 1, .threads = 1};
  if (divided) {
    options.divide = {factors[0], factors[1], factors[2]};
    options.original_grid = true;
  }
  options.grids = {{1, 1, 1}, {1, 3, 1}, {1, 4, 1}, {1, 7, 1}, {1, 9, 1}, {3, 5, 1}};
  options.blocks = {{16, 1, 1}, {33, 1, 1}, {16, 3, 1}};
  options.arguments = {"random:u32:4096:1:200", "zeros:16384", "64", "8"};
  auto result = simt::verify(c.module, c.result, "k", options);
  EXPECT_TRUE(result.ok()) << name << "\n" << simt::text_of(result, "k") << c.text;
  options.arguments = {"?", "?", "64", "8"}; // which may be one array
  result = simt::verify(c.module, c.result, "k", options);
  EXPECT_TRUE(result.ok()) << name << "\n" << simt::text_of(result, "k") << c.text;
}

TEST(RegionLoads, ComputesTheSame) {
  for (const RegionCase& one : region_cases)
    for (const unsigned factor : {2U, 3U, 4U})
      for (const auto order : {passes::CopyOrder::copies, passes::CopyOrder::instructions}) {
        const Coarsened c(region_kernel(one.body), in_regions({1, factor, 1}, order));
        ASSERT_EQ(c.plan.refused.text, "") << one.name;
        ASSERT_FALSE(c.plan.uniform) << one.name;
        EXPECT_FALSE(c.plan.regions.empty()) << one.name;
        EXPECT_TRUE(c.result->diagnostics.empty()) << c.text;
        expect_equal_regions(c, one.name, false, {1, factor, 1});
      }
}

TEST(RegionLoads, GridsThatTheLauncherDivides) {
  for (const RegionCase& one : region_cases)
    for (const Factors factors : {Factors{1, 2, 1}, Factors{1, 4, 1}, Factors{2, 1, 1}}) {
      std::string text = region_kernel(one.body);
      if (factors[0] > 1) text.replace(text.find("%ctaid.y"), 8, "%ctaid.x");
      const Coarsened c(text, in_regions(factors), "", {.grid = CoarsenGrid::launcher});
      ASSERT_EQ(c.plan.refused.text, "") << one.name;
      ASSERT_FALSE(c.text == *c.module->text) << one.name;
      expect_equal_regions(c, one.name, true, factors);
    }
}

TEST(RegionLoads, IsTakenByPtxas) {
  for (const RegionCase& one : region_cases)
    test::expect_that_ptxas_takes(Coarsened(region_kernel(one.body), in_regions({1, 4, 1})).text,
                                  std::string("regions_") + one.name);
}

// Not unless it is asked for: the drop-in's choices stay what they are.
TEST(RegionLoads, NotOfTheDropIn) {
  const Coarsened c(region_kernel(region_cases[0].body), Factors{1, 2, 1});
  EXPECT_TRUE(c.plan.uniform);
  EXPECT_THAT(c.text, Not(HasSubstr("@!%p1 mov")));
}

Found find_regions_of(const std::string& body) {
  return Found(region_kernel(body), in_regions({1, 2, 1}));
}

// What copies diverge over is a region, and what threads leave for is agreed on.
TEST(RegionLoads, ARegionIsNoLargerThanItsIf) {
  const Found found = find_regions_of(region_cases[0].body);
  ASSERT_EQ(found.plan.regions.size(), 1U);
  EXPECT_EQ(found.plan.regions[0].end - found.plan.regions[0].first, 3U);
  EXPECT_THAT(found.sources(), ElementsAre("load load", "load 1.0|"));
  const Coarsened c(region_kernel(region_cases[0].body), in_regions({1, 2, 1}));
  EXPECT_EQ(c.report.agreements, 1U);
  EXPECT_THAT(c.text, HasSubstr("@%p1 ld.global.u32 %r_c1_13, [%rd8];"));
  EXPECT_THAT(c.text, HasSubstr("@!%p1 mov.b32 \t%r_c1_13, %r13;"));
}

TEST(RegionLoads, OfTheCopyBefore) {
  const Found four(region_kernel(region_cases[0].body), in_regions({1, 4, 1}));
  EXPECT_THAT(four.sources(), ElementsAre("load load load load", "load 1.0| 1.1| 1.2|"));
}

TEST(RegionLoads, OtherLoadsOfTheRegion) {
  EXPECT_THAT(find_regions_of(region_cases[4].body).sources(),
              ElementsAre("load load", "load load", "load 1.0|"));
}

// In the order of `region_cases`.
TEST(RegionLoads, WhatIsNotTaken) {
  for (const std::size_t n : {5U, 7U, 8U, 9U, 10U, 11U})
    EXPECT_THAT(find_regions_of(region_cases[n].body).sources(),
                ElementsAre("load load", "load load"))
        << region_cases[n].name;
  EXPECT_THAT(find_regions_of(region_cases[6].body).sources(),
              ElementsAre("load load", "load 1.0|"));
  const auto pair = [](const char* first, const char* second) {
    return find_regions_of(
               if_in_loop(std::string(first) + "\n" + second + "\nadd.u32 %r20, %r14, %r15;"))
        .sources();
  };
  // Of other bytes, of another width, and of what may be older than a plain load sees.
  EXPECT_THAT(pair("ld.global.u32 %r14, [%rd6+4];", "ld.global.u32 %r15, [%rd4];"),
              ElementsAre("load load", "load load", "load load"));
  EXPECT_THAT(pair("ld.global.u16 %r14, [%rd6];", "ld.global.u32 %r15, [%rd4];"),
              ElementsAre("load load", "load load", "load load"));
  EXPECT_THAT(pair("ld.global.nc.u32 %r14, [%rd6];", "ld.global.u32 %r15, [%rd4];"),
              ElementsAre("load load", "load load", "load load"));
  // Nor by lanes of which only some load, or have.
  EXPECT_THAT(pair("@%p3 ld.global.u32 %r14, [%rd6];", "ld.global.u32 %r15, [%rd4];"),
              ElementsAre("load load", "load load", "load load"));
  EXPECT_THAT(pair("ld.global.u32 %r14, [%rd6];", "@%p3 ld.global.u32 %r15, [%rd4];"),
              ElementsAre("load load", "load load", "load load"));
}

// Where threads synchronize, too, and not past what orders memory.
TEST(RegionLoads, WhereThreadsSynchronize) {
  const auto sources = [](const std::string& between) {
    const Found found(kernel_text(std::string(test::block::by_row) +
                                  "ld.global.u32 %r10, [%rd4];\nmov.u32 %r13, 0;\n"
                                  "setp.lt.u32 %p1, %r10, 99;\nbar.sync 0;\n@%p1 bra M;\n" +
                                  between +
                                  "\nld.global.u32 %r13, [%rd1];\nM:\nbar.sync 0;\n"
                                  "st.global.u32 [%rd5], %r13;\nret;"),
                      in_regions({1, 2, 1}));
    EXPECT_EQ(found.plan.refused.text, "");
    EXPECT_TRUE(found.plan.uniform);
    return found.sources().back();
  };
  EXPECT_EQ(sources("add.u32 %r11, %r10, 1;"), "load 1.0|");
  EXPECT_EQ(sources("ld.volatile.global.u32 %r11, [%rd2];"), "load load");
  EXPECT_EQ(sources("red.global.add.u32 [%rd2], 1;"), "load load");
  EXPECT_EQ(sources("membar.gl;"), "load load");
}

TEST(RegionLoads, WhatOnlyRepeatsDoesNotDiffer) {
  const Found found = find_regions_of(region_cases[16].body);
  const auto reg = [&](std::string_view name) {
    for (ptx::RegId id = 0; id < found.emulated.kernel.body.registers.size(); ++id)
      if (found.emulated.kernel.body.registers[id].name == name)
        return bool(found.plan.replica_divergence.registers[id]);
    return false;
  };
  ASSERT_STREQ(region_cases[16].name, "RepeatedMoves");
  EXPECT_FALSE(reg("%r12"));
  EXPECT_TRUE(reg("%r20"));
  EXPECT_EQ(found.plan.regions.size(), 1U);
}

} // namespace
} // namespace ptxasw
