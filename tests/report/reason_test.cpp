// The codes of reasons: documented, well formed, and given for every reason in use.
#include "report/reason.hpp"

#include "report/escape.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace ptxasw::report {
namespace {

TEST(Reason, EveryCodeIsDocumented) {
  std::ifstream file(PTXASW_SOURCE_DIR "/src/report/SCHEMA.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string expected;
  for (const ReasonCode& reason : reason_codes())
    expected += fmt::format("| `{}` | {} |\n", reason.code, reason.meaning);
  EXPECT_NE(text.find("| code | meaning |\n|---|---|\n" + expected), std::string::npos)
      << "## Reason codes should have these rows:\n"
      << expected;
}

TEST(Reason, CodesAreWellFormedAndStandForOneReasonEach) {
  const std::regex kebab("[a-z]+(-[a-z]+)*");
  std::set<std::string_view> codes;
  for (const ReasonCode& reason : reason_codes()) {
    EXPECT_TRUE(std::regex_match(std::string(reason.code), kebab)) << reason.code;
    EXPECT_TRUE(codes.insert(reason.code).second) << reason.code;
    EXPECT_EQ(code(reason.reason), reason.code);
  }
  EXPECT_EQ(code(Reason::none), "");
  EXPECT_EQ(code(Reason::other), "other");
}

TEST(Reason, NoUnchangedKernelIsWithoutOne) {
  KernelReport kernel;
  ASSERT_EQ(why_unchanged(kernel).size(), 1U);
  EXPECT_EQ(why_unchanged(kernel)[0].reason, Reason::no_loads);
  kernel.loads = 2;
  EXPECT_EQ(why_unchanged(kernel)[0].reason, Reason::nothing_found);
  const Why supplies{Reason::supplies_others, "supplies others instead"};
  kernel.accesses = {
      {.kept = {Reason::memory_kind, "param memory"}}, {.kept = supplies}, {.kept = supplies}};
  kernel.coarsening = {Status::refused, Reason::barrier,
                       "not coarsened: bar at line 12: waits for other threads"};
  kernel.remapping = {Status::done, Reason::none, "remapped: swap"};
  const auto why = why_unchanged(kernel);
  ASSERT_EQ(why.size(), 2U);
  EXPECT_EQ(why[0].rewrite, "coarsening");
  EXPECT_EQ(why[0].reason, Reason::barrier);
  EXPECT_EQ(why[1].rewrite, "shuffles");
  EXPECT_EQ(why[1].reason, Reason::supplies_others);
  kernel.changed = true;
  EXPECT_TRUE(why_unchanged(kernel).empty());
}

TEST(Reason, VerdictsNameRewritesAsTheirOptionsDo) {
  KernelReport kernel;
  kernel.changed = true;
  kernel.rounds.status = kernel.rotation.status = kernel.remapping.status = Status::done;
  EXPECT_EQ(verdict(kernel), "rewritten by remapping, loop-carry, warp-reduce");
}

TEST(Reason, TheBestWayIsTheChosenOne) {
  KernelReport kernel;
  EXPECT_EQ(best_way(kernel), nullptr);
  kernel.weighed.ways.resize(3);
  kernel.weighed.ways[1].gain = 1.5;
  EXPECT_EQ(best_way(kernel), &kernel.weighed.ways[1]);
  kernel.weighed.ways[2].chosen = true;
  EXPECT_EQ(best_way(kernel), &kernel.weighed.ways[2]);
}

TEST(Escaped, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  const std::string_view wrong = "\xef\xbf\xbd";
  for (const std::string_view bytes : {"\x80", "\xff", "\xc0", "\xc3", "\xe2"})
    EXPECT_EQ(escaped(bytes), wrong);
  EXPECT_EQ(escaped("\xc3("), std::string(wrong) + "(");
  EXPECT_EQ(escaped("\xed\xa0\x80").substr(0, 3), wrong); // a surrogate
  EXPECT_EQ(escaped("\xf4\x90\x80\x80").substr(0, 3), wrong);
  EXPECT_EQ(escaped("\xe0\x80\x80").substr(0, 3), wrong); // too long for what it says
}

} // namespace
} // namespace ptxasw::report
