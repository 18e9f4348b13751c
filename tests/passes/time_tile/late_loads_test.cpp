// Which places do a load that data decide: those whose values are right, and no other. Fields of
// ones stay such, so that no thread does the load; but a place at the rim of a region makes
// something else of what is not there.
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/sequence_case.hpp"

#include <string>
#include <utility>

namespace ptxasw::late {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::StepHost;
using test::Stepped;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/late.ptx");
}

std::vector<std::uint8_t> ones(std::size_t elements) {
  std::vector<std::uint8_t> bytes(4 * elements);
  for (std::size_t n = 0; n < elements; ++n)
    bytes[4 * n] = 1;
  return bytes;
}

// Of ones, or of anything.
test::SequenceProgram stages(unsigned nx, unsigned ny, bool calm) {
  test::SequenceProgram made;
  const std::size_t elements = std::size_t{nx} * ny;
  for (unsigned seed = 1; seed <= 3; ++seed)
    made.buffers.push_back(calm && seed < 3 ? ones(elements)
                                            : test::random_elements(elements, 4, false, seed));
  const auto x = number(nx), y = number(ny);
  constexpr simt::Dim3 block{16, 4};
  made.stages = {{"spread", blocks(nx, ny), block, {buffer(0), buffer(1), x, y}},
                 {"cured", blocks(nx, ny), block, {buffer(1), buffer(0), buffer(2), x, y}}};
  return made;
}

class LateLoads : public ::testing::TestWithParam<bool> {};

TEST_P(LateLoads, OfStages) {
  for (const passes::StepShape& shape : {passes::StepShape{.count = 3, .width = 48, .rows = 16},
                                         {.count = 2, .width = 32, .strips = 2, .rows = 11}})
    for (const auto& [nx, ny] : {std::pair{33U, 17U}, {71U, 53U}}) {
      SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
      const test::SequenceProgram program = stages(nx, ny, GetParam());
      test::expect_the_same(test::SequenceCase(kernels(), program.stages, program.buffers, shape));
    }
}

// The same bytes, and no others are loaded.
void expect_the_same(const StepHost& host, unsigned steps) {
  unsigned merged = 0;
  EXPECT_EQ(host.difference(steps, &merged), "");
  EXPECT_NE(merged, 0U);
  EXPECT_TRUE(host.loads_what_single_ones_touch(steps));
}

void expect_the_same(const std::string& kernel, bool calm) {
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {5, 64, 4, 8, 2}})
    for (const auto& [nx, ny] : {std::pair{33U, 17U}, {71U, 53U}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}", kernel, nx, ny));
      const Stepped stepped(kernels(), kernel, shape);
      ASSERT_EQ(stepped.entry.refused.text, "");
      StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      if (calm) host.buffers[0] = host.buffers[1] = ones(host.buffers[0].size() / 4);
      expect_the_same(host, shape.count + 3);
    }
}

TEST_P(LateLoads, OfSteps) {
  expect_the_same("level", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ones, LateLoads, ::testing::Bool());

// What is read late alone is in the region's image nevertheless.
TEST(LateLoadsAlone, OfOneSide) {
  expect_the_same("one_side", false);
}

// Of values that are not right a table has no element.
TEST(LateLoadsAlone, OfTables) {
  expect_the_same("looked_up", true);
  expect_the_same("looked_up_behind", true);
}

TEST(LateLoadsAlone, OfATableThatIsAParameter) {
  const Stepped stepped(kernels(), "told", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  const unsigned nx = 71, ny = 53;
  StepHost host{.stepped = stepped,
                .grid = {3, 14},
                .block = {32, 4},
                .arguments = {0, 1, nx, ny, 0},
                .buffers = {ones(std::size_t{nx} * ny), ones(std::size_t{nx} * ny)},
                .pointers = {0, 1},
                .structures = {{4, ones(4)}}};
  expect_the_same(host, 6);
}

TEST(LateLoadsAlone, OfATableByAStage) {
  for (const passes::StepShape& shape : {passes::StepShape{.count = 3, .width = 48, .rows = 16},
                                         {.count = 2, .width = 32, .strips = 2, .rows = 11}}) {
    test::SequenceProgram program = stages(71, 53, true);
    program.stages[1].kernel = "looked_up_in_turn";
    program.stages[1].arguments = {buffer(1), buffer(0), number(71), number(53)};
    test::expect_the_same(test::SequenceCase(kernels(), program.stages, program.buffers, shape));
  }
}

// Where elements begin to which no place stores is asked of the place beside.
TEST(LateLoadsAlone, OfAWedge) {
  expect_the_same("wedge", false);
}

} // namespace
} // namespace ptxasw::late
