// Threads that go along an axis: the kernel with threads in the place of that loop does the same
// and touches the same; and which loops are no such ones.
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/other_kernel/sweep.hpp"
#include "passes/time_tile/ran.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string swept_form(const std::string& name) {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/" + name + ".ptx");
}

std::string with(std::string text, std::string_view old, std::string_view other) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  if (at != std::string::npos) text.replace(at, old.size(), other);
  return text;
}

// Of march_c, with other text in the place of some.
std::string columns(std::string_view old, std::string_view other) {
  return with(swept_form("march_c"), old, other);
}

// --- The same -----------------------------------------------------------------------------------

test::Ran ran(const std::shared_ptr<const ptx::Module>& module, simt::Dim3 grid, simt::Dim3 block,
              const std::vector<std::uint64_t>& sizes, std::size_t count, unsigned bytes) {
  return test::ran(module, "", grid, block, [&](simt::Memory& memory) {
    std::vector<simt::Argument> arguments;
    for (unsigned n = 0; n < 2; ++n)
      arguments.push_back(simt::value(memory.allocate(
          fmt::format("buffer{}", n), test::random_elements(count, bytes, true, n))));
    for (const std::uint64_t size : sizes)
      arguments.push_back(simt::value(size));
    return arguments;
  });
}

// An address has moved on when it is used.
std::string columns_that_move_first() {
  const std::string moves = "add.s64 \t%rd29, %rd29, %rd2;";
  return with(columns(moves, ""), "st.global.f32 \t[%rd29], %f10;",
              moves + "\nsub.s64 %rd14, %rd29, %rd2;\nst.global.f32 [%rd14], %f10;");
}

TEST(Sweep, LeavesTheSame) {
  struct Row {
    std::string text;
    unsigned bytes, axis;
    simt::Dim3 block;
    std::vector<std::uint64_t> more; // arguments
  };
  for (const Row& row :
       {Row{swept_form("march_c"), 4, 1, {32}, {}}, Row{columns_that_move_first(), 4, 1, {32}, {}},
        Row{swept_form("march_d"), 8, 1, {32}, {}},
        Row{swept_form("march_e"), 4, 2, {16, 4}, {9, 0x3f000000, 0x3dcccccd}}}) {
    const auto module = test::parsed(row.text);
    const emulator::Kernel kernel = test::emulate(*module, "");
    const passes::Swept made = passes::sweep(kernel);
    ASSERT_EQ(made.refused.text, "");
    ASSERT_TRUE(made.module);
    EXPECT_EQ(made.sweep->axis, row.axis);
    EXPECT_TRUE(made.kernel.loops.loops.empty());
    for (const auto& [nx, ny] : {std::pair{3U, 3U}, {40U, 7U}, {70U, 20U}}) {
      std::vector<std::uint64_t> sizes{nx, ny};
      sizes.insert(sizes.end(), row.more.begin(), row.more.end());
      const std::size_t count = std::size_t{nx} * ny * 9;
      simt::Dim3 grid{(nx + row.block.x - 1) / row.block.x};
      if (row.axis == 2) grid.y = (ny + row.block.y - 1) / row.block.y;
      const test::Ran before = ran(module, grid, row.block, sizes, count, row.bytes);
      (row.axis == 1 ? grid.y : grid.z) = row.axis == 1 ? ny + 3 : 12; // more than there are
      const test::Ran after = ran(made.module, grid, row.block, sizes, count, row.bytes);
      EXPECT_EQ(before.error, "");
      EXPECT_EQ(after.error, "");
      EXPECT_FALSE(simt::first_difference(before.memory, after.memory)) << row.text;
      EXPECT_EQ(before.touched, after.touched) << row.text;
    }
  }
}

TEST(Sweep, ReadsAlongThreeAxes) {
  const auto module = test::parsed(swept_form("march_e"));
  emulator::Kernel kernel = test::emulate(*module, "");
  const passes::StepPlan plan = passes::StepKernel(kernel).find();
  EXPECT_EQ(plan.refused.text, "");
  EXPECT_EQ(offsets_text(plan),
            "0(-1,0,0) 0(0,-1,0) 0(0,0,-1) 0(0,0,0) 0(0,0,1) 0(0,1,0) 0(1,0,0)");
}

// Blocks march through the planes that a thread of the program went through.
TEST(Sweep, MayBeOfPlanes) {
  const Stepped stepped(swept_form("march_e"), "",
                        {.count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 3});
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0, sizes = 0;
  for (const auto& [nx, ny, nz] : {std::tuple{3U, 3U, 3U}, {33U, 29U, 9U}, {70U, 31U, 7U}}) {
    const std::size_t count = std::size_t{nx} * ny * nz;
    const StepHost host{.stepped = stepped,
                        .grid = {(nx + 31) / 32, (ny + 3) / 4},
                        .block = {32, 4},
                        .arguments = {0, 1, nx, ny, nz, 0x3ecccccd, 0x3dcccccd},
                        .buffers = {test::random_elements(count, 4, true, 1),
                                    test::random_elements(count, 4, true, 2)},
                        .pointers = {0, 1}};
    ++sizes;
    EXPECT_EQ(host.fit_error(), "");
    EXPECT_EQ(host.difference(7, &merged), "") << nx << 'x' << ny << 'x' << nz;
    EXPECT_TRUE(host.loads_what_single_ones_touch(7));
  }
  EXPECT_EQ(merged, 2 * sizes);
}

TEST(Sweep, IsOfOneThreadAlongTheAxis) {
  const Stepped stepped(swept_form("march_c"), "",
                        {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 1, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  host.grid.y = 2;
  EXPECT_EQ(host.fit_error(), "several threads store to one element");
  host.grid.y = 1;
  host.block.y = 2;
  EXPECT_EQ(host.fit_error(), "several threads store to one element");
}

// An iteration that is done in any case, one that has no block of its own, numbers that wrap.
TEST(Sweep, AsksForItsEnd) {
  const std::string begins = "setp.lt.s32 \t%p4, %r8, 3;\n\t@%p4 bra \t$L__BB0_4;";
  const Stepped stepped(columns(begins, ""), "", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 1, 1}, 1);
  unsigned merged = 0;
  EXPECT_EQ(host.difference(5, &merged), "");
  EXPECT_EQ(merged, 1U);
  for (const auto& [ny, why] :
       std::vector<std::pair<std::uint32_t, std::string>>{{3, ""},
                                                          {2, "nothing is stored"},
                                                          {0, "nothing is stored"},
                                                          {0x80000000, "nothing"},
                                                          {65537, "the arrays overlap"},
                                                          {65538, "it is too large"},
                                                          {0x7fffffff, "the grid"}}) {
    host.arguments[3] = ny;
    EXPECT_EQ(host.fit_error().substr(0, why.size()), why) << ny;
    if (why.empty()) {
      EXPECT_EQ(host.fit_error(), "");
    }
  }
}

// --- What is none -------------------------------------------------------------------------------

std::string why_not_swept(const std::string& text) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, "");
  EXPECT_EQ(kernel.trace.refused.text, "");
  const passes::StepPlan plan = passes::StepKernel(kernel).find();
  EXPECT_NE(plan.refused.text, "") << text;
  const auto behind = plan.refused.text.find(": ");
  return behind == std::string::npos ? plan.refused.text : plan.refused.text.substr(behind + 2);
}

TEST(SweepRefused, WhereTheEndIsNotOfTheLaunch) {
  const char* const not_known = "how often a loop goes round is not known";
  const std::string end = "setp.lt.s32 \t%p5, %r17, %r4;", next = "add.s32 \t%r17, %r17, 1;";
  for (const std::string& text :
       {columns(end, "setp.lt.s32 %p5, %r17, %r3;"),  // its own place
        columns(end, "setp.lt.s32 %p5, %r17, %r10;"), // its block
        columns(end, "ld.global.u32 %r16, [%rd19];\nsetp.lt.s32 %p5, %r17, %r16;"),
        columns(next, "add.s32 %r17, %r17, 2;"), columns(next, "add.s32 %r17, %r17, %r3;"),
        columns("mov.u32 \t%r17, 1;", "mov.u32 %r17, %r2;"),
        // %ctaid.y and %ctaid.z are threads'
        columns("mov.u32 \t%r17, 1;", "mov.u32 %r17, %ctaid.y;\nmov.u32 %r17, %nctaid.z;\n"
                                      "mov.u32 %r17, 1;")})
    EXPECT_EQ(why_not_swept(text), not_known) << text;
  EXPECT_EQ(why_not_swept(columns("add.f32 \t%f4, %f3, %f2;",
                                  "add.f32 %f4, %f3, %f2;\nsetp.gt.f32 %p4, %f4, %f2;\n"
                                  "@%p4 bra $L__BB0_4;")),
            "a loop is left in front of its end");
}

TEST(SweepRefused, WhereValuesGoOn) {
  const char* const goes_on = "a value goes from iteration to iteration";
  const std::string moves = "add.s64 \t%rd29, %rd29, %rd2;", own = "add.f32 \t%f4, %f3, %f2;";
  for (const std::string& text :
       {columns(own, "add.f32 %f4, %f4, %f2;"), // a sum
        columns(own, "add.f32 %f4, %f3, %f0;\nmov.f32 %f0, %f2;"),
        columns(moves, "@%p1 add.s64 %rd29, %rd29, %rd2;"),
        columns(moves, "@%p1 bra past;\nadd.s64 %rd29, %rd29, %rd2;\npast:"),
        columns(moves, "add.s64 %rd29, %rd29, %rd2;\nadd.s64 %rd29, %rd29, %rd2;"),
        columns(moves, "add.s64 %rd29, %rd29, %rd28;"), // what grows itself
        columns(moves, "cvt.s64.s32 %rd14, %r17;\nadd.s64 %rd29, %rd29, %rd14;"),
        columns(moves, "mul.lo.s64 %rd29, %rd29, %rd2;"),
        columns(moves, "sub.s64 %rd29, %rd2, %rd29;"),
        columns(moves, "mov.u64 %rd29, %rd14;\nadd.s64 %rd14, %rd29, %rd2;"),
        columns(moves, "add.s32 %r16, %r17, 3;\ncvt.u64.u32 %rd29, %r16;")})
    EXPECT_EQ(why_not_swept(text), goes_on) << text;
}

TEST(SweepRefused, WhereMemoryIsTouchedElsewhere) {
  const char* const elsewhere = "it stores in front of a loop, or reads or stores behind it";
  const std::string front = "mov.u32 \t%r17, 1;", behind = "$L__BB0_4:";
  for (const std::string& text :
       {columns(front, "mov.u32 %r17, 1;\nst.global.f32 [%rd29], 0f00000000;"),
        columns(behind, "st.global.f32 [%rd29], 0f00000000;\n$L__BB0_4:"),
        columns(behind, "ld.global.f32 %f1, [%rd26];\n$L__BB0_4:")})
    EXPECT_EQ(why_not_swept(text), elsewhere) << text;
}

} // namespace
} // namespace ptxasw
