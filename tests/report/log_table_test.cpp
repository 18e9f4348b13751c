// A log of calls as a table.
#include "report/log_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace ptxasw::report {
namespace {

const std::string rewritten =
    R"({"ptxasw":"1","action":"rewritten","inputs":[{"path":"/tmp/tmpxft_0017_0000-6_main.ptx",)"
    R"("changed":true,"kernels":[{"name":"_Z3boxPfi","changed":true,"predicted_gain":1.5,)"
    R"("decisions":{"coarsening":{"status":"done"},"rounds":{"status":"refused"}}},)"
    R"({"name":"other","changed":false,"predicted_gain":1.01,"entries":["other__ptxasw_y2"],)"
    R"("why_unchanged":[{"rewrite":"coarsening","code":"may-lose","text":"too short"}]}]}]})"
    "\n";
const std::string fell_back =
    R"({"ptxasw":"1","action":"fell back","reason":"it failed","inputs":[{"path":"k.ptx",)"
    R"("kernels":[{"name":"k","changed":true}]}]})"
    "\n";
const std::string passed =
    R"({"ptxasw":"1","action":"passed through","reason":"off","arguments":["-v","a/b.ptx"]})"
    "\n";

TEST(LogTable, ARowForEachKernel) {
  EXPECT_EQ(table_of_log(rewritten + fell_back + passed),
            R"(file      kernel  what was done   predicted gain  why not
--------  ------  --------------  --------------  ---------
main.ptx  box     coarsening                1.50
main.ptx  other   1 entry added                   too short
k.ptx     k       left as it is                   it failed
b.ptx             passed through                  off

3 kernels, 1 rewritten
what would help one that was left alone: ptxasw report FILE.ptx (nvcc -ptx writes it)
)");
}

TEST(LogTable, OfTheSameTextTheLastCallCounts) {
  const auto call = [](const char* hash, const char* reason) {
    return std::string(
               R"({"ptxasw":"1","action":"rewritten","inputs":[{"path":"/tmp/tmpxft_1-6_a.ptx",)"
               R"("hash":")") +
           hash + R"(","kernels":[{"name":"k","changed":false,"why_unchanged":[{"text":")" +
           reason + "\"}]}]}]}\n";
  };
  const std::string table =
      table_of_log(call("1", "first") + call("2", "edited") + call("1", "second")).value();
  EXPECT_THAT(table, AllOf(HasSubstr("edited"), HasSubstr("second"), Not(HasSubstr("first")),
                           HasSubstr("2 kernels, 0 rewritten")));
}

TEST(LogTable, WhatIsNoLogIsNone) {
  for (const char* text : {"", "\n\n", ".version 8.0\n", "{}", "[1]", "{\"kernels\":[]}\n",
                           "{\"ptxasw\":\"1\"}", "{\"schema\":\"ptxasw-report/1\"}"})
    EXPECT_FALSE(table_of_log(text)) << text;
}

TEST(LogTable, BrokenLinesAreCountedAndStrangeOnesDoNoHarm) {
  const auto table = table_of_log(
      rewritten + "{\"ptxasw\":\"1\",\"act\n" +
      R"({"ptxasw":1,"action":3,"inputs":[3,{"path":7,"kernels":[4,{"name":"x\u001b[2J",)"
      R"("changed":"yes","decisions":[1],"why_unchanged":[5],"predicted_gain":"2"}]}]})");
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, HasSubstr("3 kernels, 1 rewritten; 1 line could not be read"));
  EXPECT_THAT(*table, HasSubstr("x?[2J"));
  EXPECT_THAT(*table, Not(HasSubstr("\x1b")));
}

} // namespace
} // namespace ptxasw::report
