// Steps that find neighbours, and where these are missing, by places in the whole array.
#include "passes/time_tile/any_host.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string whole_forms() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/whole.ptx");
}

struct WholeForm {
  const char* kernel;
  const char* reads;
  bool is_torus = false; // along y
};

constexpr passes::StepShape whole_shape{
    .count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4};

class StepsOfTheWhole : public ::testing::TestWithParam<WholeForm> {};

TEST_P(StepsOfTheWhole, LeaveTheSame) {
  const WholeForm row = GetParam();
  unsigned merged = 0;
  for (const passes::StepShape& shape : {whole_shape, {5, 64, 4, 8, 2}}) {
    const Stepped stepped(whole_forms(), row.kernel, shape);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    EXPECT_EQ(stepped.plan.periods[1].has_value(), row.is_torus);
    if (shape.columns == 4)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("whole_{}", row.kernel));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      if (!host.fit_error().empty()) {
        EXPECT_LT(nx, 5U) << host.fit_error();
        continue;
      }
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << nx << 'x' << ny;
    }
  }
  EXPECT_GE(merged, 8U);
}

INSTANTIATE_TEST_SUITE_P(
    T, StepsOfTheWhole,
    ::testing::Values(
        WholeForm{"rows_around",
                  "0(-1,-1,0) 0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0) 0(1,1,0)", true},
        WholeForm{"places_around", "0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(0,2,0)", true},
        WholeForm{"places_inside", "0(0,-1,0) 0(0,0,0) 0(0,1,0)"},
        WholeForm{"guarded_by_place", "0(-1,0,0) 0(0,-1,0) 0(0,0,0)"},
        WholeForm{"other_rows", "0(0,-1,0) 0(0,0,0)"},
        WholeForm{"few_blocks", "0(-1,0,0) 0(0,-1,0) 0(0,0,0)"}),
    [](const auto& row) { return std::string(row.param.kernel); });

// Of rows that are shorter than those of the array, y * width + x is in the next one somewhere.
TEST(StepsOfTheWholeRefused, WhereAPlaceIsBesideItsRow) {
  const Stepped stepped(whole_forms(), "other_rows", whole_shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 4, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  for (const std::uint64_t width :
       {std::uint64_t{69}, std::uint64_t{0}, std::uint64_t{0xffffffff}}) {
    host.arguments[2] = width;
    EXPECT_EQ(host.fit_error(), "a place is beside its row") << width;
  }
  host.arguments[2] = 71;
  EXPECT_EQ(host.fit_error(), "");
  EXPECT_EQ(host.difference(whole_shape.count + 3), "");
}

TEST(StepsOfTheWholeRefused, WhereRowsAreNotWhole) {
  for (const char* kernel : {"one_line", "one_place"}) {
    const Stepped stepped(whole_forms(), kernel, whole_shape);
    EXPECT_NE(stepped.plan.refused.text, "") << kernel;
  }
}

// Of 2^23 blocks the number of the last one has 23 bits, of more it may be negative.
TEST(StepsOfTheWholeRefused, WhereBlocksAreTooMany) {
  const Stepped stepped(whole_forms(), "few_blocks", whole_shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 1, 1}, 1);
  host.block.x = 32;
  host.grid.x = 1U << 23;
  EXPECT_EQ(host.fit_error(), "");
  ++host.grid.x;
  EXPECT_EQ(host.fit_error(), "it has too many blocks");
}

} // namespace
} // namespace ptxasw
