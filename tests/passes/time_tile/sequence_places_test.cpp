// Stages whose threads are not the places that they store to, and single threads: T passes at once
// leave what T passes leave, or are refused.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::places {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using ::testing::HasSubstr;
using Program = test::SequenceProgram;

constexpr simt::Dim3 block{16, 4}, line_block{32}, one{1};

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/places.ptx");
}
std::vector<std::uint8_t> data(std::size_t count, unsigned bytes, unsigned seed) {
  return test::random_elements(count, bytes, true, seed);
}
StageArgument real(float value) {
  return number(std::bit_cast<std::uint32_t>(value));
}
simt::Dim3 line(unsigned places) {
  return {(places + 31) / 32};
}

Program plate(unsigned n, unsigned) {
  const StageArgument now = buffer(0), next = buffer(1), size = number(n);
  return {{{"plate_1", blocks(n, n), block, {next, now, size, real(0.2F)}},
           {"plate_2", line(n), line_block, {next, size}},
           {"plate_3", one, one, {next, size}},
           {"plate_4", blocks(n, n), block, {now, next, size}}},
          {data(std::size_t{n} * n, 4, 1), data(std::size_t{n} * n, 4, 2)}};
}

Program neumann(unsigned nx, unsigned ny) {
  const StageArgument grid = number(nx + (std::uint64_t{ny} << 32U), 8),
                      k = number(std::bit_cast<std::uint64_t>(0.2), 8);
  return {{{"neumann_1", blocks(ny, nx), block, {buffer(0), buffer(1), grid, k}},
           {"neumann_2", line(std::max(nx, ny)), line_block, {buffer(1), grid}},
           {"neumann_3", blocks(ny, nx), block, {buffer(0), buffer(1), grid}}},
          {data(std::size_t{nx} * ny, 8, 1), data(std::size_t{nx} * ny, 8, 2)}};
}

Program lax(unsigned size, unsigned) {
  const unsigned n = size;
  Program made;
  for (unsigned seed : {1U, 2U, 3U, 4U})
    made.buffers.push_back(data(std::size_t{n + 2} * (n + 2), 4, seed));
  for (const int from : {0, 2}) {
    made.stages.push_back(
        {"lax_1",
         blocks(n, n),
         block,
         {buffer(from), buffer(from + 1), buffer(2 - from), buffer(3 - from), number(n)}});
    made.stages.push_back(
        {"lax_2", line(n), line_block, {buffer(2 - from), buffer(3 - from), number(n)}});
  }
  return made;
}

Program driven(const std::string& source, unsigned n, simt::Dim3 grid, simt::Dim3 threads) {
  return {{{"source_1", blocks(n, n), block, {buffer(1), buffer(0), number(n)}},
           {"source_2", blocks(n, n), block, {buffer(0), buffer(1), number(n)}},
           {source, grid, threads, {buffer(0), number(n), number(n / 2), number(n / 3), real(3)}}},
          {data(std::size_t{n} * n, 4, 1), data(std::size_t{n} * n, 4, 2)}};
}
Program by_one(unsigned n, unsigned) {
  return driven("source_3", n, one, one);
}
Program by_first(unsigned n, unsigned) {
  return driven("source_4", n, one, {32});
}
// Another value in each pass.
Program pulsed(unsigned n, unsigned) {
  Program made = by_one(n, 0);
  for (unsigned pass = 0; pass < 50; ++pass)
    made.stages[2].arguments[4].varying.push_back(real(0.1F * static_cast<float>(pass)).value);
  return made;
}

using Row = test::SequenceRow;

class PlacesOfStages : public ::testing::TestWithParam<Row> {};

TEST_P(PlacesOfStages, LeaveTheSame) {
  test::expect_the_same(GetParam(), kernels(), "places", {{5, 6}, {33, 17}, {70, 64}});
}

TEST_P(PlacesOfStages, OfSmallArraysAreTheSameOrNone) {
  for (const auto& [nx, ny] :
       {std::pair{1U, 1U}, {1U, 3U}, {2U, 2U}, {2U, 5U}, {3U, 2U}, {3U, 3U}, {4U, 3U}}) {
    SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
    const Program program = GetParam().program(nx, ny);
    const SequenceCase made(kernels(), program.stages, program.buffers,
                            {.count = 2, .width = 32, .rows = 16});
    if (made.entry.refused.text.empty() && made.run(4, {2, 2}).error.empty()) {
      EXPECT_EQ(made.difference({2, 2}, 1), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(T, PlacesOfStages,
                         ::testing::Values(Row{"plate", plate}, Row{"neumann", neumann},
                                           Row{"lax", lax}, Row{"by_one", by_one},
                                           Row{"by_first", by_first}, Row{"pulsed", pulsed}),
                         [](const auto& row) { return std::string(row.param.name); });

SequenceCase case_of(const Program& program) {
  return SequenceCase(kernels(), program.stages, program.buffers,
                      {.count = 2, .width = 32, .rows = 16});
}
std::string merged(const Program& program) {
  const SequenceCase made = case_of(program);
  return made.plan.refused.text.empty() ? made.difference({2, 2}) : made.plan.refused.text;
}

// All of them would store.
TEST(SingleThreads, AreAlone) {
  EXPECT_EQ(merged(driven("source_3", 40, one, one)), "");
  for (const auto& [grid, threads] :
       {std::pair{simt::Dim3{2}, one}, {one, simt::Dim3{2}}, {one, simt::Dim3{1, 2}}})
    EXPECT_THAT(case_of(driven("source_3", 40, grid, threads)).run(4, {2, 2}).error,
                HasSubstr("several threads store"));
}

TEST(SingleThreads, AreOfOneBlock) {
  EXPECT_EQ(merged(driven("source_4", 40, one, {32})), "");
  EXPECT_THAT(case_of(driven("source_4", 40, {2}, {32})).run(4, {2, 2}).error,
              HasSubstr("several threads store"));
}

TEST(SingleThreads, AreWhatAGuardSays) {
  EXPECT_NE(merged(driven("source_5", 40, {2}, {32})), "");
}

TEST(PlacesOfThreads, AreAllThatIsKnown) {
  EXPECT_THAT(merged(driven("source_6", 40, {2}, {32})), HasSubstr("tid"));
  EXPECT_THAT(merged(driven("source_8", 40, {2}, {32})), HasSubstr("how many blocks"));
}

TEST(PlacesOfThreads, AreTheirsWhereLinesMeet) {
  EXPECT_THAT(merged(driven("source_7", 40, {2}, {32})), HasSubstr("threads of a rim"));
}

} // namespace
} // namespace ptxasw::places
