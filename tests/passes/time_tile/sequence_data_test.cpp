// Stages of which memory that no stage writes tells where they store: T passes at once leave what T
// passes leave.
#include "passes/time_tile/sequence_case.hpp"

namespace ptxasw::data {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using Program = test::SequenceProgram;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/data.ptx");
}

// `conductor`: which buffer that is.
Program fields_with(unsigned nx, unsigned ny, int conductor) {
  Program made;
  for (unsigned seed = 1; seed <= 4; ++seed)
    made.buffers.push_back(test::random_elements(std::size_t{nx} * ny, 4, seed < 4, seed));
  const auto x = number(nx), y = number(ny);
  constexpr simt::Dim3 block{16, 4};
  made.stages = {
      {"field_1", blocks(nx, ny), block, {buffer(0), buffer(1), buffer(2), x, y}},
      {"field_2",
       blocks(nx, ny),
       block,
       {buffer(2), buffer(0), buffer(1), buffer(conductor), x, y}},
  };
  return made;
}
Program fields(unsigned nx, unsigned ny) {
  return fields_with(nx, ny, 3);
}

TEST(SequencesWithMasks, LeaveTheSame) {
  test::expect_the_same({"fields", fields}, kernels(), "data", {{5, 6}, {33, 17}, {70, 64}});
}

TEST(SequencesWithMasks, OfMemoryThatStays) {
  const Program program = fields_with(33, 17, 0);
  const SequenceCase made(kernels(), program.stages, program.buffers,
                          {.count = 2, .width = 32, .rows = 16});
  EXPECT_EQ(made.plan.refused.reason, Reason::step_mask) << made.plan.refused.text;
}

// What was seen says nothing of launches to come.
TEST(SequencesWithMasks, OfMemoryOfItsOwn) {
  const Program program = fields(33, 17);
  SequenceCase made(kernels(), program.stages, program.buffers,
                    {.count = 2, .width = 32, .rows = 16});
  ASSERT_EQ(made.entry.refused.text, "");
  EXPECT_EQ(made.difference({2, 2}), "");
  made.stages[1].arguments[3] = buffer(1);
  EXPECT_FALSE(made.run(4, {2, 2}).fits);
}

} // namespace
} // namespace ptxasw::data
