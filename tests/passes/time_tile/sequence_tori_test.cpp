// Tori in steps of several kernels: T passes at once leave what T passes leave, or are refused.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace ptxasw::tori {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using ::testing::HasSubstr;
using Program = test::SequenceProgram;

constexpr simt::Dim3 block{16, 4};

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/tori.ptx");
}

std::vector<std::uint8_t> data(std::size_t count, unsigned bytes, unsigned seed) {
  return test::random_elements(count, bytes, true, seed);
}

Program species(unsigned nx, unsigned ny) {
  const simt::Dim3 grid = blocks(nx, ny);
  Program made{{{"species_1",
                 grid,
                 block,
                 {buffer(0), buffer(1), buffer(2), buffer(3), number(nx), number(ny)}},
                {"species_2",
                 grid,
                 block,
                 {buffer(2), buffer(3), buffer(0), buffer(1), number(nx), number(ny)}}},
               {}};
  for (const unsigned seed : {1U, 2U, 3U, 4U})
    made.buffers.push_back(data(std::size_t{nx} * ny, 4, seed));
  return made;
}

Program split(unsigned nx, unsigned ny) {
  const simt::Dim3 grid = blocks(nx, ny);
  return {{{"split_1", grid, block, {buffer(1), buffer(0), number(nx), number(ny)}},
           {"split_2", grid, block, {buffer(0), buffer(1), number(nx), number(ny)}}},
          {data(std::size_t{nx} * ny, 8, 1), data(std::size_t{nx} * ny, 8, 2)}};
}

// Around along one axis; a launch for more places than there are.
Program channel(unsigned nx, unsigned ny) {
  const simt::Dim3 grid = blocks(nx + 40, ny + 9);
  return {{{"channel_1", grid, block, {buffer(1), buffer(0), number(nx), number(ny)}},
           {"channel_2", {(nx + 31) / 32}, {32}, {buffer(1), number(nx), number(ny)}},
           {"channel_3", grid, block, {buffer(0), buffer(1), number(nx), number(ny)}}},
          {data(std::size_t{nx} * ny, 4, 1), data(std::size_t{nx} * ny, 4, 2)}};
}

using Row = test::SequenceRow;

class ToriOfSequences : public ::testing::TestWithParam<Row> {};

TEST_P(ToriOfSequences, LeaveTheSame) {
  test::expect_the_same(GetParam(), kernels(), "tori",
                        {{5, 6}, {17, 33}, {33, 17}, {64, 64}, {100, 70}});
}

// A region has them many times.
TEST_P(ToriOfSequences, ThatAreSmallAreTheSame) {
  for (const auto& [nx, ny] :
       {std::pair{1U, 3U}, {2U, 3U}, {3U, 3U}, {3U, 4U}, {4U, 40U}, {40U, 4U}}) {
    SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
    const Program program = GetParam().program(nx, ny);
    test::expect_the_same_or_none(SequenceCase(kernels(), program.stages, program.buffers,
                                               {.count = 2, .width = 32, .rows = 16}));
  }
}

INSTANTIATE_TEST_SUITE_P(T, ToriOfSequences,
                         ::testing::Values(Row{"species", species}, Row{"split", split},
                                           Row{"channel", channel}),
                         [](const auto& row) { return std::string(row.param.name); });

SequenceCase case_of(const Program& program) {
  return SequenceCase(kernels(), program.stages, program.buffers,
                      {.count = 2, .width = 32, .rows = 8});
}

// With a second kernel on places of rows that are longer.
Program wide(const std::string& second, unsigned size) {
  const unsigned nx = 40, ny = 30, pitch = 48;
  const std::size_t count = std::size_t{pitch} * ny;
  const simt::Dim3 grid = blocks(pitch, ny);
  const StageArgument rows = number(ny), of_row = number(pitch);
  return {{{"wide_1", grid, block, {buffer(1), buffer(0), number(nx), rows, of_row}},
           {second, grid, block, {buffer(0), buffer(1), number(size), rows, of_row, number(nx)}}},
          {data(count, 4, 1), data(count, 4, 2)}};
}

// Beside the last place around a torus is the first one, and not what lies behind it.
TEST(ToriOfSequencesThatAreLeft, AreRefused) {
  EXPECT_EQ(case_of(wide("wide_2", 40)).difference({2, 2}), "");
  EXPECT_EQ(case_of(wide("wide_2", 39)).difference({2, 2}), "");
  EXPECT_THAT(case_of(wide("wide_2", 41)).run(4, {2, 2}).error, HasSubstr("outside a torus"));
  EXPECT_EQ(case_of(wide("wide_3", 39)).difference({2, 2}), "");
  EXPECT_THAT(case_of(wide("wide_3", 40)).run(4, {2, 2}).error, HasSubstr("outside a torus"));
}

TEST(ToriOfSequences, HaveOneSize) {
  EXPECT_EQ(case_of(wide("wide_4", 40)).difference({2, 2}), "");
  EXPECT_THAT(case_of(wide("wide_4", 39)).plan.refused.text, HasSubstr("modulo another size"));
}

} // namespace
} // namespace ptxasw::tori
