// Several kernels a step, whose sizes are their launches': left as single launches leave them.
#include "passes/time_tile/sequence_case.hpp"

#include <algorithm>

namespace ptxasw::sequence_extents {
namespace {

using test::buffer;
using test::SequenceCase;
using Program = test::SequenceProgram;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/extents.ptx");
}

std::vector<std::uint8_t> data(std::size_t count, unsigned seed) {
  return test::random_elements(count, 4, true, seed);
}

// Of so many blocks of 16 by 8 threads. The rows are 96 places; two of three hold nothing.
Program heat(simt::Dim3 grid) {
  constexpr simt::Dim3 block{16, 8};
  const std::size_t places = std::size_t{grid.x} * grid.y * 128;
  Program made{{{"held", grid, block, {buffer(0), buffer(2)}},
                {"written", grid, block, {buffer(1), buffer(0)}},
                {"held", grid, block, {buffer(1), buffer(2)}},
                {"written", grid, block, {buffer(0), buffer(1)}}},
               {data(places + 200, 1), data(places + 200, 2), data(places + 200, 3)}};
  std::vector<std::uint8_t>& kept = made.buffers[2];
  for (std::size_t at = 0; at < places; ++at)
    if (at % 3 != 0) std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(4 * at), 4, 0);
  return made;
}

Program wave(simt::Dim3 first, simt::Dim3 second) {
  constexpr simt::Dim3 block{16, 8};
  const std::size_t places = std::size_t{first.x} * first.y * 128;
  return {{{"lifted", first, block, {buffer(1), buffer(0)}},
           {"dropped", second, block, {buffer(0), buffer(1)}}},
          {data(places, 1), data(places, 2)}};
}

SequenceCase case_of(const Program& program, const passes::StepShape& shape) {
  return SequenceCase(kernels(), program.stages, program.buffers, shape);
}

constexpr passes::StepShape small{.count = 2, .width = 32, .strips = 2, .rows = 16};

TEST(SequencesOfExtents, LeaveTheSame) {
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 48, .rows = 8}, small}) {
    test::expect_the_same(case_of(heat({6, 12}), shape), "extents_heat");
    test::expect_the_same(case_of(wave({3, 5}, {3, 5}), shape), "extents_wave");
    test::expect_the_same(case_of(wave({5, 2}, {5, 2}), shape));
  }
}

TEST(SequencesOfExtents, HaveAsManyThreadsAsTheProgramSays) {
  for (const unsigned blocks : {5U, 7U})
    EXPECT_FALSE(case_of(heat({blocks, 12}), small).run(4, {2, 2}).fits) << blocks;
}

TEST(SequencesOfExtents, HaveTheSameThreadsInAllLaunches) {
  EXPECT_EQ(case_of(wave({6, 4}, {4, 6}), small).difference({2, 2}),
            test::does_not_fit + "its launches have other numbers of threads");
}

} // namespace
} // namespace ptxasw::sequence_extents
