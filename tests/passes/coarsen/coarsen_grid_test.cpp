// Which block does whose work: grids of every size along each axis, launches that are too small.
#include "passes/coarsen/coarsen_case.hpp"

#include "emulator/kernel_text.hpp"
#include "simt/machine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

namespace ptxasw {
namespace {

using test::Coarsened;
using test::Factors;
using test::kernel_text;
using ::testing::HasSubstr;
using ::testing::Not;

// Each thread adds one to a word of its own; `row` makes %r6 of what lies along y.
std::string count_of_threads(const std::string& row, std::string_view directives = "") {
  return kernel_text(R"(
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ctaid.z;
    mov.u32 %r7, %ctaid.y;
    mov.u32 %r8, %nctaid.x;
    mov.u32 %r9, %nctaid.y;
    mov.u32 %r10, %ntid.y;
    mov.u32 %r11, %tid.y;
    )" + row + R"(
    mul.lo.u32 %r9, %r9, %r10;
    mad.lo.u32 %r5, %r5, %r9, %r6;
    mad.lo.u32 %r5, %r5, %r8, %r4;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r5, %r3;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r12, [%rd4];
    add.u32 %r12, %r12, 1;
    st.global.u32 [%rd4], %r12;
    ret;)",
                     directives);
}
// As one sum, and so that whole blocks have to stay together.
const std::string one_sum = "mad.lo.u32 %r6, %r7, %r10, %r11;";
const std::string by_rows = count_of_threads(one_sum);
const std::string by_blocks = count_of_threads("mul.lo.u32 %r6, %r7, %r10;\n"
                                               "min.u32 %r11, %r11, 7;\nadd.u32 %r6, %r6, %r11;");

using Index = std::array<std::uint32_t, 3>;
Index index(simt::Dim3 d) {
  return {d.x, d.y, d.z};
}

// How many threads' work each block does; empty if some thread's was not done once.
std::map<Index, unsigned> work(const Coarsened& coarsened, simt::Dim3 grid, simt::Dim3 block) {
  std::map<Index, unsigned> done;
  simt::Memory memory;
  const std::uint64_t words = grid.count() * block.count();
  const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(words * 4));
  const auto program = simt::compile(coarsened.result, "k");
  const simt::Launch launch{
      .grid = grid,
      .block = block,
      .arguments = {simt::value(out), simt::value(out), simt::value(std::uint64_t{1}),
                    simt::value(std::uint64_t{1})},
      .observer = [&](const simt::Access& access) {
        if (access.kind == simt::Access::Kind::store)
          done[index(access.block)] += static_cast<unsigned>(std::popcount(access.mask));
      }};
  EXPECT_TRUE(simt::run(**program, launch, memory).ok());
  const auto& bytes = memory.find("out")->data;
  for (std::uint64_t n = 0; n < words * 4; ++n)
    if (bytes[n] != (n % 4 == 0 ? 1 : 0)) return {};
  return done;
}

// A full group in a launch that is large enough is the first block's; else each does its own.
std::map<Index, unsigned> expected(Factors factors, simt::Dim3 grid, simt::Dim3 block, bool small) {
  std::map<Index, unsigned> done;
  const Index size = index(grid);
  for (std::uint32_t z = 0; z < grid.z; ++z)
    for (std::uint32_t y = 0; y < grid.y; ++y)
      for (std::uint32_t x = 0; x < grid.x; ++x) {
        const Index own{x, y, z};
        Index first = own;
        bool full = !small;
        for (unsigned axis = 0; axis < 3; ++axis) {
          first[axis] -= first[axis] % factors[axis];
          full = full && first[axis] + factors[axis] <= size[axis];
        }
        done[full ? first : own] += static_cast<unsigned>(block.count());
      }
  return done;
}

void check(const Coarsened& coarsened, Factors factors, simt::Dim3 grid, simt::Dim3 block,
           bool small = false) {
  EXPECT_EQ(work(coarsened, grid, block), expected(factors, grid, block, small))
      << fmt::format("grid {} {} {}, factors {} {} {}", grid.x, grid.y, grid.z, factors[0],
                     factors[1], factors[2]);
}

TEST(CoarsenGrid, EverySizeAlongEachAxis) {
  for (const unsigned factor : {2U, 3U, 4U, 8U, 16U}) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      Factors factors{1, 1, 1};
      factors[axis] = factor;
      for (const bool rows : {false, true}) {
        if (rows && axis != 1) continue;
        const Coarsened coarsened(rows ? by_rows : by_blocks, factors);
        ASSERT_EQ(coarsened.plan.refused.text, "");
        ASSERT_EQ(coarsened.plan.axes[1].rows, rows);
        for (std::uint32_t size = 1; size <= 40; ++size) {
          const simt::Dim3 grid{axis == 0 ? size : 2, axis == 1 ? size : 1, axis == 2 ? size : 1};
          check(coarsened, factors, grid, {4, 3, 1});
        }
      }
    }
  }
}

TEST(CoarsenGrid, SeveralAxes) {
  for (const Factors factors : {Factors{2, 4, 1}, Factors{1, 3, 2}, Factors{2, 2, 2}}) {
    const Coarsened coarsened(by_blocks, factors);
    for (std::uint32_t n = 0; n < 64; ++n)
      check(coarsened, factors, {n % 4 + 1, n / 4 % 4 + 3, n / 16 + 1}, {4, 1, 1});
  }
}

// 4 x 18 threads in a block are two whole warps, so 10 blocks are 640 threads.
TEST(CoarsenGrid, SmallLaunches) {
  for (const std::uint64_t least : {639, 640, 641, 704, 8000}) {
    const Coarsened two(by_rows, {.factors = {1, 2, 1}}, "", {.least_threads = least});
    for (const simt::Dim3 grid : {simt::Dim3{1, 9, 1}, simt::Dim3{1, 10, 1}, simt::Dim3{2, 5, 1},
                                  simt::Dim3{1, 11, 1}, simt::Dim3{1, 2, 5}, simt::Dim3{5, 25, 1}})
      check(two, {1, 2, 1}, grid, {4, 18, 1}, grid.count() * 64 < least);
  }
}

// A first question keeps launches of few blocks from the second one, where the axes that are read
// and the size of a block leave no doubt, and where they do, no more than that.
TEST(CoarsenGrid, TheFirstQuestionIsAboutBlocks) {
  const auto first = [](const std::string& source, std::uint64_t least) {
    const Coarsened two(source, {.factors = {1, 2, 1}}, "", {.least_threads = least});
    EXPECT_THAT(two.text, HasSubstr("_0, %nctaid.y;\n\tsetp.ge.u32 \t%ptxasw_pred_0, "));
    const std::size_t at = two.text.find("setp.ge.u32 \t%ptxasw_pred_0, ");
    return two.text.substr(at, two.text.find(';', at) - at);
  };
  EXPECT_THAT(first(by_rows, 1), HasSubstr(", 1"));
  EXPECT_THAT(first(by_rows, 31 * 1024), HasSubstr(", 31"));
  EXPECT_THAT(first(by_rows, 1 << 20), HasSubstr(", 32")) << "others lie along x and z";
  EXPECT_THAT(first(count_of_threads(one_sum, ".reqntid 4, 2"), 81), HasSubstr(", 11"));
  const std::string line =
      kernel_text("mov.u32 %r4, %ctaid.y;\nmul.wide.u32 %rd3, %r4, 4;\n"
                  "add.s64 %rd3, %rd3, %rd2;\nst.global.u32 [%rd3], %r4;\nret;");
  EXPECT_THAT(first(line, 1 << 20), HasSubstr(", 1024"));
}

// Memory after a launch in which each thread adds one to its word, or leaves.
std::vector<std::uint8_t> memory_after(const std::shared_ptr<const ptx::Module>& module,
                                       simt::Dim3 grid, simt::Dim3 block, std::uint64_t width = 1,
                                       std::uint64_t height = 1) {
  simt::Memory memory;
  const std::uint64_t words = grid.count() * block.count();
  const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(words * 4));
  const auto program = simt::compile(module, "k");
  const simt::Launch launch{
      .grid = grid,
      .block = block,
      .arguments = {simt::value(out), simt::value(out), simt::value(width), simt::value(height)}};
  EXPECT_TRUE(simt::run(**program, launch, memory).ok());
  return memory.find("out")->data;
}

TEST(CoarsenGrid, ThreadsThatLeaveInLaunchesOfEverySize) {
  for (const std::string leave :
       {"setp.gt.u32 %p1, %r3, 2;\n@%p1 bra done;", "setp.le.u32 %p1, %r3, 2;\n@!%p1 bra done;",
        "setp.gt.u32 %p1, %r3, 2;\n@%p1 ret;", "setp.le.u32 %p1, %r3, 2;\n@!%p1 exit;",
        "setp.gt.u32 %p1, %r6, 40;\n@%p1 bra done;", "setp.gt.u32 %p1, %r6, 40;\n@%p1 ret;",
        // The first of two blocks that would be merged, and not the second.
        "and.b32 %r13, %r7, 1;\nsetp.eq.u32 %p1, %r13, 0;\n@%p1 bra done;",
        "and.b32 %r13, %r7, 1;\nsetp.eq.u32 %p1, %r13, 0;\n@%p1 ret;"}) {
    std::string source = count_of_threads(one_sum + "\n" + leave);
    source.replace(source.rfind("ret;"), 4, "done:\nret;");
    const Coarsened two(source, {.factors = {1, 2, 1}}, "", {.least_threads = 640});
    ASSERT_EQ(two.plan.refused.text, "") << leave;
    for (const std::uint32_t y : {1U, 2U, 3U, 9U, 10U, 11U})
      EXPECT_EQ(memory_after(two.result, {1, y, 1}, {4, 18, 1}),
                memory_after(two.module, {1, y, 1}, {4, 18, 1}))
          << leave << " blocks " << y;
  }
}

// 2^32 threads and more are no small launch.
TEST(CoarsenGrid, WarpsAreCountedSoThatTheirNumberFits32Bits) {
  const Coarsened two(by_rows, {.factors = {1, 2, 1}}, "", {.least_threads = 1000});
  EXPECT_THAT(two.text, HasSubstr("shr.u32"));
  EXPECT_THAT(two.text, HasSubstr(", 32;\n")); // rounded up
}

// Threads that end in the body by itself are gone, too, when others meet.
TEST(CoarsenGrid, ThreadsThatHaveEndedAreNotWaitedFor) {
  for (const std::string leave : {"@%p1 ret;", "@%p1 exit;", "@%p1 bra done;"}) {
    std::string source =
        count_of_threads(one_sum + "\nsetp.gt.u32 %p1, %r3, 2;\n" + leave + "\nbar.sync 0;");
    source.replace(source.rfind("ret;"), 4, "done:\nret;");
    const Coarsened two(source, {.factors = {1, 2, 1}}, "", {.least_threads = 640});
    ASSERT_EQ(two.plan.refused.text, "");
    EXPECT_THAT(two.text, HasSubstr("$ptxasw_large:"));
    for (const std::uint32_t y : {9U, 10U, 11U, 12U, 13U})
      EXPECT_EQ(memory_after(two.result, {1, y, 1}, {4, 16, 1}),
                memory_after(two.module, {1, y, 1}, {4, 16, 1}))
          << leave << " blocks " << y;
  }
}

// The body stands behind the question and nothing else, once, for all that is not merged.
TEST(CoarsenGrid, NothingButTheQuestionStandsInFrontOfTheBody) {
  const Coarsened two(by_rows, {.factors = {1, 2, 1}}, "", {.least_threads = 1000});
  const std::size_t body = two.text.find("$ptxasw_small:"), large = two.text.find("$ptxasw_large:");
  ASSERT_LT(body, large);
  const std::string question = two.text.substr(0, body);
  EXPECT_THAT(
      question.substr(question.find("one block does the work")),
      AllOf(Not(HasSubstr("%tid")), Not(HasSubstr("ld.")), HasSubstr("bra \t$ptxasw_large;")));
  EXPECT_EQ(two.text.find("a block by itself"), two.text.rfind("a block by itself"));
  EXPECT_GT(two.text.find("bra \t$ptxasw_small;"), large);
  EXPECT_LT(two.text.find("bra \t$ptxasw_small;"), two.text.find("all copies together"));
}

TEST(CoarsenGrid, BlocksAreCountedWhereTheirSizeIsKnown) {
  const std::string stated = count_of_threads(one_sum, ".reqntid 4, 2");
  const Coarsened two(stated, {.factors = {1, 2, 1}}, "", {.least_threads = 81});
  EXPECT_THAT(two.text, HasSubstr(", 11;")); // rounded up
  for (const simt::Dim3 grid : {simt::Dim3{1, 10, 1}, simt::Dim3{1, 11, 1}})
    check(two, {1, 2, 1}, grid, {4, 2, 1}, grid.y == 10);
}

// Only axes that the kernel reads are counted.
TEST(CoarsenGrid, OtherAxesAreNotCounted) {
  const Coarsened two(kernel_text("mov.u32 %r4, %ctaid.y;\nmul.wide.u32 %rd3, %r4, 4;\n"
                                  "add.s64 %rd3, %rd3, %rd2;\nst.global.u32 [%rd3], %r4;\nret;"),
                      {.factors = {1, 2, 1}}, "", {.least_threads = 1000});
  EXPECT_THAT(two.text, Not(HasSubstr("%nctaid.z")));
  EXPECT_THAT(two.text, Not(HasSubstr("%ntid.y")));
}

// Nothing leads to a form that runs copy by copy, so there is none.
TEST(CoarsenGrid, NoSequentialFormWithoutAWayThere) {
  EXPECT_THAT(Coarsened(by_blocks, Factors{1, 2, 1}).text, Not(HasSubstr("sequential")));
}

} // namespace
} // namespace ptxasw
