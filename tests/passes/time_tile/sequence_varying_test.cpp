// Parameters that are others in each pass: a step's number, a time.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::varying_parameters {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using test::StageLaunch;
using Program = test::SequenceProgram;
using ::testing::HasSubstr;

constexpr unsigned passes_at_most = 16;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/varying.ptx");
}

// The value in each pass.
template <class Value> StageArgument varying(unsigned bytes, const Value& value) {
  StageArgument made{.bytes = bytes};
  for (unsigned pass = 0; pass < passes_at_most; ++pass)
    made.varying.push_back(value(pass));
  return made;
}
StageArgument number_of_step() {
  return varying(4, [](unsigned pass) { return pass; });
}
StageArgument real(float scale) {
  return varying(4, [=](unsigned pass) {
    return std::bit_cast<std::uint32_t>(scale * static_cast<float>(pass * pass + 1));
  });
}
StageArgument precise(double scale) {
  return varying(8, [=](unsigned pass) {
    return std::bit_cast<std::uint64_t>(scale * static_cast<double>(3 * pass + 1));
  });
}

std::vector<std::uint8_t> data(std::size_t count, unsigned bytes, unsigned seed) {
  return test::random_elements(count, bytes, true, seed);
}

// Electric fields, driven by what an array has for the step.
Program driven(unsigned nx, unsigned ny) {
  const simt::Dim3 grid = blocks(ny, nx), block{16, 4};
  const std::size_t count = std::size_t{nx} * ny;
  return {{{"driven_1",
            grid,
            block,
            {buffer(3), buffer(1), buffer(2), number(nx), number(ny), number_of_step()}},
           {"driven_2", grid, block, {buffer(0), buffer(2), number(nx), number(ny)}},
           {"driven_3", grid, block, {buffer(2), buffer(0), buffer(1), number(nx), number(ny)}}},
          {data(count, 4, 1), data(count, 4, 2), data(count, 4, 3), data(passes_at_most, 4, 4)}};
}

Program first(unsigned nx, unsigned ny) {
  Program program = driven(nx, ny);
  const StageLaunch& stage = program.stages[0];
  program.stages[0] = {"first_1",
                       stage.grid,
                       stage.block,
                       {buffer(1), buffer(2), number(nx), number(ny), real(0.5F)}};
  return program;
}

Program pushed(unsigned n, unsigned) {
  const simt::Dim3 grid = blocks(n, n), block{16, 4};
  const std::size_t count = std::size_t{n} * n;
  return {{{"pushed_1", grid, block, {buffer(0), buffer(1), number(n), precise(0.5), real(0.25F)}},
           {"pushed_2", grid, block, {buffer(1), buffer(0), number(n), precise(0.01)}}},
          {data(count, 8, 1), data(count, 8, 2)}};
}

void leave_the_same(Program (*made_of)(unsigned nx, unsigned ny)) {
  for (const passes::StepShape& shape : {passes::StepShape{.count = 3, .width = 48, .rows = 8},
                                         {.count = 2, .width = 32, .strips = 2, .rows = 16}})
    for (const auto& [nx, ny] : {std::pair{5U, 6U}, {33U, 7U}, {70U, 45U}, {150U, 100U}}) {
      SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
      const Program program = made_of(nx, ny);
      const SequenceCase made(kernels(), program.stages, program.buffers, shape);
      EXPECT_FALSE(made.entry.contract.varying.empty());
      test::expect_the_same(
          made, nx == 5 ? fmt::format("{}_{}", program.stages[0].kernel, shape.count) : "");
    }
}

TEST(VaryingParameters, MayTellWhatIsRead) {
  leave_the_same(driven);
}

TEST(VaryingParameters, MayBePartOfValues) {
  leave_the_same(pushed);
  leave_the_same(first);
}

std::string refusal(const std::vector<StageLaunch>& stages) {
  const std::vector<std::uint8_t> some(4 * 400);
  return SequenceCase(kernels(), stages, {some, some}, {.count = 2, .rows = 8}).plan.refused.text;
}

TEST(VaryingParameters, ArePartOfNoGuardAndNoElement) {
  const simt::Dim3 grid = blocks(20, 20), block{16, 4};
  const StageLaunch fine{
      "late_2", grid, block, {buffer(1), buffer(0), number(20), number_of_step()}};
  const auto first = [&](const char* kernel, const StageArgument& last) {
    return StageLaunch{kernel, grid, block, {buffer(0), buffer(1), number(20), last}};
  };
  EXPECT_EQ(refusal({first("late_1", number(1)), fine}), "");
  EXPECT_THAT(refusal({first("late_1", number_of_step()), fine}),
              HasSubstr("late_1: a place or a guard hangs on what varies"));
  EXPECT_THAT(refusal({first("shifted_1", number_of_step()), fine}), HasSubstr("shifted_1: "));
  StageLaunch sized = fine;
  sized.arguments[2] = number_of_step();
  EXPECT_NE(refusal({first("late_1", number(1)), sized}), "");
}

// Each pass has to read within what is known to be free of other arrays.
TEST(VaryingParameters, AreAskedOfEachPass) {
  const Program program = driven(20, 20);
  SequenceCase made(kernels(), program.stages, program.buffers, {.count = 2, .width = 32});
  ASSERT_EQ(made.entry.refused.text, "");
  EXPECT_TRUE(contract::is_asked(made.entry.contract, made.entry.contract.varying[0]));
  // The last pass reads an element that another one is stored to.
  made.stages[0].arguments[0] = buffer(2);
  made.stages[0].arguments[5] = varying(4, [](unsigned pass) { return pass < 3 ? -1U : 5U; });
  EXPECT_NE(made.run(4, {2, 2}).error, "");
}

} // namespace
} // namespace ptxasw::varying_parameters
