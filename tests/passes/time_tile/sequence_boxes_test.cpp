// Stages whose places are not those of the others: beside them, or few of them.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace ptxasw::sequence_boxes {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageLaunch;
using ::testing::HasSubstr;

// kernel NAME(a, b, nx, ny, pitch): behind the guards a's element of (%r1, %r2) lies at %rd5, b's
// at %rd6. %r3, %r4 and %r5 are the sizes.
std::string kernel(const std::string& name, const std::string& guards, const std::string& body,
                   const char* row = "%r2") {
  return fmt::format(R"(.visible .entry {0}(.param .u64 {0}_0, .param .u64 {0}_1, .param .u32 {0}_2,
                                   .param .u32 {0}_3, .param .u32 {0}_4)
{{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<9>;
.reg .f32 %f<9>;
mov.u32 %r11, %ctaid.x;
mov.u32 %r12, %ntid.x;
mov.u32 %r13, %tid.x;
mad.lo.s32 %r1, %r11, %r12, %r13;
mov.u32 %r14, %ctaid.y;
mov.u32 %r15, %ntid.y;
mov.u32 %r16, %tid.y;
mad.lo.s32 %r2, %r14, %r15, %r16;
ld.param.u32 %r3, [{0}_2];
ld.param.u32 %r4, [{0}_3];
ld.param.u32 %r5, [{0}_4];
{1}
ld.param.u64 %rd1, [{0}_0];
ld.param.u64 %rd2, [{0}_1];
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r17, {3}, %r5, %r1;
mul.wide.s32 %rd7, %r17, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
{2}
end: ret;
}}
)",
                     name, guards, body, row);
}

constexpr const char *of_columns = "setp.ge.s32 %p1, %r1, %r3;\n@%p1 bra end;\n",
                     *of_rows = "setp.ge.s32 %p3, %r2, %r4;\n@%p3 bra end;\n",
                     *not_at_the_rim = "setp.lt.s32 %p1, %r1, 1;\n@%p1 bra end;\n"
                                       "sub.s32 %r6, %r3, 1;\n"
                                       "setp.ge.s32 %p2, %r1, %r6;\n@%p2 bra end;\n";
// a is twice the neighbour's b, or a itself.
constexpr const char *beside = "ld.global.f32 %f1, [%rd6+4];\nld.global.f32 %f2, [%rd6+-4];\n"
                               "add.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\n",
                     *doubled = "ld.global.f32 %f1, [%rd5];\nadd.rn.f32 %f2, %f1, %f1;\n"
                                "st.global.f32 [%rd5], %f2;\n";

std::string text(const std::vector<std::string>& kernels) {
  std::string all = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (const std::string& one : kernels)
    all += one;
  return all;
}

struct Sizes {
  unsigned nx = 0, ny = 0, pitch = 0;
};

StageLaunch stage(const char* kernel, int a, int b, const Sizes& n, unsigned columns) {
  return {kernel,
          blocks(columns, n.ny),
          {16, 4},
          {buffer(a), buffer(b), number(n.nx), number(n.ny), number(n.pitch)}};
}

std::vector<std::uint8_t> data(std::size_t count, unsigned seed) {
  return test::random_elements(count, 4, true, seed);
}

// A column behind the last one is the first one of the next row, if rows are no longer than that.
TEST(SequenceBoxes, OfStagesBesideEachOther) {
  const std::string code =
      text({kernel("inside", std::string(not_at_the_rim) + of_rows, beside),
            kernel("copied", std::string(not_at_the_rim) + of_rows, doubled),
            kernel("behind", std::string("setp.ne.s32 %p1, %r1, %r3;\n@%p1 bra end;\n") + of_rows,
                   doubled)});
  const auto difference = [&](unsigned pitch) {
    const Sizes n{40, 20, pitch};
    const SequenceCase made(
        code,
        {stage("inside", 0, 1, n, 40), stage("copied", 1, 0, n, 40), stage("behind", 1, 0, n, 48)},
        {data(2000, 1), data(2000, 2)}, {.count = 1, .width = 32, .strips = 2, .rows = 8});
    EXPECT_EQ(made.plan.refused.text, "");
    EXPECT_EQ(made.entry.refused.text, "");
    return made.difference({1, 1});
  };
  EXPECT_EQ(difference(41), "");
  EXPECT_THAT(difference(40), HasSubstr("have one element"));
}

// Where a stage that stores in few places does not, the array that it has alone is not there.
TEST(SequenceBoxes, OfAnArrayThatOnlyTheRimHas) {
  const std::string code =
      text({kernel("inside", std::string(not_at_the_rim) + of_rows, beside),
            kernel("back", std::string(not_at_the_rim) + of_rows, doubled),
            kernel("rim", std::string("setp.ne.s32 %p3, %r2, 0;\n@%p3 bra end;\n") + of_columns,
                   "ld.global.f32 %f1, [%rd5];\nld.global.f32 %f2, [%rd6];\n"
                   "add.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\n")});
  const Sizes n{100, 90, 100};
  const SequenceCase made(
      code,
      {stage("inside", 0, 1, n, 100), stage("back", 1, 0, n, 100), stage("rim", 2, 0, n, 100)},
      {data(9000, 1), data(9000, 2), data(100, 3)},
      {.count = 2, .width = 32, .strips = 2, .rows = 8});
  test::expect_the_same(made);
}

// Nor is what lies in front of all that is read beside a place: here where a region begins.
TEST(SequenceBoxes, OfAnArrayThatIsReadBesideAPlace) {
  const std::string code =
      text({kernel("inside",
                   "setp.lt.s32 %p1, %r1, 31;\n@%p1 bra end;\nsub.s32 %r6, %r3, 1;\n"
                   "setp.ge.s32 %p2, %r1, %r6;\n@%p2 bra end;\n" +
                       std::string(of_rows),
                   "ld.global.f32 %f1, [%rd6+4];\nld.global.f32 %f2, [%rd5];\n"
                   "add.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\n"),
            kernel("rim",
                   "sub.s32 %r6, %r3, 1;\nsetp.ne.s32 %p1, %r1, %r6;\n@%p1 bra end;\n" +
                       std::string(of_rows),
                   doubled)});
  const Sizes n{100, 90, 100};
  const SequenceCase made(code, {stage("inside", 0, 1, n, 100), stage("rim", 1, 0, n, 100)},
                          {data(9000, 1), data(9000, 2)},
                          {.count = 1, .width = 32, .strips = 2, .rows = 8});
  test::expect_the_same(made);
}

// Along an axis of which elements know nothing there is one thread, and guards and values may ask
// which.
TEST(SequenceBoxes, OfOneRow) {
  for (const char* leaves : {"eq", "ne"}) {
    const std::string of_row =
        fmt::format("and.b32 %r7, %r2, 1;\nsetp.{}.s32 %p3, %r7, 0;\n@%p3 bra end;\n", leaves);
    const std::string code = text(
        {kernel("inside", not_at_the_rim + of_row, beside, "0"),
         kernel("back",
                std::string(not_at_the_rim) +
                    "and.b32 %r9, %r2, 4;\nsetp.ne.s32 %p3, %r9, 0;\n@%p3 bra end;\n",
                "ld.global.f32 %f1, [%rd5];\nadd.s32 %r7, %r2, 3;\n"
                "cvt.rn.f32.s32 %f2, %r7;\nadd.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\n",
                "0"),
         kernel("slanted", "add.s32 %r7, %r2, 70;\nsetp.gt.s32 %p3, %r1, %r7;\n@%p3 bra end;\n",
                doubled, "0")});
    const Sizes n{200, 1, 200};
    std::vector<StageLaunch> stages{stage("inside", 0, 1, n, 200), stage("back", 1, 0, n, 200),
                                    stage("slanted", 1, 0, n, 200)};
    for (StageLaunch& one : stages)
      one.block = {16, 1};
    const SequenceCase made(code, stages, {data(200, 1), data(200, 2)},
                            {.count = 3, .width = 64, .strips = 1, .rows = 1});
    test::expect_the_same(made);
  }
}

} // namespace
} // namespace ptxasw::sequence_boxes
