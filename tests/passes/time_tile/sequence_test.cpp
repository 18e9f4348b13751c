// T passes through several kernels at once leave what T passes leave, bit for bit.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::sequences {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using test::StageLaunch;
using Program = test::SequenceProgram;

std::string text() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/sequences.ptx");
}

StageArgument real(float value) {
  return number(std::bit_cast<std::uint32_t>(value));
}

Program wave(unsigned nx, unsigned ny) {
  const auto data = [&](unsigned seed) {
    return test::random_elements(std::size_t{nx} * ny, 4, true, seed);
  };
  return {{{"wave_1",
            blocks(nx, ny),
            {16, 4},
            {buffer(0), buffer(1), number(nx), number(ny), real(0.1F)}},
           {"wave_2",
            blocks(nx, ny),
            {16, 4},
            {buffer(1), buffer(0), number(nx), number(ny), real(0.2F)}}},
          {data(1), data(2)}};
}

Program fdtd(unsigned nx, unsigned ny) {
  const auto data = [&](unsigned seed) {
    return test::random_elements(std::size_t{nx} * ny, 8, true, seed);
  };
  const simt::Dim3 grid = blocks(ny, nx), block{16, 4};
  return {{{"fdtd_1", grid, block, {buffer(1), buffer(2), number(nx), number(ny)}},
           {"fdtd_2", grid, block, {buffer(0), buffer(2), number(nx), number(ny)}},
           {"fdtd_3", grid, block, {buffer(2), buffer(0), buffer(1), number(nx), number(ny)}}},
          {data(1), data(2), data(3)}};
}

Program line(unsigned nx, unsigned) {
  const auto data = [&](unsigned seed) { return test::random_elements(nx, 8, true, seed); };
  const simt::Dim3 grid{nx / 32 + 1}, block{32};
  return {{{"line_1", grid, block, {buffer(0), buffer(1), buffer(2), number(nx, 8)}},
           {"line_2", grid, block, {buffer(1), buffer(0), number(nx, 8)}}},
          {data(1), data(2), data(3)}};
}

Program smooth(unsigned n, unsigned) {
  const auto data = [&](unsigned seed) {
    return test::random_elements(std::size_t{n} * n, 4, true, seed);
  };
  return {{{"smooth_1", blocks(n, n), {16, 4}, {buffer(0), buffer(1), number(n)}},
           {"smooth_2", blocks(n, n), {16, 4}, {buffer(1), buffer(0), number(n)}}},
          {data(1), data(2)}};
}

Program smooth_thrice(unsigned n, unsigned) {
  Program program = smooth(n, n);
  program.stages.push_back({"smooth_3", blocks(n, n), {16, 4}, {buffer(2), buffer(1), number(n)}});
  program.buffers.push_back(test::random_elements(std::size_t{n} * n, 4, true, 3));
  return program;
}

Program cells(unsigned w, unsigned h) {
  const std::size_t count = std::size_t{w} * h;
  std::vector<std::uint8_t> alive(count), age(4 * count), around(4 * count);
  for (std::size_t n = 0; n < count; ++n) {
    alive[n] = n * 7 % 3 == 0;
    age[4 * n] = n % 5 == 0;
    around[4 * n] = static_cast<std::uint8_t>(n * 11 % 5);
  }
  return {
      {{"cells_1", blocks(w, h), {16, 4}, {buffer(0), buffer(1), buffer(2), number(w), number(h)}},
       {"cells_2", blocks(w, h), {16, 4}, {buffer(2), buffer(0), number(w), number(h)}}},
      {alive, age, around}};
}

using Row = test::SequenceRow;

class Sequences : public ::testing::TestWithParam<Row> {};

TEST_P(Sequences, LeaveTheSame) {
  test::expect_the_same(GetParam(), text(), "sequence",
                        {{5, 6}, {33, 7}, {70, 45}, {64, 64}, {150, 100}});
}

INSTANTIATE_TEST_SUITE_P(T, Sequences,
                         ::testing::Values(Row{"wave", wave}, Row{"fdtd", fdtd}, Row{"line", line},
                                           Row{"smooth", smooth},
                                           Row{"smooth_thrice", smooth_thrice},
                                           Row{"cells", cells}),
                         [](const auto& row) { return std::string(row.param.name); });

std::string refusal(const std::vector<StageLaunch>& stages) {
  const std::vector<std::uint8_t> data(4 * 100);
  return SequenceCase(text(), stages, {data, data}, {.count = 2, .rows = 8}).plan.refused.text;
}

TEST(SequencesOfKernels, ThatAreNoStepAreRefused) {
  const simt::Dim3 grid{4}, block{32};
  const auto stage = [&](const char* kernel, int a, int b) {
    return StageLaunch{kernel, grid, block, {buffer(a), buffer(b), number(100)}};
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal({stage("bad_1", 0, 1), stage("bad_2", 1, 0)}),
              HasSubstr("reads what the step writes"));
  EXPECT_EQ(refusal({stage("bad_5", 0, 1), stage("bad_2", 1, 0)}), "");
  EXPECT_THAT(refusal({stage("bad_3", 0, 1), stage("bad_2", 1, 0)}), HasSubstr("bad_3: "));
  EXPECT_THAT(refusal({stage("bad_5", 0, 1), stage("bad_4", 1, 0)}),
              HasSubstr("no stage reads what is beside a place"));
}

// One array under two names is one array, as long as it is.
TEST(SequencesOfKernels, MayHaveAnArrayTwice) {
  const simt::Dim3 grid{4}, block{32};
  const std::vector<std::uint8_t> data = test::random_elements(128, 4, true, 1);
  const std::vector<StageLaunch> stages{
      {"bad_5", grid, block, {buffer(0), buffer(0), number(100)}},
      {"bad_2", grid, block, {buffer(1), buffer(0), number(100)}}};
  SequenceCase made(text(), stages, {data, data}, {.count = 2, .width = 32});
  ASSERT_EQ(made.entry.refused.text, "");
  EXPECT_EQ(made.difference({2, 2}, 1), "");
  made.stages[0].arguments[1] = buffer(1);
  EXPECT_NE(made.run(4, {2, 2}).error, "");
}

// Sizes of two stages that were not the same cannot tell where one reads what the other stored.
TEST(SequencesOfKernels, HaveTheirSizesInCommon) {
  Program program = wave(40, 20);
  program.stages[1].arguments[2] = number(39);
  const SequenceCase made(text(), program.stages, program.buffers, {.count = 2, .rows = 8});
  EXPECT_THAT(made.plan.refused.text, ::testing::HasSubstr("not at a constant offset"));
}

// What was one value when it was seen has to be one again.
TEST(SequencesOfKernels, AskForWhatWasSeen) {
  Program program = wave(40, 40);
  SequenceCase made(text(), program.stages, program.buffers, {.count = 2, .rows = 8});
  ASSERT_EQ(made.entry.refused.text, "");
  EXPECT_EQ(made.difference({2, 2}), "");
  made.stages[0].arguments[3] = number(39);
  EXPECT_NE(made.run(4, {2, 2}).error, "");
}

} // namespace
} // namespace ptxasw::sequences
