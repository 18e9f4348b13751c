// When columns of a linear index are proposed.
#include "passes/remap/columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

using namespace ptxasw::passes;
namespace target = ptxasw::target;
using testing::HasSubstr;

namespace {

// Per thread and trip: a word of a row, a word of a column.
const std::vector<LinearLoad> product_loads{{.follows_y = true}, {.follows_x = true}};

// The simulator counts 0.51 for blocks of 128 in step (CACHE.md).
TEST(Proposal, ColumnsForProducts) {
  const ColumnProposal columns =
      propose_columns(*target::find_profile("sm_90"), product_loads, 128);
  EXPECT_EQ(columns.width, 64U);
  EXPECT_NEAR(columns.fetch_ratio, 0.51, 0.005);
  EXPECT_NEAR(columns.speed, 1.5, 0.1);
  EXPECT_EQ(propose_columns(*target::find_profile("sm_90"), product_loads).width, 64U);
}

TEST(Proposal, NothingForStencils) {
  std::vector<LinearLoad> box(81, {.follows_x = true, .follows_y = true, .shares_line = true});
  for (std::size_t row = 0; row < 9; ++row)
    box[row * 9].shares_line = false;
  const ColumnProposal columns = propose_columns(*target::find_profile("sm_90"), box);
  EXPECT_EQ(columns.width, 0U);
  EXPECT_THAT(columns.reason, HasSubstr("L1 itself is the limit"));
}

TEST(Proposal, NothingWhereThereIsNothingToShare) {
  const target::Profile& hopper = *target::find_profile("sm_90");
  EXPECT_EQ(propose_columns(hopper, {}).width, 0U);
  EXPECT_EQ(propose_columns(hopper, product_loads, 32).width, 0U);
  const std::vector<LinearLoad> copy{{.follows_x = true, .follows_y = true}};
  EXPECT_EQ(propose_columns(hopper, copy).width, 0U);
}

} // namespace
