// Rims by kernels along a line, in one launch for several rows and columns: T passes at once leave
// what T passes leave, or are refused.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::rims {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using test::StageLaunch;
using ::testing::HasSubstr;
using Program = test::SequenceProgram;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/rims.ptx");
}

StageArgument real(float value) {
  return number(std::bit_cast<std::uint32_t>(value));
}

std::vector<std::uint8_t> data(std::size_t count, unsigned bytes, unsigned seed) {
  return test::random_elements(count, bytes, true, seed);
}

constexpr simt::Dim3 block{16, 4}, line_block{32};

// Threads of a line for so many places.
simt::Dim3 line(unsigned places) {
  return {(places + 31) / 32};
}

// Two launches in front of the rims, in one array or two.
Program burgers(unsigned nx, unsigned ny) {
  Program made;
  const StageArgument width = number(nx), height = number(ny);
  made.stages = {
      {"burgers_1",
       blocks(nx, ny),
       block,
       {buffer(0), buffer(1), buffer(2), buffer(3), width, height,
        number(std::bit_cast<std::uint64_t>(0.01), 8)}},
      {"burgers_2",
       blocks(nx, ny),
       block,
       {buffer(0), buffer(1), buffer(2), buffer(3), width, height}},
      {"burgers_3", line(std::max(nx, ny)), line_block, {buffer(0), buffer(1), width, height}}};
  for (unsigned n : {1U, 2U, 3U, 4U})
    made.buffers.push_back(data(std::size_t{nx} * ny, 8, n));
  return made;
}

std::vector<StageLaunch> heated(unsigned nx, unsigned ny) {
  const std::vector<StageArgument> rim{buffer(1), number(nx), number(ny)};
  return {
      {"heat_1", blocks(nx, ny), block, {buffer(0), buffer(1), number(nx), number(ny), real(0.2F)}},
      {"heat_2", line(nx), line_block, rim},
      {"heat_3", line(ny), line_block, rim},
      {"heat_4", blocks(nx, ny), block, {buffer(1), buffer(0), number(nx), number(ny)}}};
}
Program heat(unsigned nx, unsigned ny) {
  return {heated(nx, ny), {data(std::size_t{nx} * ny, 4, 1), data(std::size_t{nx} * ny, 4, 2)}};
}

Program cavity(unsigned n, unsigned) {
  const StageArgument u = buffer(0), v = buffer(1), p = buffer(2);
  return {{{"cavity_1", blocks(n, n), block, {u, v, p, number(n), real(0.1F)}},
           {"cavity_2", line(n), line_block, {u, v, p, number(n), real(1.5F)}},
           {"cavity_3", blocks(n, n), block, {p, u, v, number(n), real(0.1F)}}},
          {data(std::size_t{n} * n, 4, 1), data(std::size_t{n} * n, 4, 2),
           data(std::size_t{n} * n, 4, 3)}};
}

// With that kernel between a core and a copy.
std::vector<StageLaunch> mixed(const std::string& rim, unsigned nx, unsigned ny) {
  return {{"mix_1", blocks(nx, ny), block, {buffer(0), buffer(1), number(nx), number(ny)}},
          {rim, line(std::max(nx, ny)), line_block, {buffer(1), number(nx), number(ny)}},
          {"mix_2", blocks(nx, ny), block, {buffer(0), buffer(1), number(nx), number(ny)}}};
}
Program mix(const std::string& rim, unsigned nx, unsigned ny) {
  return {mixed(rim, nx, ny), {data(std::size_t{nx} * ny, 4, 1), data(std::size_t{nx} * ny, 4, 2)}};
}

Program corner(unsigned nx, unsigned ny) {
  return mix("corner_of_one", nx, ny);
}
Program far_corner(unsigned n, unsigned) {
  return mix("far_corner", n, n);
}

// A kernel of two dimensions that reads beside the column that it stores.
Program slope_of_two(unsigned nx, unsigned ny) {
  Program made = mix("slope_of_two", nx, ny);
  made.stages[1].grid = blocks(nx, ny);
  made.stages[1].block = block;
  return made;
}

// The rim in front: it is the first to store.
Program rim_first(unsigned nx, unsigned ny) {
  Program made = mix("corner_of_one", nx, ny);
  std::rotate(made.stages.begin(), made.stages.begin() + 1, made.stages.end());
  return made;
}

// A launch for fewer places than the array has, and for many more.
Program short_lines(unsigned nx, unsigned ny) {
  Program made = heat(nx, ny);
  made.stages[1].grid = line((nx + 1) / 2);
  made.stages[2].grid = line((ny + 1) / 2);
  return made;
}
Program long_lines(unsigned nx, unsigned ny) {
  Program made = heat(nx, ny);
  for (const std::size_t n : {1U, 2U})
    made.stages[n].grid = line(3 * nx + ny + 70);
  return made;
}

using Row = test::SequenceRow;

class RimsOnALine : public ::testing::TestWithParam<Row> {};

TEST_P(RimsOnALine, LeaveTheSame) {
  test::expect_the_same(GetParam(), kernels(), "rims",
                        {{5, 6}, {17, 33}, {33, 17}, {64, 64}, {100, 70}});
}

// There is nothing to store, or threads meet; or all is as it would be.
TEST_P(RimsOnALine, OfSmallArraysAreTheSameOrNone) {
  for (const auto& [nx, ny] :
       {std::pair{1U, 1U}, {1U, 3U}, {2U, 2U}, {2U, 5U}, {3U, 2U}, {3U, 3U}, {4U, 3U}}) {
    SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
    const Program program = GetParam().program(nx, ny);
    test::expect_the_same_or_none(SequenceCase(kernels(), program.stages, program.buffers,
                                               {.count = 2, .width = 32, .rows = 8}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    T, RimsOnALine,
    ::testing::Values(Row{"burgers", burgers}, Row{"heat", heat}, Row{"cavity", cavity},
                      Row{"corner", corner}, Row{"far_corner", far_corner},
                      Row{"slope_of_two", slope_of_two}, Row{"rim_first", rim_first},
                      Row{"short_lines", short_lines}, Row{"long_lines", long_lines}),
    [](const auto& row) { return std::string(row.param.name); });

// The last row and the last column are the first ones of a block, so that it reads in front of what
// it writes there.
TEST_P(RimsOnALine, AtTheBeginOfABlockAreTheSame) {
  for (const unsigned count : {1U, 2U, 3U}) {
    const passes::StepShape shape{.count = count, .width = 64, .strips = 2, .rows = 16};
    const auto made = [&](unsigned nx, unsigned ny) {
      const Program program = GetParam().program(nx, ny);
      return SequenceCase(kernels(), program.stages, program.buffers, shape);
    };
    const auto covers = made(40, 40).entry.contract.covers;
    for (const unsigned more : {0U, 1U})
      for (const auto& [nx, ny] : {std::pair{covers[0], 30U}, {30U, covers[1]}}) {
        SCOPED_TRACE(fmt::format("{}: {}x{}, {}", count, nx, ny, more));
        EXPECT_EQ(made(nx + 1 + more, ny + 1 + more).difference({count, count}), "");
      }
  }
}

SequenceCase case_of(const Program& program, const std::string& text = kernels()) {
  return SequenceCase(text, program.stages, program.buffers, {.count = 2, .width = 32, .rows = 8});
}

std::string replaced(std::string text, std::string_view from, std::string_view by) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), by);
}

// Where both are one thread's the stages keep its order; else nothing is merged.
TEST(RimsOnALineThatCross, AreAskedWhoseTheCornerIs) {
  EXPECT_EQ(case_of(mix("far_corner", 40, 40)).difference({2, 2}), "");
  EXPECT_THAT(case_of(mix("far_corner", 40, 39)).run(4, {2, 2}).error,
              HasSubstr("threads of a rim"));
  EXPECT_THAT(case_of(mix("far_corner", 39, 40)).run(4, {2, 2}).error,
              HasSubstr("threads of a rim"));
}

TEST(RimsOnALineThatCross, KeepTheOrderOfAThread) {
  const std::string body = kernels();
  const auto begin = body.find(".entry read_ahead(");
  ASSERT_NE(begin, std::string::npos);
  const std::string load = "ld.global.f32 \t%f1, [%rd4];", store = "st.global.u32 \t[%rd4], %r7;";
  const auto merged = [&](const std::string& text) {
    const SequenceCase made = case_of(mix("read_ahead", 40, 30), text);
    return made.plan.refused.text.empty() ? made.difference({2, 2}) : made.plan.refused.text;
  };
  EXPECT_THAT(merged(body), HasSubstr("threads of a rim")) << "it reads in front of its own store";
  std::string behind = body.substr(begin);
  behind = replaced(replaced(behind, load, ""), store, store + "\n\t" + load);
  EXPECT_EQ(merged(body.substr(0, begin) + behind), "") << "it reads what it has stored";
}

std::string refusal(const std::string& rim, unsigned nx = 40, unsigned ny = 30) {
  const SequenceCase made = case_of(mix(rim, nx, ny));
  return made.plan.refused.text.empty() ? made.entry.refused.text : made.plan.refused.text;
}

TEST(RimsOnALineThatMeet, AreRefused) {
  EXPECT_THAT(refusal("corner_of_two"), HasSubstr("threads of a rim"));
  EXPECT_THAT(refusal("slope_across"), HasSubstr("threads of a rim"));
  EXPECT_THAT(refusal("along_itself"), HasSubstr("reads what the step writes"));
}

TEST(RimsOnALineOfOtherForms, AreRefused) {
  EXPECT_THAT(refusal("diagonal"), HasSubstr("neither a row nor a column"));
  EXPECT_THAT(refusal("every_other"), HasSubstr("neither a row nor a column"));
  EXPECT_THAT(refusal("ahead"), HasSubstr("in front of the first place"));
  EXPECT_THAT(refusal("with_loop"), HasSubstr("a loop in a kernel"));
  EXPECT_EQ(refusal("bounded_column"), "");
  const std::string fixed = replaced(kernels(), ".maxntid 128", ".reqntid 128");
  EXPECT_THAT(case_of(mix("bounded_column", 40, 30), fixed).plan.refused.text,
              HasSubstr("how large its blocks are"));
}

TEST(RimsOnALineOfOtherForms, NeedAStageOfTwoDimensions) {
  Program program = mix("line_alone", 40, 30);
  program.buffers.push_back(program.buffers[0]);
  program.stages[1].arguments[0] = buffer(2);
  EXPECT_THAT(case_of(program).plan.refused.text, HasSubstr("no stage of two dimensions"));
}

// Behind the end of a row the next one begins.
TEST(RimsOnALine, MayBeginBehindThePlacesOfTheirThreads) {
  EXPECT_EQ(case_of(mix("one_behind", 40, 30)).difference({2, 2}), "");
}

// Another launch of one line, along an axis that the kernel knows nothing of.
TEST(RimsOnALine, HaveOneThreadForAPlace) {
  Program program = mix("line_alone", 40, 30);
  EXPECT_EQ(case_of(program).difference({2, 2}), "");
  program.stages[1].grid.y = 2;
  EXPECT_THAT(case_of(program).run(4, {2, 2}).error, HasSubstr("several threads store"));
}

// A line may be longer than a launch along y.
TEST(RimsOnALine, AreAsLongAsAColumnMayBe) {
  SequenceCase made = case_of(mix("corner_of_one", 40, 30));
  made.stages = mixed("corner_of_one", 70000, 30);
  EXPECT_EQ(made.run(4, {2, 2}).error, "it is too large") << "threads of the column";
  SequenceCase far = case_of(heat(40, 30));
  far.stages = heated(70000, 30);
  EXPECT_EQ(far.run(4, {2, 2}).error, "it is too large") << "where it is";
}

// The last place along x and the first one of the next row are one element.
TEST(RimsBesideEachOther, HaveElementsThatAreApart) {
  Program program = mix("column_behind", 40, 30);
  program.stages[1] = {"column_behind", blocks(48, 30), block, program.stages[1].arguments};
  EXPECT_THAT(case_of(program).run(4, {2, 2}).error, HasSubstr("places of several stages"));
}

} // namespace
} // namespace ptxasw::rims
