// The choice of a coarsening through the whole pipeline, with assemblers that are none: what is
// tried, and what happens when nothing comes back. tests/driver/coarsen.sh has the real one.
#include "manager/optimize.hpp"
#include "oracle/fake.hpp"
#include "sanitized.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

namespace ptxasw::manager {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string golden(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string jacobi() {
  return golden("jacobi");
}

Options coarsen_auto() {
  Options options;
  options.coarsen_auto = options.coarsen_large = true;
  options.effort = Effort::thorough;
  return options;
}

std::optional<Assembled> takes_nothing(const AssemblyRequest& /*request*/) {
  return std::nullopt;
}

TEST(CoarsenSearch, EveryWayIsTriedBesideTheOriginal) {
  oracle::FakeAssembler fake(takes_nothing);
  const std::string text = jacobi();
  const Optimized result = run(text, "jacobi.ptx", coarsen_auto(), true, &fake);
  const KernelReport& kernel = result.report.kernels.at(0);
  ASSERT_GE(kernel.weighed.ways.size(), 4U);
  ASSERT_EQ(fake.asked.size(), kernel.weighed.ways.size() + 1);
  EXPECT_EQ(fake.asked[0].text, text);
  for (std::size_t n = 0; n < fake.asked.size(); ++n)
    if (n == 1) // may be what is kept
      EXPECT_THAT(fake.asked[n].entries, testing::IsEmpty());
    else
      EXPECT_THAT(fake.asked[n].entries, testing::ElementsAre("jacobi"));
  for (std::size_t n = 1; n < fake.asked.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      EXPECT_NE(fake.asked[n].text, fake.asked[m].text);
  EXPECT_EQ(result.report.trials, fake.asked.size());
}

TEST(CoarsenSearch, TheDefaultAsksAboutOneWayAfterTheOtherAsLongAsItMayPay) {
  oracle::FakeAssembler fake([](const AssemblyRequest&) {
    return Assembled{"", "info : Compiling entry function 'laplacian' for 'sm_90'\n"
                         "info : Function properties for laplacian\n    0 bytes stack frame\n"
                         "info : Used 26 registers\n"};
  });
  Options options = coarsen_auto();
  const std::string text = golden("laplacian");
  const auto all = run(text, "l.ptx", options, true, &fake).report.kernels.at(0).weighed.ways;
  fake.asked.clear();
  options.effort = Effort::standard;
  const auto few = run(text, "l.ptx", options, true, &fake).report.kernels.at(0).weighed.ways;
  EXPECT_EQ(fake.asked.at(0).text, text);
  EXPECT_EQ(few.size(), all.size()) << "those that were not tried are shown as well";
  const auto tried = static_cast<std::size_t>(
      std::ranges::count_if(few, [](const auto& way) { return way.usage.has_value(); }));
  EXPECT_EQ(fake.asked.size(), tried + 1);
  EXPECT_GT(tried, 0U);
  EXPECT_LT(tried, all.size());
  EXPECT_THAT(few.back().verdict.text, HasSubstr("promises too little"));
}

// With --coarsen=auto no launch may lose: nothing is asked about kernels that would be refused
// whatever their ways gain, because they are short or save few loads.
TEST(CoarsenSearch, WhatWouldNotBeTakenIsNotAskedAbout) {
  for (const Effort effort : {Effort::standard, Effort::thorough}) {
    for (const auto& [name, why] :
         {std::pair("jacobi", "too short"),
          std::pair("derivative", "replicas are merged in large launches")}) {
      oracle::FakeAssembler fake(takes_nothing);
      Options options = coarsen_auto();
      options.coarsen_large = false;
      options.effort = effort;
      const auto result = run(golden(name), "k.ptx", options, true, &fake);
      EXPECT_TRUE(fake.asked.empty()) << name;
      EXPECT_THAT(result.report.kernels.at(0).coarsening.text, HasSubstr(why));
      for (const CoarsenCandidate& way : result.report.kernels.at(0).weighed.ways)
        EXPECT_LE(way.how.copies(), 4U) << name;
    }
  }
}

std::string uses(const std::string& kernel, unsigned registers) {
  return "info : Compiling entry function '" + kernel + "' for 'sm_90'\n" +
         "info : Function properties for " + kernel + "\n    0 bytes stack frame\n" +
         "info : Used " + std::to_string(registers) + " registers\n";
}

// 98 instructions, of which 150 are asked for: likely enough for the default.
TEST(CoarsenSearch, WhatIsLikelyTooShortIsAskedAboutByThoroughAlone) {
  oracle::FakeAssembler fake(takes_nothing);
  Options options = coarsen_auto();
  options.coarsen_large = false;
  run(golden("gaussblur"), "g.ptx", options, true, &fake);
  EXPECT_FALSE(fake.asked.empty());
  fake.asked.clear();
  options.effort = Effort::standard;
  run(golden("gaussblur"), "g.ptx", options, true, &fake);
  EXPECT_TRUE(fake.asked.empty());
}

// Machine code without instructions is short.
TEST(CoarsenSearch, TheLengthOfTheOriginalMayEndIt) {
  oracle::FakeAssembler fake([](const AssemblyRequest&) {
    return Assembled{"", uses("box9x9", 32)};
  });
  Options options = coarsen_auto();
  options.effort = Effort::standard;
  for (const bool large : {false, true}) {
    options.coarsen_large = large;
    fake.asked.clear();
    const auto result = run(golden("boxes"), "b.ptx", options, true, &fake);
    EXPECT_EQ(fake.asked.size() == 1, !large);
    const KernelReport& kernel = result.report.kernels.back();
    EXPECT_EQ(kernel.coarsening.text.find("too short") != std::string::npos, !large)
        << kernel.coarsening.text;
  }
}

TEST(CoarsenSearch, NoWayIsTriedOfAKernelThatTakesManyRegistersAlone) {
  unsigned registers = 32;
  oracle::FakeAssembler fake([&](const AssemblyRequest&) {
    return Assembled{"", uses("tricubic", registers)};
  });
  Options options = coarsen_auto();
  options.effort = Effort::standard;
  run(golden("tricubic"), "t.ptx", options, true, &fake);
  EXPECT_GT(fake.asked.size(), 1U);
  fake.asked.clear();
  registers = 40;
  run(golden("tricubic"), "t.ptx", options, true, &fake);
  EXPECT_EQ(fake.asked.size(), 1U);
  fake.asked.clear();
  options.fewer_blocks = true;
  run(golden("tricubic"), "t.ptx", options, true, &fake);
  EXPECT_GT(fake.asked.size(), 1U) << "an SM may hold fewer blocks";
}

TEST(CoarsenSearch, ATrialIsAnEditOfTheKeptKernel) {
  oracle::FakeAssembler fake(takes_nothing);
  const Optimized result = run(jacobi(), "jacobi.ptx", coarsen_auto(), true, &fake);
  EXPECT_EQ(result.report.parses, 1U);
  EXPECT_EQ(result.report.emulations, 1U);
}

TEST(CoarsenSearch, WhatIsNotAssembledIsNotChosen) {
  oracle::FakeAssembler fake(takes_nothing);
  const std::string text = jacobi();
  const Optimized result = run(text, "jacobi.ptx", coarsen_auto(), true, &fake);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.text, text);
  EXPECT_THAT(result.report.kernels.at(0).coarsening.text, HasSubstr("not assembled"));
}

TEST(CoarsenSearch, WithoutAnAssemblerTheSameWaysAreNamed) {
  const Optimized result = run(jacobi(), "jacobi.ptx", coarsen_auto(), true, nullptr);
  EXPECT_FALSE(result.changed);
  EXPECT_GE(result.report.kernels.at(0).weighed.ways.size(), 4U);
  EXPECT_EQ(result.report.kernels.at(0).coarsening.text, "not coarsened: ptxas was not asked");
}

std::string beside_a_diagonal(std::string text) {
  text.insert(text.find("\tld.param"), ".reg .b32 %one, %other;\n.reg .pred %below;\n"
                                       "mov.u32 %one, %ctaid.x;\nmov.u32 %other, %ctaid.z;\n"
                                       "setp.lt.u32 %below, %one, %other;\n@%below ret;\n");
  return text;
}

TEST(CoarsenSearch, WhereHalfOfTheBlocksLeaveALaunchIsTwiceAsLarge) {
  const auto least = [](const std::string& text) {
    return run(text, "jacobi.ptx", coarsen_auto(), true, nullptr)
        .report.kernels.at(0)
        .weighed.ways.at(0)
        .how.least_threads;
  };
  EXPECT_GT(least(jacobi()), 0U);
  EXPECT_EQ(least(beside_a_diagonal(jacobi())), 2 * least(jacobi()));
}

TEST(CoarsenSearch, WhereHalfOfTheBlocksLeaveOnlyLargeLaunchesAreMerged) {
  Options options = coarsen_auto();
  options.coarsen_large = false;
  const auto why = [&](const std::string& text) {
    oracle::FakeAssembler fake(takes_nothing);
    return run(text, "k.ptx", options, true, &fake).report.kernels.at(0).coarsening.text;
  };
  EXPECT_THAT(why(golden("derivative")), Not(HasSubstr("beside a diagonal")));
  EXPECT_THAT(why(beside_a_diagonal(golden("derivative"))), HasSubstr("beside a diagonal"));
}

// A game of life of which the live cells alone look further.
TEST(CoarsenSearch, CopiesThatPartOverDataAreLeftAlone) {
  std::string text = jacobi();
  const std::size_t store = text.find("st.global");
  ASSERT_NE(store, std::string::npos);
  const std::size_t value = text.find('%', text.find(',', store));
  const std::string name = text.substr(value, text.find(';', value) - value);
  const std::size_t line = text.rfind('\n', store) + 1;
  text.insert(line, "\tsetp.lt.f32 \t%p1, " + name + ", 0f00000000;\n\t@%p1 ret;\n");
  oracle::FakeAssembler fake(takes_nothing);
  const Optimized result = run(text, "life.ptx", coarsen_auto(), true, &fake);
  EXPECT_THAT(result.report.kernels.at(0).coarsening.text, HasSubstr("over what they have loaded"));
}

// A grid of one axis that blocks walk through: copies along x are sound and of no use, which says
// more than that there is no y.
TEST(CoarsenSearch, TheReasonThatSaysMostIsTold) {
  const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  mul.lo.u32 %r5, %r5, %r3;
L:
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd2, %rd1, %rd2;
  ld.global.u32 %r6, [%rd2];
  st.global.u32 [%rd2+4096], %r6;
  add.u32 %r2, %r2, %r5;
  bra L;
}
)";
  oracle::FakeAssembler fake(takes_nothing);
  const auto kernel = run(text, "k.ptx", coarsen_auto(), true, &fake).report.kernels.at(0);
  EXPECT_EQ(kernel.coarsening.reason, Reason::replicas_diverge) << kernel.coarsening.text;
  std::string whole = text; // the same, with one way out of the loop
  whole.replace(whole.find("@%p ret;"), 8, "@%p bra M;");
  whole.replace(whole.find("bra L;"), 6, "bra L;\nM:\nret;");
  const auto other = run(whole, "k.ptx", coarsen_auto(), true, &fake).report.kernels.at(0);
  EXPECT_EQ(other.coarsening.reason, Reason::gains_too_little) << other.coarsening.text;
}

TEST(CoarsenSearch, TheBudgetCountsInstructions) {
  oracle::FakeAssembler fake(takes_nothing);
  Options options = coarsen_auto();
  options.coarsen_budget = 0;
  const Optimized result = run(jacobi(), "jacobi.ptx", options, true, &fake);
  EXPECT_TRUE(fake.asked.empty());
  EXPECT_EQ(result.report.trials, 0U);
  EXPECT_THAT(result.report.kernels.at(0).coarsening.text, HasSubstr("--coarsen-budget=0"));
}

// The kernel of a text once more behind itself, by another name.
std::string with_a_second(const std::string& text, const std::string& kernel) {
  std::string second = text.substr(text.find(".visible"));
  for (std::size_t at = 0; (at = second.find(kernel, at)) != second.npos; at += kernel.size() + 2)
    second.insert(at + kernel.size(), "_2");
  return text + second;
}

std::size_t tried(const KernelReport& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(
      kernel.weighed.ways, [](const auto& way) { return way.usage.has_value(); }));
}

// A long module's last kernels have as much of it as its first.
TEST(CoarsenSearch, TheBudgetIsForAllKernels) {
  const std::string text = with_a_second(jacobi(), "jacobi");
  for (const Effort effort : {Effort::standard, Effort::thorough}) {
    oracle::FakeAssembler fake([](const AssemblyRequest&) {
      return Assembled{"", uses("jacobi", 32) + uses("jacobi_2", 32)};
    });
    Options options = coarsen_auto();
    options.effort = effort;
    const Report all = run(text, "jacobi.ptx", options, true, &fake).report;
    options.coarsen_budget = 1;
    const Report some = run(text, "jacobi.ptx", options, true, &fake).report;
    for (const std::size_t n : {0U, 1U}) {
      EXPECT_GT(tried(some.kernels.at(n)), 0U) << n;
      if (effort == Effort::standard) continue; // that tries no more
      EXPECT_LT(tried(some.kernels.at(n)), tried(all.kernels.at(n))) << n;
      EXPECT_EQ(some.kernels[n].weighed.ways.back().verdict.reason, Reason::search_budget) << n;
    }
  }
}

// What an assembler does on our thread, or other kernels ask for, is no time of the kernel.
TEST(CoarsenSearch, TheClockOfAKernelStandsWhileOthersWork) {
  if (test::sanitized) GTEST_SKIP() << "what is to take 40 ms takes longer";
  oracle::FakeAssembler fake([](const AssemblyRequest&) {
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 2) {
    }
    return Assembled{"", uses("box9x9", 32)};
  });
  Options options = coarsen_auto();
  options.effort = Effort::standard;
  options.kernel_budget = std::chrono::milliseconds(40); // 0.4 s by the clock
  const std::string text = golden("boxes");
  run(text, "b.ptx", options, true, &fake);
  ASSERT_GT(fake.asked.size(), 1U);
  for (std::size_t n = 1; n < fake.asked.size(); ++n)
    EXPECT_NE(fake.asked[n].text, text) << n;
}

TEST(CoarsenSearch, AnUnknownArchitectureIsLeftAlone) {
  oracle::FakeAssembler fake(takes_nothing);
  Options options = coarsen_auto();
  options.architecture = "sm_42";
  EXPECT_FALSE(run(jacobi(), "jacobi.ptx", options, true, &fake).changed);
  EXPECT_TRUE(fake.asked.empty());
}

} // namespace
} // namespace ptxasw::manager
