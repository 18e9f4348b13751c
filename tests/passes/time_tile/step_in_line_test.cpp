// Threads of several axes that are numbered one behind the other.
#include "passes/time_tile/any_host.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string in_line() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/in_line.ptx");
}

constexpr passes::StepShape along_a_line{.count = 3, .width = 64};

struct InLine {
  const char* kernel;
  std::vector<std::pair<simt::Dim3, simt::Dim3>> launches; // grids and blocks
};

const std::vector<std::pair<simt::Dim3, simt::Dim3>> planes{
    {{3, 2}, {8, 4}}, {{2, 5}, {5, 3}}, {{1, 1}, {32, 8}}, {{4, 1}, {16, 1}}, {{1, 4}, {1, 16}}};

class StepsInLine : public ::testing::TestWithParam<InLine> {};

TEST_P(StepsInLine, LeaveTheSame) {
  const auto& [kernel, launches] = GetParam();
  const Stepped stepped(in_line(), kernel, along_a_line);
  ASSERT_EQ(stepped.plan.refused.text, "");
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0, all = 0;
  for (const auto& [grid, block] : launches)
    for (const int beyond : {-7, 0, 9}) { // places that have no thread, threads that have no place
      const unsigned threads = grid.x * grid.y * block.x * block.y;
      StepHost host =
          test::host_for(stepped, static_cast<unsigned>(static_cast<int>(threads) + beyond), 1,
                         {threads, 1, 1}, 1);
      host.grid = grid;
      host.block = block;
      EXPECT_EQ(host.difference(7, &merged), "") << threads << ' ' << beyond;
      EXPECT_TRUE(host.loads_what_single_ones_touch(7)) << threads << ' ' << beyond;
      all += 2;
    }
  EXPECT_EQ(merged, all);
}

INSTANTIATE_TEST_SUITE_P(
    T, StepsInLine,
    ::testing::Values(InLine{"line", planes}, InLine{"line_of_columns", planes},
                      InLine{"line_of_both", planes},
                      InLine{"line_of_threads", {{{3, 1}, {8, 4}}, {{7, 1}, {5, 3}}}},
                      InLine{"line_of_blocks", {{{3, 2}, {32, 1}}, {{2, 5}, {31, 1}}}}),
    [](const auto& row) { return std::string(row.param.kernel); });

// Rows that are as long as the program says, whatever blocks there are.
TEST(StepsInLine, HavePlacesOfRows) {
  for (const passes::StepShape& shape : {passes::StepShape{3, 32, 4, 8, 4}, {5, 64, 4, 8, 2}}) {
    const Stepped stepped(in_line(), "framed", shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    ASSERT_TRUE(stepped.plan.rows);
    unsigned merged = 0;
    for (const auto& [side, grid, block] : {std::tuple{5U, simt::Dim3{2, 2}, simt::Dim3{4, 2}},
                                            {33U, {5, 7}, {8, 4}},
                                            {41U, {3, 9}, {16, 4}},
                                            {12U, {1, 9}, {1, 16}}}) {
      StepHost host = test::host_for(stepped, side, side, {16, 4, 1}, side, 4 * side + 8);
      host.grid = grid;
      host.block = block;
      EXPECT_EQ(host.fit_error(), "") << side;
      EXPECT_EQ(host.difference(shape.count + 2, &merged), "") << side;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 2)) << side;
      --host.grid.y; // a row has no threads
      EXPECT_NE(host.fit_error(), "") << side;
      host.grid = {65535, 65535}; // numbers come round
      EXPECT_EQ(host.fit_error(), "the grid is too large") << side;
    }
    EXPECT_EQ(merged, 4U);
  }
}

// Axes of which a number says nothing have one thread, or one block.
TEST(StepsInLine, HaveNoOtherThreads) {
  const auto error = [](const char* kernel, simt::Dim3 grid, simt::Dim3 block) {
    const Stepped stepped(in_line(), kernel, along_a_line);
    StepHost host = test::host_for(stepped, 100, 1, {100, 1, 1}, 1);
    host.grid = grid;
    host.block = block;
    return host.fit_error();
  };
  EXPECT_EQ(error("line", {2, 2}, {8, 4}), "");
  EXPECT_EQ(error("line", {2, 2, 2}, {8, 4}), "its threads are no line");
  EXPECT_EQ(error("line", {2, 2}, {8, 4, 2}), "its threads are no line");
  EXPECT_EQ(error("line", {65535, 65535}, {16, 16}), "the grid is too large");
  EXPECT_EQ(error("line_of_threads", {4}, {8, 4}), "");
  EXPECT_EQ(error("line_of_threads", {4, 2}, {8, 4}), "its threads are no line");
  EXPECT_EQ(error("line_of_blocks", {2, 2}, {32}), "");
  EXPECT_EQ(error("line_of_blocks", {2, 2}, {32, 2}), "its threads are no line");
}

TEST(StepsInLine, AreNoOtherNumbers) {
  for (const char* kernel : {"line_twice", "line_from_1", "line_by_row"})
    EXPECT_NE(Stepped(in_line(), kernel, along_a_line).plan.refused.text, "") << kernel;
}

// Of a copy it is the launch's own threads that are asked for.
TEST(StepsInLine, AreNoCopies) {
  EXPECT_FALSE(Stepped(in_line(), "copied", along_a_line).plan.copy);
}

} // namespace
} // namespace ptxasw
