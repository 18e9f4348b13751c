// Loops over places that were unrolled: the kernel with a thread for each place does the same and
// touches the same; entries for several steps do what the kernel itself does; and which loops are
// no such ones.
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/other_kernel/reroll.hpp"
#include "passes/time_tile/other_kernel/untile.hpp"
#include "passes/time_tile/ran.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string unrolled() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/unrolled.ptx");
}

struct Unrolled {
  const char* name;
  unsigned bytes, axis;
  std::vector<unsigned> order;        // of the arguments: 0 to 9 arrays, 10, 11, 12 nx, ny, nz
  std::vector<std::uint64_t> numbers; // 20 and on in `order`
};

const std::vector<Unrolled> all_unrolled{
    {"down", 4, 1, {0, 1, 10, 11}, {}},
    {"planes", 4, 2, {20, 21, 0, 1, 10, 11, 12}, {0x3f000000, 0x3dcccccd}},
    {"handed", 8, 2, {0, 1, 10, 11, 12}, {}},
    {"rim", 4, 2, {10, 11, 12, 0, 1}, {}},
    {"fields", 4, 1, {0, 1, 2, 3, 10, 11}, {}},
    {"masked", 4, 1, {0, 1, 2, 10, 11}, {}}};

test::Ran ran(const std::shared_ptr<const ptx::Module>& module, const Unrolled& row,
              std::array<unsigned, 3> sizes, bool is_swept) {
  const std::size_t count = std::size_t{sizes[0]} * sizes[1] * (sizes[2] + 2);
  simt::Dim3 grid{(sizes[0] + 15) / 16}, block{16};
  if (row.axis == 2) {
    block.y = 4;
    grid.y = (sizes[1] + 3) / 4;
  }
  // more than there are
  if (is_swept) (row.axis == 1 ? grid.y : grid.z) = sizes.at(row.axis) + 3;
  return test::ran(module, row.name, grid, block, [&](simt::Memory& memory) {
    std::vector<simt::Argument> arguments;
    for (const unsigned one : row.order)
      if (one >= 20)
        arguments.push_back(simt::value(row.numbers[one - 20]));
      else if (one >= 10)
        arguments.push_back(simt::value(std::uint64_t{sizes.at(one - 10)}));
      else
        arguments.push_back(simt::value(memory.allocate(
            fmt::format("buffer{}", one),
            test::random_elements(count, row.bytes, std::string(row.name) != "fields", one))));
    return arguments;
  });
}

TEST(Reroll, LeavesTheSame) {
  const auto module = test::parsed(unrolled());
  for (const Unrolled& row : all_unrolled) {
    const emulator::Kernel kernel = test::emulate(*module, row.name);
    const passes::Swept made = passes::reroll(kernel);
    ASSERT_EQ(made.refused.text, "") << row.name;
    ASSERT_TRUE(made.module) << row.name;
    EXPECT_EQ(made.sweep->axis, row.axis) << row.name;
    EXPECT_TRUE(made.kernel.loops.loops.empty()) << row.name;
    for (const unsigned last : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 12U, 17U}) {
      std::array<unsigned, 3> sizes{21, 6, 1};
      sizes.at(row.axis) = last;
      const test::Ran before = ran(module, row, sizes, false),
                      after = ran(made.module, row, sizes, true);
      EXPECT_EQ(before.error, "") << row.name;
      EXPECT_EQ(after.error, "") << row.name;
      EXPECT_FALSE(simt::first_difference(before.memory, after.memory)) << row.name << ' ' << last;
      // what goes from place to place is loaded in front of the loop, even if it has no places
      EXPECT_TRUE(std::ranges::includes(before.touched, after.touched)) << row.name << ' ' << last;
    }
  }
}

// Places along y, or planes; of several forms.
TEST(Reroll, MakesSteps) {
  for (const Unrolled& row : all_unrolled) {
    if (std::string(row.name) == "rim") continue; // read, but no entry is written for it yet
    const bool in_space = row.axis == 2;
    const Stepped stepped(
        unrolled(), row.name,
        in_space ? passes::StepShape{.count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 3}
                 : passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8});
    ASSERT_EQ(stepped.entry.refused.text, "") << row.name;
    unsigned merged = 0, sizes = 0;
    for (const auto& size :
         std::vector<std::array<unsigned, 3>>{{5, 3, 3}, {33, 29, 9}, {70, 31, 7}}) {
      const std::size_t count = std::size_t{size[0]} * size[1] * (in_space ? size[2] : 1);
      StepHost host{.stepped = stepped,
                    .grid = {(size[0] + 31) / 32},
                    .block = {32},
                    .arguments = {},
                    .buffers = {},
                    .pointers = {}};
      if (in_space) {
        host.block.y = 4;
        host.grid.y = (size[1] + 3) / 4;
      }
      for (const unsigned one : row.order) {
        if (one >= 10) {
          host.arguments.push_back(one >= 20 ? row.numbers[one - 20] : size.at(one - 10));
          continue;
        }
        host.pointers.push_back(static_cast<unsigned>(host.arguments.size()));
        host.arguments.push_back(one);
        host.buffers.push_back(
            test::random_elements(count, row.bytes, std::string(row.name) != "fields", one));
      }
      ++sizes;
      EXPECT_EQ(host.fit_error(), "") << row.name;
      EXPECT_EQ(host.difference(7, &merged), "") << row.name << ' ' << size[0];
      EXPECT_TRUE(host.loads_what_single_ones_touch(7)) << row.name;
    }
    EXPECT_EQ(merged, 2 * sizes) << row.name;
  }
}

// Of its iterations it is asked that there are some.
TEST(Reroll, AsksForItsEnd) {
  const Stepped stepped(unrolled(), "down", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 1, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  for (const auto& [ny, why] :
       std::vector<std::pair<std::uint32_t, std::string>>{{2, "nothing is stored"},
                                                          {0, "nothing is stored"},
                                                          {0x80000000, "nothing"},
                                                          {0x7fffffff, "the grid"}}) {
    host.arguments[3] = ny;
    EXPECT_EQ(host.fit_error().substr(0, why.size()), why) << ny;
  }
  host.arguments[3] = 35;
  host.grid.y = 2;
  EXPECT_EQ(host.fit_error(), "several threads store to one element");
}

// --- What is none -------------------------------------------------------------------------------

// With other text in the place of some, which is there once.
std::string with(const std::string& old, const std::string& other) {
  std::string text = unrolled();
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(old, at + 1), std::string::npos) << old;
  return text.replace(at, old.size(), other);
}

std::string why_not(const std::string& name, const std::string& text) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, name);
  EXPECT_EQ(kernel.trace.refused.text, "");
  const passes::StepPlan plan = passes::StepKernel(kernel).find();
  EXPECT_NE(plan.refused.text, "");
  return plan.refused.text;
}

struct Changed {
  const char *old, *other;
};

void expect_refused(const std::string& name, const std::string& why,
                    const std::vector<Changed>& rows) {
  for (const auto& [old, other] : rows)
    EXPECT_EQ(why_not(name, with(old, other)), why) << other;
}

TEST(RerollRefused, WhereIterationsDiffer) {
  expect_refused(
      "down", "iterations of a loop that was unrolled differ",
      {{"mul.f32 \t%f29, %f28, 0f3E000000;", "mul.f32 %f29, %f28, 0f3E000001;"}, // a number
       {"ld.global.nc.f32 \t%f22, [%rd47+4];", "ld.global.nc.f32 %f22, [%rd47+8];"},
       {"ld.global.nc.f32 \t%f25, [%rd44];", "ld.global.nc.f32 %f25, [%rd46];"}, // an array
       {"add.f32 \t%f24, %f23, %f22;", "sub.f32 %f24, %f23, %f22;"},
       {"add.f32 \t%f24, %f23, %f22;", "add.f32 %f24, %f22, %f23;"},
       {"add.f32 \t%f24, %f23, %f22;", "add.ftz.f32 %f24, %f23, %f22;"},
       {"add.f32 \t%f6, %f4, %f5;", "add.f32 %f6, %f4, %f40;"}, // of the iteration before
       {"st.global.f32 \t[%rd49], %f30;", "st.global.f32 [%rd49+4], %f30;"},
       {"st.global.f32 \t[%rd49], %f30;", "st.global.f32 [%rd47], %f30;"}, // to an array
       {"st.global.f32 \t[%rd49], %f30;", "st.global.f32 [%rd46], %f30;"}, // twice
       {"mul.f32 \t%f49, %f48, 0f3E000000;", "mul.f32 %f49, %f48, 0f3E000001;"},
       {"add.s64 \t%rd64, %rd64, %rd24;", "add.s64 %rd64, %rd64, %rd55;"},
       {"add.s32 \t%r36, %r36, 4;", "add.s32 %r36, %r36, 8;"}});
}

TEST(RerollRefused, WhereOtherElementsAreLoaded) {
  const char* const differ = "iterations of a loop that was unrolled differ";
  EXPECT_EQ(why_not("handed",
                    with("ld.global.f64 \t%fd26, [%rd29+8];", "ld.global.f64 %fd26, [%rd29+16];")),
            differ);
  EXPECT_EQ(
      why_not("fields", with("ld.global.u32 \t%r24, [%rd58];", "ld.global.s16 %r24, [%rd58];")),
      differ);
}

// The last plane is copied in the second of four iterations, too; or the first one in another one.
TEST(RerollRefused, WhereConditionsDiffer) {
  expect_refused("rim", "iterations of a loop that was unrolled differ",
                 {{"setp.eq.s32 \t%p18, %r33, %r8;", "setp.eq.s32 %p18, %r33, %r58;"},
                  {"setp.eq.s32 \t%p18, %r33, %r8;", "setp.eq.s32 %p18, %r33, 5;"},
                  {"setp.eq.s32 \t%p18, %r33, %r8;", "setp.ne.s32 %p18, %r33, %r8;"},
                  {"setp.eq.s32 \t%p18, %r33, %r8;", "setp.le.s32 %p18, %r33, %r8;"},
                  {"or.pred  \t%p19, %p18, %p1;", "and.pred %p19, %p18, %p1;"},
                  {"or.pred  \t%p19, %p18, %p1;", "mov.pred %p19, %p18;"},
                  {"or.pred  \t%p15, %p1, %p14;", "mov.pred %p15, %p1;"},
                  {"setp.eq.s32 \t%p14, %r107, 0;", "setp.eq.s32 %p14, %r107, 4;"},
                  {"setp.eq.s32 \t%p26, %r111, -1;", "setp.eq.s32 %p26, %r111, -2;"}});
  // the second of four is never the first plane: that is left out
  const auto module = test::parsed(with("or.pred  \t%p19, %p18, %p1;",
                                        "setp.eq.s32 %p19, %r33, 0;\nor.pred %p19, %p19, %p18;\n"
                                        "or.pred %p19, %p19, %p1;"));
  emulator::Kernel kernel = test::emulate(*module, "rim");
  EXPECT_EQ(passes::StepKernel(kernel).find().refused.text, "");
}

TEST(RerollRefused, WhereItGoesRoundAnotherNumberOfTimes) {
  expect_refused("down", "how often a loop goes round is not known",
                 {{"setp.ne.s32 \t%p7, %r34, 2;", "setp.ne.s32 %p7, %r34, 6;"},
                  {"setp.ne.s32 \t%p7, %r34, 2;", "setp.gt.s32 %p7, %r34, 8;"},
                  {"add.s32 \t%r34, %r34, -4;", "add.s32 %r34, %r34, -8;"},
                  {"setp.lt.u32 \t%p6, %r20, 3;", "setp.lt.u32 %p6, %r20, 4;"},
                  {"setp.lt.u32 \t%p6, %r20, 3;", "setp.lt.u32 %p6, %r13, 3;"},
                  {"setp.eq.s32 \t%p8, %r37, 0;", "setp.eq.s32 %p8, %r37, 1;"},
                  {"setp.ne.s32 \t%p9, %r37, 0;", "setp.ne.s32 %p9, %r37, 1;"},
                  {"add.s32 \t%r37, %r37, -1;", "add.s32 %r37, %r37, -2;"},
                  {"and.b32  \t%r37, %r19, 3;", "and.b32 %r37, %r19, 7;"},
                  {"and.b32  \t%r37, %r19, 3;", "and.b32 %r37, %r14, 3;"}});
}

// The kernel that is made has the text of both loops.
TEST(RerollRefused, WhereOthersSeeWhatIsDone) {
  for (const auto& [more, why] : {std::pair("@%p1 trap;", "an effect"),
                                  {"mov.u32 %r15, %clock;", "reads %clock"},
                                  {"bar.warp.sync -1;", "waits for other threads"}})
    EXPECT_NE(why_not("down", with("add.f32 \t%f24, %f23, %f22;",
                                   fmt::format("{}\nadd.f32 %f24, %f23, %f22;", more)))
                  .find(why),
              std::string::npos)
        << more;
}

TEST(RerollRefused, WhereMoreIsDone) {
  expect_refused(
      "down", "how often a loop goes round is not known",
      {{"mov.u64 \t%rd61, %rd2;\n\n$L__BB0_3:", "setp.gt.s32 %p4, %r13, 77;\n@%p4 bra $L__BB0_3;\n"
                                                "mov.u64 %rd61, %rd2;\n\n$L__BB0_3:"},
       {"mov.u32 \t%r36, 1;\n\t@%p6",
        "st.global.f32 [%rd1], 0f00000000;\nmov.u32 %r36, 1;\n\t@%p6"},
       {"st.global.f32 \t[%rd49], %f30;", "@%p1 st.global.f32 [%rd49], %f30;"},
       {"st.global.f32 \t[%rd49], %f30;", "@%p1 bra past;\nst.global.f32 [%rd49], %f30;\npast:"},
       {"setp.eq.s32 \t%p8, %r37, 0;",
        "st.global.f32 [%rd1], 0f00000000;\nsetp.eq.s32 %p8, %r37, 0;"}});
}

TEST(RerollRefused, WhereWhatIsHandedOnIsNotKnown) {
  expect_refused("down", "what a loop that was unrolled hands on is not known",
                 {{"add.s32 \t%r36, %r36, 4;", "add.s32 %r36, %r36, 5;"},
                  {"mov.u32 \t%r36, 1;\n\t@%p6", "mov.u32 %r36, 0;\n\t@%p6"}});
  // values that go from plane to plane
  for (const auto& [old, other] :
       {Changed{"mov.f64 \t%fd72, %fd9;", "mov.f64 %fd72, %fd71;"},
        {"mov.f64 \t%fd9, %fd71;", "mov.f64 %fd9, %fd72;"},
        {"ld.global.f64 \t%fd71, [%rd27];", "ld.global.f64 %fd71, [%rd27+8];"},
        {"ld.global.f64 \t%fd71, [%rd47];", "ld.global.f64 %fd71, [%rd47+8];"}})
    EXPECT_NE(why_not("handed", with(old, other)).find("unrolled"), std::string::npos) << other;
}

} // namespace
} // namespace ptxasw
