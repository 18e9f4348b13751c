// The codes of reasons: documented, well formed, and given for every reason in use.
#include "report/reason.hpp"

#include "report/drawing.hpp"
#include "source_dir.hpp"

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
  const std::string documented = text.substr(text.find("## Reason codes"));
  const std::regex kebab("[a-z]+(-[a-z]+)*");
  std::set<std::string_view> codes;
  for (const Reason& reason : reasons()) {
    EXPECT_TRUE(std::regex_match(std::string(reason.code), kebab)) << reason.code;
    EXPECT_NE(documented.find("| `" + std::string(reason.code) + "` | "), std::string::npos)
        << reason.code;
    // The first phrase of a code brings its meaning.
    EXPECT_EQ(reason.meaning.empty(), !codes.insert(reason.code).second) << reason.phrase;
  }
}

TEST(Reason, EveryPhraseIsFoundBeforeOthers) {
  for (const Reason& reason : reasons())
    EXPECT_EQ(reason_code(reason.phrase), reason.code) << reason.phrase;
  EXPECT_EQ(reason_code(""), "");
  EXPECT_EQ(reason_code("the moon is full"), "other");
}

TEST(Reason, OfWordings) {
  EXPECT_EQ(reason_code("bar at line 12: waits for other threads"), "barrier");
  EXPECT_EQ(reason_code("st.global at line 3: the block's shared memory"), "shared-memory");
  EXPECT_EQ(reason_code("fence at line 9 orders memory between the loads"), "ordered-between");
  EXPECT_EQ(reason_code("time budget of the analysis spent"), "budget-time");
  EXPECT_EQ(reason_code("param memory"), "memory-kind");
}

TEST(Reason, NoUnchangedKernelIsWithoutOne) {
  KernelReport kernel;
  ASSERT_EQ(why_unchanged(kernel).size(), 1U);
  EXPECT_EQ(why_unchanged(kernel)[0].code, "no-loads");
  kernel.loads = 2;
  EXPECT_EQ(why_unchanged(kernel)[0].code, "nothing-found");
  kernel.accesses = {{.reason = "param memory"},
                     {.reason = "supplies others instead"},
                     {.reason = "supplies others instead"}};
  kernel.coarsening = "not coarsened: bar at line 12: waits for other threads";
  kernel.remapping = "remapped: swap"; // says what was done
  const auto why = why_unchanged(kernel);
  ASSERT_EQ(why.size(), 2U);
  EXPECT_EQ(why[0].rewrite, "coarsening");
  EXPECT_EQ(why[0].code, "barrier");
  EXPECT_EQ(why[1].rewrite, "shuffles");
  EXPECT_EQ(why[1].code, "supplies-others");
  kernel.changed = true;
  EXPECT_TRUE(why_unchanged(kernel).empty());
}

TEST(Reason, TheBestWayIsTheChosenOne) {
  KernelReport kernel;
  EXPECT_EQ(best_way(kernel), nullptr);
  kernel.candidates.resize(3);
  kernel.candidates[1].gain = 1.5;
  EXPECT_EQ(best_way(kernel), &kernel.candidates[1]);
  kernel.candidates[2].chosen = true;
  EXPECT_EQ(best_way(kernel), &kernel.candidates[2]);
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
