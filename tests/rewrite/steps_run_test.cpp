// T steps at once leave what T launches leave, bit for bit.
#include "rewrite/step_case.hpp"

#include <algorithm>
#include <string>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel(in, out, nx, ny): as the suite has them.
StepHost plane(const Stepped& stepped, unsigned nx, unsigned ny, unsigned bytes,
               unsigned seed = 1) {
  const std::size_t count = std::size_t{nx} * ny;
  return {.stepped = stepped,
          .grid = {(nx + 31) / 32, (ny + 3) / 4},
          .block = {32, 4},
          .arguments = {0, 1, nx, ny},
          .buffers = {test::random_elements(count, bytes, true, seed),
                      test::random_elements(count, bytes, true, seed + 1)},
          .pointers = {0, 1}};
}

struct Row {
  const char* kernel;
  unsigned bytes, reach;
};

class StepsOfTheSuite : public ::testing::TestWithParam<Row> {};

TEST_P(StepsOfTheSuite, LeaveTheSame) {
  const Row row = GetParam();
  const unsigned most = row.reach == 1 ? 7 : 3;
  for (const rewrite::StepShape& shape :
       {rewrite::StepShape{.count = 3}, {3, 32, 2, 16}, {most, 64, 1, 32}}) {
    const Stepped stepped(test::golden_ptx("iterated2d"), row.kernel, shape);
    ASSERT_EQ(stepped.entry.refused, "");
    if (shape.width == 32) test::expect_that_ptxas_takes(*stepped.both->text, "steps_suite");
    const unsigned count = shape.count;
    for (const auto& [nx, ny] : std::vector<std::pair<unsigned, unsigned>>{
             {2 * row.reach + 1, 2 * row.reach + 1}, {7, 33}, {70, 35}}) {
      const StepHost host = plane(stepped, nx, ny, row.bytes);
      for (const unsigned steps : {count + 1, 2 * count + 2})
        EXPECT_EQ(host.difference(steps), "")
            << row.kernel << ' ' << nx << 'x' << ny << ", " << steps << " steps, T = " << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsOfTheSuite,
                         ::testing::Values(Row{"j2d5pt_f32", 4, 1}, Row{"j2d5pt_f64", 8, 1},
                                           Row{"j2ds9pt_f32", 4, 2}, Row{"j2ds9pt_f64", 8, 2},
                                           Row{"j2d9pt_f32", 4, 1}, Row{"j2d9pt_f64", 8, 1},
                                           Row{"j2d25pt_f32", 4, 2}, Row{"j2d25pt_f64", 8, 2}),
                         [](const auto& row) { return std::string(row.param.kernel); });

TEST(Steps, LoadNothingThatNoStepLoads) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32", {.count = 3});
  ASSERT_EQ(stepped.entry.refused, "");
  const StepHost host = plane(stepped, 130, 67, 4);
  const auto plain = host.run(4, true), merged = host.run(4, false);
  EXPECT_EQ(merged.merged_launches, 1U);
  EXPECT_TRUE(std::ranges::includes(plain.loaded, merged.loaded));
}

TEST(Steps, AreNotForArraysThatOverlap) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32");
  StepHost host = plane(stepped, 64, 64, 4);
  EXPECT_EQ(host.fit_error(), "");
  host.arguments[1] = 0;
  EXPECT_EQ(host.fit_error(), "the arrays overlap");
}

TEST(Steps, AreNotForIndicesThatWrap) {
  const Stepped stepped(test::golden_ptx("iterated2d"), "j2d5pt_f32");
  StepHost host = plane(stepped, 64, 64, 4);
  host.arguments[2] = 1U << 17;
  host.arguments[3] = 1U << 17;
  EXPECT_NE(host.fit_error(), ""); // the grid does not reach so far; the index might
  host.grid = {1U << 12, 1U << 15};
  EXPECT_EQ(host.fit_error(), "an index wraps");
}

} // namespace
} // namespace ptxasw
