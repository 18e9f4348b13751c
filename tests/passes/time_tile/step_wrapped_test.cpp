// Tori whose places in front of the first one are found with a sign.
#include "passes/time_tile/any_host.hpp"

#include <string>

namespace ptxasw {
namespace {

using passes::StepShape;
using test::StepHost;
using test::Stepped;

std::string wrapped() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/wrapped.ptx");
}

class StepsAround : public ::testing::TestWithParam<const char*> {};

TEST_P(StepsAround, LeaveTheSame) {
  for (const StepShape& shape : {StepShape{3, 32, 4, 8, 4}, {5, 64, 4, 8, 2}}) {
    const Stepped stepped(wrapped(), GetParam(), shape);
    ASSERT_EQ(stepped.plan.refused.text, "");
    ASSERT_EQ(stepped.entry.refused.text, "");
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{2U, 2U}, {3U, 7U}, {33U, 5U}, {70U, 41U}}) {
      const StepHost host = test::host_for(stepped, nx, ny, {16, 4, 1}, nx);
      EXPECT_EQ(host.fit_error(), "") << nx;
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << ' ' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << nx;
    }
    EXPECT_EQ(merged, 4U);
    // The rest of -1 is 0 where there is one place: that is no neighbour.
    EXPECT_NE(test::host_for(stepped, 1, 7, {16, 4, 1}, 1).fit_error(), "");
    EXPECT_NE(test::host_for(stepped, 7, 1, {16, 4, 1}, 1).fit_error(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsAround,
                         ::testing::Values("torus_by_branch", "torus_by_choice", "torus_added",
                                           "torus_twice"),
                         [](const auto& row) { return std::string(row.param); });

TEST(StepsAround, BlocksThatAreRows) {
  const Stepped stepped(wrapped(), "rows_by_branch", {3, 32, 4, 8, 4});
  ASSERT_EQ(stepped.plan.refused.text, "");
  ASSERT_EQ(stepped.entry.refused.text, "");
  EXPECT_TRUE(stepped.plan.by_block);
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{2U, 3U}, {33U, 5U}, {70U, 41U}}) {
    StepHost host = test::host_for(stepped, nx, ny, {nx, 1, 1}, nx);
    host.grid = {ny};
    host.block = {nx};
    EXPECT_EQ(host.difference(6, &merged), "") << nx << ' ' << ny;
  }
  EXPECT_EQ(merged, 3U);
}

TEST(StepsAround, OnlyOfWhatIsBeside) {
  const auto refusal = [](const char* name) {
    return Stepped(wrapped(), name, {3, 32, 4, 8, 4}).plan.refused.text;
  };
  EXPECT_NE(refusal("torus_with_bit"), "");
  EXPECT_EQ(refusal("torus_rest"), "it reads beside a torus");
  EXPECT_EQ(refusal("torus_too_far"), "along one axis it takes places modulo several sizes");
  EXPECT_EQ(refusal("torus_farther"), "what is taken modulo a size is not next to it");
}

} // namespace
} // namespace ptxasw
