// Red and black places of one array: launches that read the others, merged.
#include "passes/time_tile/sequence_case.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace ptxasw::colours {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::SequenceRow;
using test::StageLaunch;
using ::testing::HasSubstr;
using Program = test::SequenceProgram;

constexpr simt::Dim3 threads{16, 4};

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/colours.ptx");
}
std::vector<std::uint8_t> whole_numbers(unsigned nx, unsigned ny, unsigned seed) {
  return test::random_elements(std::size_t{nx} * ny, 4, false, seed);
}

// One kernel, which is told the colour.
Program in_turn(const char* kernel, unsigned nx, unsigned ny) {
  const auto launch = [&](unsigned colour) {
    return StageLaunch{
        kernel, blocks(nx, ny), threads, {buffer(0), number(nx), number(ny), number(colour)}};
  };
  return {{launch(0), launch(1)}, {whole_numbers(nx, ny, 1)}};
}
Program relax(unsigned nx, unsigned ny) {
  return in_turn("relax", nx, ny);
}
Program clamped(unsigned nx, unsigned ny) {
  return in_turn("clamped", nx, ny);
}
Program columns(unsigned nx, unsigned ny) {
  return in_turn("columns", nx, ny);
}
Program parted(unsigned nx, unsigned ny) {
  return in_turn("parted", nx, ny);
}
Program told_apart(unsigned nx, unsigned ny) {
  return in_turn("told_apart", nx, ny);
}
Program kernels_of_two(unsigned nx, unsigned ny) {
  const auto launch = [&](const char* kernel) {
    return StageLaunch{
        kernel, blocks(nx, ny), threads, {buffer(0), buffer(1), number(nx), number(ny)}};
  };
  return {{launch("red"), launch("black")}, {whole_numbers(nx, ny, 1), whole_numbers(nx, ny, 2)}};
}

class Colours : public ::testing::TestWithParam<SequenceRow> {};

TEST_P(Colours, LeaveTheSame) {
  test::expect_the_same(GetParam(), kernels(), "colours", {{3, 3}, {5, 6}, {33, 17}, {70, 64}});
}

INSTANTIATE_TEST_SUITE_P(
    T, Colours,
    ::testing::Values(SequenceRow{"relax", relax}, SequenceRow{"clamped", clamped},
                      SequenceRow{"columns", columns}, SequenceRow{"parted", parted},
                      SequenceRow{"told_apart", told_apart}, SequenceRow{"two", kernels_of_two}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ColoursRefused, SayWhy) {
  const auto refusal = [](Program made) {
    return SequenceCase(kernels(), std::move(made.stages), std::move(made.buffers),
                        {.count = 2, .rows = 8})
        .plan.refused.text;
  };
  for (const char* kernel : {"diagonal", "third", "other", "scaled", "overlapping", "of_two",
                             "of_columns", "parted_thirds"})
    EXPECT_THAT(refusal(in_turn(kernel, 20, 20)), HasSubstr("reads what the step writes"))
        << kernel;
  Program told = kernels_of_two(20, 20);
  for (StageLaunch& stage : told.stages)
    stage.kernel = "told";
  EXPECT_THAT(refusal(std::move(told)), HasSubstr("told: "));
  Program torus = in_turn("torus", 20, 20);
  for (StageLaunch& stage : torus.stages)
    stage.arguments.erase(stage.arguments.begin() + 1);
  EXPECT_THAT(refusal(std::move(torus)), HasSubstr("around a torus"));
}

} // namespace
} // namespace ptxasw::colours
