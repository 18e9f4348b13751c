// A log in numbers.
#include "report/log_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using testing::HasSubstr;

namespace ptxasw::report {
namespace {

const std::string a_rewritten_file =
    R"({"ptxasw":"1","action":"rewritten","total_ms":300,"optimize_ms":120,)"
    R"("processor_ms":{"own":40,"ptxas":200},"inputs":[{"path":"a.ptx","changed":true,"kernels":[)"
    R"({"name":"box","changed":true,"predicted_gain":1.6,"decisions":{"coarsening":{"status":"done"},)"
    R"("rounds":{"status":"done"},"shuffles":{"status":"refused"}}},)"
    R"({"name":"star","changed":true,"predicted_gain":2.5,"decisions":{"coarsening":{"status":"done"}}},)"
    R"({"name":"other","changed":false,"why_unchanged":[{"rewrite":"coarsening","code":"may-lose"},)"
    R"({"rewrite":"shuffles","code":"barrier"}]}]}]})"
    "\n";
const std::string one_that_fell_back =
    R"({"ptxasw":"1","action":"fell back","reason":"it failed","inputs":[{"path":"k.ptx",)"
    R"("changed":true,"kernels":[{"name":"k","changed":true}]}]})"
    "\n";

TEST(LogStats, CountsWhatStays) {
  const auto stats =
      stats_of_log(a_rewritten_file + one_that_fell_back + a_rewritten_file + "{broken\n");
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->calls, 3U);
  EXPECT_EQ(stats->files, 3U);
  EXPECT_EQ(stats->files_rewritten, 2U) << "not the one that fell back";
  EXPECT_EQ(stats->kernels, 7U);
  EXPECT_EQ(stats->kernels_rewritten, 4U);
  EXPECT_EQ(stats->passes.at("coarsening"), 4U);
  EXPECT_EQ(stats->passes.at("warp-reduce"), 2U);
  EXPECT_EQ(stats->passes.size(), 2U);
  EXPECT_EQ(stats->reasons.at("may-lose"), 2U) << "the first reason alone";
  EXPECT_EQ(stats->reasons.size(), 1U);
  EXPECT_EQ(stats->left.at("it failed"), 1U);
  EXPECT_DOUBLE_EQ(stats->predicted, 2);
  EXPECT_EQ(stats->total_ms, 600);
  EXPECT_EQ(stats->optimize_ms, 240);
  EXPECT_EQ(stats->own_cpu_ms, 80);
  EXPECT_EQ(stats->broken, 1U);
}

TEST(LogStats, ForPeople) {
  const std::string text = stats_as_text(*stats_of_log(a_rewritten_file + one_that_fell_back));
  EXPECT_THAT(text, HasSubstr("         1  rewritten\n"));
  EXPECT_THAT(text, HasSubstr("kernels            2 of 4 rewritten (50.0 %)\n"));
  EXPECT_THAT(text, HasSubstr("         1  may-lose: some launch is likely to be slower\n"));
  EXPECT_THAT(text, HasSubstr("2.00 predicted"));
  EXPECT_THAT(stats_as_json(*stats_of_log(a_rewritten_file)),
              HasSubstr("\"kernels_rewritten\": 2"));
}

TEST(LogStats, WhatIsNoLogHasNone) {
  EXPECT_FALSE(stats_of_log("{}\n"));
  EXPECT_FALSE(stats_of_log(""));
  EXPECT_TRUE(stats_of_log(R"({"ptxasw":1,"action":[],"inputs":{},"processor_ms":7})"));
}

} // namespace
} // namespace ptxasw::report
