// What a launch has to reach before it says something of two versions of a kernel.
#include "simt/goals.hpp"

#include "ptx/parse.hpp"
#include "simt/code.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

using namespace ptxasw;
using simt::Goal;

namespace {

simt::ProgramPtr program(const std::string& body) {
  auto module = std::make_shared<const ptx::Module>(ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\n" +
      body + "ret;\n}\n"));
  return simt::compile(std::move(module), "k").value();
}

// "first 2", "second 3 full": the version, the instruction, whether a full warp has to run it.
std::vector<std::string> goals(const std::string& first, const std::string& second) {
  std::vector<std::string> result;
  const simt::ProgramPtr before = program(first), after = program(second);
  for (const Goal& goal : simt::find_goals(*before, *after))
    result.push_back((goal.second ? "second " : "first ") + std::to_string(goal.inst) +
                     (goal.full_warp ? " full" : ""));
  return result;
}

using Goals = std::vector<std::string>;
const std::string load = "ld.global.u32 %r1, [%rd1];\n", other = "ld.global.u32 %r2, [%rd1+4];\n",
                  store = "st.global.u32 [%rd1+8], %r1;\n",
                  shuffle = "shfl.sync.down.b32 %r2, %r1, 1, 31, -1;\n";

} // namespace

TEST(Goals, AllAccessesWhereNoneHasChanged) {
  EXPECT_EQ(goals(load + store, load + store), (Goals{"first 1", "first 2"}));
}

// A load that became a shuffle is one of full warps; the shuffle, too.
TEST(Goals, WhatChangedInEachVersion) {
  EXPECT_EQ(goals(load + other + store, load + shuffle + store),
            (Goals{"first 2 full", "first 3", "second 2 full"}));
  EXPECT_EQ(goals(load + store, load + other + store), (Goals{"first 2", "second 2"}));
}

// One of two equal loads went: which of them, nobody knows.
TEST(Goals, EqualTextsAreCounted) {
  EXPECT_EQ(goals(load + load + store, load + store),
            (Goals{"first 1 full", "first 2 full", "first 3", "second 1"}));
}

TEST(Goals, CoverageIsOfTheFullestWarp) {
  simt::Coverage coverage{.first = {0, 32}, .second = {1}};
  coverage.add({.first = {3, 1, 7}, .second = {}});
  EXPECT_EQ(coverage.lanes({false, 0, false}), 3U);
  EXPECT_EQ(coverage.lanes({false, 1, false}), 32U);
  EXPECT_EQ(coverage.lanes({false, 2, false}), 7U);
  EXPECT_EQ(coverage.lanes({true, 0, false}), 1U);
  EXPECT_EQ(coverage.lanes({true, 5, false}), 0U);
}
