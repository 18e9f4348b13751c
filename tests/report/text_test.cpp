// Golden texts of hand-made reports.
#include "report/report.hpp"
#include "report/samples.hpp"
#include "report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

using namespace ptxasw;
using namespace ptxasw::report;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string kernel_text(KernelReport kernel, const TextStyle& style = {}) {
  Report report;
  report.kernels.push_back(std::move(kernel));
  const std::string text = to_text(report, style);
  return text.substr(text.find("\n\n") + 2);
}

} // namespace

TEST(Text, Sample) {
  EXPECT_EQ(to_text(test::sample()), R"(jacobi.ptx: 2 kernels, 5 loads, 2 covered
  412 statements (1 opaque); parse 0.31 ms, analysis 0.84 ms, print 0.02 ms
  what is rewritten computes the same bits in launches without data races, but for the payload of a NaN: of two that
  meet in double precision either is handed on, and one that only passes an operation of no effect may keep its own
  jacobi.ptx:77:3: note: unknown instruction `foo.b32`
   foo.b32 %r1;
    ^

kernel jacobi (jacobi.cu:12-16, PTX line 21)
  2 of 5 loads covered: 1 shuffle, 1 move, mean |delta| 1.00; 0.84 ms, 12 queries (1 by Z3)

  line  source        access        bytes  stride  sectors  class      outcome
  ----  ------------  ------------  -----  ------  -------  ---------  -------------------------------------------------
    45  jacobi.cu:12  ld.global.nc      4       4      4-5  coalesced  kept: supplies lines 52, 58
        u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y)
    52  jacobi.cu:12  ld.global.nc      4       4      4-5  coalesced  shuffled from lane+1, line 45
        u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y + 1)
        checked: %tid.x + 1 + nx*%ctaid.y does not wrap
    58  jacobi.cu:13  ld.global.nc      4       4      4-5  coalesced  moved from line 45, same lane
        u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y)
    60  jacobi.cu:14  ld.global         4       4      4-5  coalesced  kept: store to [%rd12] at line 59 may alias;
                                                                       `__restrict__` on u1 would allow it
        u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y + 2)
    63  jacobi.cu:15  ld.global.nc      4   param     1-32  vertical   kept: no earlier load holds this value
        c + 4*nx*%tid.x
    70  jacobi.cu:16  st.global         4       4      4-5  coalesced
        u1 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y)

kernel histogram (PTX line 90)
  not analyzed: calls printf at line 101, which may write any memory [call]
)");
}

TEST(Text, NoLineIsWiderThanThePageOnceThePageIsWideEnough) {
  for (const unsigned width : {90U, 100U, 120U, 160U}) {
    std::istringstream lines(kernel_text(test::jacobi(), {width, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), width) << line;
  }
}

TEST(Text, LongAddressesWrapBehindAnOperatorAndIndentTheRest) {
  KernelReport kernel;
  kernel.analyzed = true;
  kernel.accesses.push_back(test::load(
      7, 0, "u0 + 4*(" + std::string(60, 'n') + "*%ctaid.y + " + std::string(30, 'm') + ")"));
  EXPECT_THAT(kernel_text(kernel, {90, false}),
              HasSubstr("\n        u0 + 4*(" + std::string(60, 'n') + "*%ctaid.y +\n          " +
                        std::string(30, 'm') + ")\n"));
}

TEST(Text, ColumnsWithoutContentsAreLeftOut) {
  KernelReport kernel;
  kernel.name = "k";
  kernel.analyzed = true;
  kernel.accesses.push_back(test::load(7, 0, "a"));
  EXPECT_EQ(kernel_text(kernel), R"(kernel k
  0 of 0 loads covered; 0.00 ms, 0 queries (0 by Z3)

  line  access        bytes  stride  sectors  class
  ----  ------------  -----  ------  -------  ---------
     7  ld.global.nc      4       4      4-5  coalesced
        a
)");
}

TEST(Text, ColorsOnlyOnRequest) {
  EXPECT_THAT(to_text(test::sample()), Not(HasSubstr("\x1b")));
  const std::string colored = to_text(test::sample(), {120, true});
  EXPECT_THAT(colored, HasSubstr("\x1b[1mkernel jacobi\x1b[0m"));
  EXPECT_THAT(colored, HasSubstr("\x1b[32mshuffled from lane+1, line 45\x1b[0m"));
}

TEST(Text, AnEmptyReport) {
  EXPECT_EQ(to_text({}), "<input>: 0 kernels, 0 loads, 0 covered\n"
                         "  0 statements (none opaque); parse 0.00 ms, analysis 0.00 ms, print "
                         "0.00 ms\n");
}

TEST(Text, NamesCannotDriveTheTerminal) {
  Report report = test::sample();
  report.file = "evil\x1b[2J.ptx";
  report.kernels[0].name = "k\x07";
  report.kernels[0].accesses[0].source_file = "a\nb.cu";
  report.kernels[0].accesses[0].address = "p\x1b]0;x";
  const std::string text = to_text(report) + explain(report, 45) + table2({&report, 1});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, HasSubstr("a?b.cu:12"));
}

TEST(Text, KernelNamesAreDemangledWithoutParameters) {
  struct Case {
    const char *name, *shown;
  };
  for (const auto& c : std::vector<Case>{
           {"_Z6jacobiPfPKfii", "jacobi"},
           {"_Z3boxIfLi9EEvPT_PKS0_i", "box<float, 9>"},
           {"_ZN3hpc4stepEPd", "hpc::step"},
           {"_Z", "_Z"},
           {"_ZZZZ", "_ZZZZ"},
           {"plain", "plain"},
           // Would grow without bound if it were demangled.
           {"_Z1fI1AS_S0_S1_S2_S3_S4_S5_S6_S7_S8_EvT_", "_Z1fI1AS_S0_S1_S2_S3_S4_S5_S6_S7_S8_EvT_"},
       }) {
    KernelReport kernel;
    kernel.name = c.name;
    EXPECT_THAT(kernel_text(kernel), testing::StartsWith("kernel " + std::string(c.shown) + "\n"));
  }
}

TEST(Table2, RowsAndTotals) {
  Report first = test::sample(), second = test::sample();
  second.kernels[0].name = "lapgsrb";
  second.kernels[0].shuffles = 12;
  second.kernels[0].moves = 0;
  second.kernels[0].loads = 25;
  second.kernels[0].mean_delta = 1.8333;
  second.kernels[0].milliseconds = 1432.1;
  const std::vector<Report> reports{first, second};
  EXPECT_EQ(table2(reports),
            R"(kernel     loads  shuffles  moves  mean |delta|  analysis took  verdict
---------  -----  --------  -----  ------------  -------------  ---------------------
jacobi         5         1      1          1.00        0.84 ms  rewritten by shuffles
histogram      -                                       0.00 ms  left as it is [call]
lapgsrb       25        12                 1.83         1.43 s  rewritten by shuffles
histogram      -                                       0.00 ms  left as it is [call]
---------  -----  --------  -----  ------------  -------------  ---------------------
4 kernels     30        13      1          1.77         1.43 s
)");
}

// Loads that differ in their address alone are one line; a store is another.
TEST(Text, LoadsThatDifferByAnAddressAreOneLine) {
  Report report = test::sample();
  KernelReport& kernel = report.kernels[0];
  kernel.accesses.clear();
  for (std::uint32_t n = 0; n < 9; ++n)
    kernel.accesses.push_back({.ptx_line = 40 + n, .address = "p + 4*%tid.x"});
  for (std::uint32_t n = 1; n < 9; ++n)
    kernel.accesses[n].address += " + " + std::to_string(4 * n);
  kernel.accesses.push_back({.ptx_line = 60, .is_store = true, .address = "q + 4*%tid.x"});
  const std::string text = to_text(report, {.details = false});
  EXPECT_THAT(text, HasSubstr("40-48      9"));
  EXPECT_THAT(text, HasSubstr("   60      1"));
  EXPECT_THAT(text, Not(HasSubstr("%tid.x")));
  EXPECT_THAT(text, HasSubstr("rewritten by shuffles"));
  EXPECT_THAT(to_text(report), HasSubstr("p + 4*%tid.x + 32"));
}

TEST(Text, LoadsThatWereKeptForDifferentReasonsAreTwoLines) {
  Report report = test::sample();
  KernelReport& kernel = report.kernels[0];
  kernel.accesses = {{.ptx_line = 7, .kept = {Reason::no_source, "none at line 3"}},
                     {.ptx_line = 8, .kept = {Reason::no_source, "none at line 4"}},
                     {.ptx_line = 9, .kept = {Reason::not_affine, "not affine"}}};
  const std::string text = to_text(report, {.details = false});
  EXPECT_THAT(text, HasSubstr("7-8      2"));
  EXPECT_THAT(text, HasSubstr("kept: no earlier load has it [no-source]"));
  EXPECT_THAT(text, HasSubstr("kept: the address is not affine in the lane [not-affine]"));
}

TEST(Text, AVerdictHasAtMostEightLinesAndSaysWhatWouldHelp) {
  Report report;
  KernelReport kernel = test::refused();
  kernel.left_alone = {};
  std::string reason = "not coarsened:";
  for (int n = 0; n < 300; ++n)
    reason += " word";
  kernel.coarsening = {Status::refused, Reason::may_lose, reason};
  report.kernels.push_back(kernel);
  std::string text = to_text(report, {.details = false});
  EXPECT_LE(std::ranges::count(text, '\n'), 2 + 8);
  EXPECT_THAT(text, HasSubstr("(more with --details)"));
  report.kernels[0].coarsening.text = "not coarsened: too short";
  report.kernels[0].hints = {{"--coarsen=large", "if most are large: 1.2", 1.2}, {"this", "gains"}};
  text = to_text(report, {.details = false});
  EXPECT_THAT(text, HasSubstr("left as it is [may-lose]\n  not coarsened: too short\n"
                              "  what would help: --coarsen=large, if most are large: 1.2\n"
                              "  or this: gains\n"));
}

// Only of a kernel for which something was tried.
TEST(Text, ThatNothingHelpsIsSaidOnlyWhereItIsKnown) {
  const std::string nothing = "nothing in ptxasw is known to help this kernel";
  Report report;
  report.kernels.push_back(test::refused());
  EXPECT_THAT(to_text(report, {.details = false}), Not(HasSubstr(nothing)));
  report.kernels[0].hints_sought = true;
  EXPECT_THAT(to_text(report, {.details = false}), HasSubstr(nothing));
  report.kernels[0].hints = {{"this", ""}};
  EXPECT_THAT(to_text(report, {.details = false}), Not(HasSubstr(nothing)));
  report.kernels[0].hints.clear();
  report.kernels[0].changed = true;
  EXPECT_THAT(to_text(report, {.details = false}), Not(HasSubstr(nothing)));
}

TEST(Text, EntriesBesideAKernelAreNamed) {
  Report report = test::sample();
  report.kernels[1].entries = {"histogram__ptxasw_y2", "histogram__ptxasw_steps9"};
  const std::string text = to_text(report, {.details = false});
  EXPECT_THAT(text, HasSubstr("2 kernels, 1 rewritten, 2 entries added\n"));
  EXPECT_THAT(text, HasSubstr("\n  2 entries added for a launcher: y2, steps9\n"));
}

TEST(Text, WhyAKernelGotNoEntryForStepsIsSaid) {
  Report report = test::sample();
  report.kernels[1].steps = {Status::refused, Reason::step_loop, "no time step: a loop"};
  EXPECT_THAT(to_text(report, {.details = false}), HasSubstr("\n  no time step: a loop\n"));
  report.kernels[1].steps.text = "a time step from parameter 0 to 1, reads (0,1,0); no entry: why";
  EXPECT_THAT(to_text(report, {.details = false}),
              HasSubstr("\n  a time step from parameter 0 to 1; no entry: why\n"));
}

// What a load is said to be kept for is about shuffles alone.
TEST(Text, LoadsOfMergedBlocksAreNotKept) {
  Report report = test::sample();
  KernelReport& kernel = report.kernels[0];
  kernel.accesses = {{.ptx_line = 7, .kept = {Reason::no_source, "none"}},
                     {.ptx_line = 8, .space = "shared", .kept = {Reason::shared_memory, "none"}}};
  EXPECT_THAT(to_text(report, {.details = false}), HasSubstr("[no-source]"));
  kernel.rounds.status = Status::done;
  EXPECT_THAT(to_text(report, {.details = false}), HasSubstr("[no-source]"));
  EXPECT_THAT(to_text(report, {.details = false}), Not(HasSubstr("[shared-memory]")));
  kernel.coarsening.status = Status::done;
  EXPECT_THAT(to_text(report, {.details = false}), Not(HasSubstr("kept")));
}

TEST(Text, MachineCodeIsNotForTheVerdict) {
  Report report;
  report.kernels.push_back(test::refused());
  report.kernels[0].left_alone = {};
  report.kernels[0].coarsening = {Status::refused, Reason::body_changed,
                                  "other code (machine instruction 16 is another one (0x435 "
                                  "instead of 0xc10)) and so on"};
  EXPECT_THAT(to_text(report, {.details = false}), HasSubstr("\n  other code and so on\n"));
  EXPECT_THAT(to_text(report), HasSubstr("0xc10"));
}

TEST(Text, LinesOfTheSourceComeFirst) {
  Report report = test::sample();
  report.kernels[0].accesses.back().source_file = "/elsewhere/header.cuh";
  report.kernels[0].accesses.back().source_line = 900;
  const std::string text = to_text(report, {.details = false});
  EXPECT_THAT(text, HasSubstr("kernel jacobi (jacobi.cu:12-15, PTX line 21): "));
  EXPECT_THAT(text, HasSubstr("kernel histogram (PTX line 90): "));
  EXPECT_THAT(text, HasSubstr("  source          PTX lines"));
}

TEST(Text, WhatGainsMostComesFirst) {
  Report report = test::sample();
  report.kernels = {test::refused(), test::jacobi(), test::jacobi()};
  report.kernels[0].name = "unchanged";
  report.kernels[1].name = "little";
  report.kernels[2].name = "much";
  for (const auto& [n, gain] : {std::pair(1, 1.1), {2, 1.9}})
    report.kernels[n].weighed.ways.push_back({.gain = gain, .chosen = true});
  const std::string text = to_text(report, {.details = false});
  EXPECT_LT(text.find("kernel much"), text.find("kernel little"));
  EXPECT_LT(text.find("kernel little"), text.find("kernel unchanged"));
  EXPECT_NE(text.find("kernel unchanged"), text.npos);
  EXPECT_THAT(text, HasSubstr("3 kernels, 2 rewritten"));
}

TEST(Table2, MovesAppearOnlyWhereThereAreAny) {
  Report report = test::sample();
  report.kernels[0].moves = 0;
  EXPECT_THAT(table2({&report, 1}), Not(HasSubstr("moves")));
  EXPECT_EQ(table2({}), "no kernels\n");
}

TEST(Table2, HasWhatWouldHelp) {
  Report report = test::sample();
  EXPECT_THAT(table2({&report, 1}), Not(HasSubstr("what would help")));
  report.kernels[1].hints_sought = true;
  EXPECT_THAT(table2({&report, 1}), HasSubstr("nothing known"));
  report.kernels[1].hints = {{"--remap=auto", "half the sectors"}};
  EXPECT_THAT(table2({&report, 1}), HasSubstr("--remap=auto: half the sectors"));
  EXPECT_THAT(table2({&report, 1}), Not(HasSubstr("nothing known")));
}

TEST(Explain, AtAPtxLine) {
  EXPECT_EQ(explain(test::sample(), 52), R"(jacobi.ptx:52 (jacobi.cu:12), kernel jacobi
  access    ld.global.nc, 4 bytes per lane
  address   u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y + 1)
  lanes     4 bytes from lane to lane: coalesced (the lanes cover one contiguous run)
  request   4 to 5 sectors of 32 bytes per warp, depending on alignment
  outcome   shuffled from lane+1, line 45
  given     %tid.x < %ntid.x (always true of the architecture)
            %tid.x + 1 + nx*%ctaid.y does not wrap (checked at run time, else the original load runs)
  proof     normal form
)");
}

TEST(Explain, AtASourceLineGivesEveryAccessOfIt) {
  const std::string text = explain(test::sample(), 12);
  EXPECT_THAT(text, HasSubstr("jacobi.ptx:45 (jacobi.cu:12)"));
  EXPECT_THAT(text, HasSubstr("\n\njacobi.ptx:52 (jacobi.cu:12)"));
  EXPECT_THAT(text, Not(HasSubstr("jacobi.ptx:58")));
}

TEST(Explain, KeptAndParametric) {
  EXPECT_EQ(explain(test::sample(), 63), R"(jacobi.ptx:63 (jacobi.cu:15), kernel jacobi
  access    ld.global.nc, 4 bytes per lane, inside 1 loop
  address   c + 4*nx*%tid.x
  lanes     a distance set by the parameters: vertical (every lane touches a line of its own)
  request   1 to 32 sectors of 32 bytes per warp, depending on parameters and alignment
  outcome   kept: no earlier load holds this value
)");
}

TEST(Explain, AKernelLeftAloneSaysSoForEachLoad) {
  Report report = test::sample();
  report.kernels[0].left_alone = {
      Reason::budget_time, "analysis took longer than 250 ms; --budget=1s would give it more"};
  report.kernels[0].accesses = {test::load(45, 12, "u0")};
  EXPECT_THAT(explain(report, 45),
              HasSubstr("outcome   kept, as the whole kernel is: analysis took"));
}

TEST(Explain, NothingThere) {
  EXPECT_EQ(explain(test::sample(), 50),
            "jacobi.ptx:50: no memory access here; the nearest are at lines 45 and 52\n");
  EXPECT_EQ(explain(test::sample(), 0),
            "jacobi.ptx:0: no memory access here; the nearest is at line 45\n");
  EXPECT_EQ(explain(test::sample(), 99),
            "jacobi.ptx:99: no memory access here; the nearest is at line 70\n");
  EXPECT_EQ(explain({}, 1), ":1: no memory access here; there are none in this file\n");
}

TEST(Wrap, Table) {
  struct Case {
    const char* text;
    std::size_t width;
    std::vector<std::string> lines;
  };
  for (const auto& c : std::vector<Case>{
           {"", 5, {""}},
           {"one two", 7, {"one two"}},
           {"one two", 6, {"one", "two"}},
           {"one two", 3, {"one", "two"}},
           {"a+bbbbbbbb", 6, {"a+", "bbbbbb", "bb"}},
           {"abcdef", 4, {"abcd", "ef"}},
           {"ab", 0, {"a", "b"}},
       })
    EXPECT_EQ(wrap(c.text, c.width), c.lines) << c.text;
}

TEST(TableLayout, WrappingColumnsShareWhatTheFixedOnesLeave) {
  Table table({{"n", Align::right}, {"short", Align::left, true}, {"long", Align::left, true}});
  table.row({"1", "s", std::string(12, 'x') + " " + std::string(12, 'y')});
  EXPECT_EQ(table.render(26), "n  short  long\n"
                              "-  -----  ----------------\n"
                              "1  s      xxxxxxxxxxxx\n"
                              "          yyyyyyyyyyyy\n");
}
