// What the number of a launch's threads is guessed from, and what it is not.
#include "rewrite/coarsen/extent.hpp"

#include "emulator/kernel_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ptxasw::rewrite {
namespace {

// "%r1 %r2>>3": bounds, times the places of a thread, less the bits that do not count.
std::string found(const std::string& code, std::array<unsigned, 3> factors = {1, 4, 1}) {
  const ptx::Module module = ptx::parse(
      test::kernel_text(code + "\n@%p1 ret;\nst.global.u32 [%rd2], %r3;\nret;"), "t.ptx");
  const ptx::Body body = ptx::resolve(module, module.functions[0]);
  const auto exit = std::ranges::find(body.insts, ptx::Op::ret, &ptx::Inst::op);
  std::string text;
  for (const Extent& extent :
       extents(body, static_cast<ptx::InstId>(exit - body.insts.begin()), factors)) {
    text += (text.empty() ? "" : " ") + body.registers[extent.bound].name;
    if (extent.is_wide) text += ".wide";
    if (extent.each != 1) text += fmt::format("/{}", extent.each);
    if (extent.shift != 0) text += fmt::format(">>{}", extent.shift);
  }
  return text;
}

const std::string x =
    "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\nmad.lo.u32 %r6, %r4, %r5, %r3;\n";
const std::string y = "mov.u32 %r14, %ctaid.y;\nmov.u32 %r15, %ntid.y;\nmov.u32 %r13, %tid.y;\n"
                      "mad.lo.u32 %r16, %r14, %r15, %r13;\n";
const std::string exit_x = "setp.ge.s32 %p1, %r6, %r1;\n";

TEST(Extents, WhatAPlaceIsComparedWith) {
  EXPECT_EQ(found(x + exit_x), "%r1");
  EXPECT_EQ(found(x + "setp.lt.u32 %p2, %r1, %r6;\nnot.pred %p1, %p2;"), "%r1");
  EXPECT_EQ(found(x + "add.s32 %r7, %r6, 4;\nsub.s32 %r8, %r1, 4;\nsetp.gt.s32 %p1, %r7, %r8;"),
            "%r8");
  EXPECT_EQ(
      found(x + "cvt.s64.s32 %rd3, %r6;\ncvt.s64.s32 %rd4, %r1;\nsetp.ge.s64 %p1, %rd3, %rd4;"),
      "%rd4.wide");
}

TEST(Extents, OneForEachAxis) {
  const std::string both = x + y + "setp.ge.s32 %p2, %r6, %r1;\nsetp.ge.s32 %p3, %r16, %r2;\n";
  EXPECT_EQ(found(both + "or.pred %p1, %p2, %p3;", {1, 1, 1}), "%r1 %r2");
  EXPECT_EQ(
      found(x + y + "setp.ge.s32 %p2, %r6, %r1;\nsetp.ge.or.s32 %p1, %r16, %r2, %p2;", {1, 1, 1}),
      "%r1 %r2");
  EXPECT_EQ(found(both + "setp.lt.s32 %p4, %r6, 1;\nor.pred %p5, %p2, %p4;\nor.pred %p1, %p5, %p3;",
                  {1, 1, 1}),
            "%r1 %r2")
      << "a rim in front";
  EXPECT_EQ(found(x + y + exit_x), "") << "y is not compared";
  EXPECT_EQ(found(x + y +
                  "mov.u32 %r17, %nctaid.x;\nmul.lo.u32 %r18, %r17, %r5;\n"
                  "mad.lo.u32 %r19, %r16, %r18, %r6;\nsetp.ge.u32 %p1, %r19, %r1;"),
            "%r1")
      << "numbered through";
}

// With few blocks along an axis there is nothing to merge, whatever lies along the other one.
TEST(Extents, FewBlocksAlongAMergedAxisAreFew) {
  const std::string both = x + y +
                           "setp.ge.s32 %p2, %r6, %r1;\nsetp.ge.s32 %p3, %r16, %r2;\n"
                           "or.pred %p1, %p2, %p3;";
  EXPECT_EQ(found(both, {1, 4, 1}), "%r1 %r2>>5");
  EXPECT_EQ(found(both, {2, 1, 1}), "%r1>>4 %r2");
  const std::string flat = x + "mov.u32 %r14, %ctaid.y;\nsetp.ge.s32 %p2, %r6, %r1;\n"
                               "setp.ge.s32 %p3, %r14, %r2;\nor.pred %p1, %p2, %p3;";
  EXPECT_EQ(found(flat, {1, 8, 1}), "%r1 %r2>>4") << "blocks of one row";
  EXPECT_EQ(found(x + exit_x, {8, 1, 1}), "%r1") << "the bound itself is the number";
}

TEST(Extents, AThreadMayHaveSeveralPlaces) {
  EXPECT_EQ(found(x + "shl.b32 %r7, %r6, 2;\nsetp.ge.s32 %p1, %r7, %r1;"), "%r1/4");
  EXPECT_EQ(found(x + "mul.lo.s32 %r7, %r6, 3;\nsetp.ge.s32 %p1, %r7, %r1;"), "%r1/3");
  EXPECT_EQ(
      found("mov.u32 %r4, %ctaid.x;\nshl.b32 %r5, %r4, 8;\nadd.u32 %r6, %r5, %r3;\n" + exit_x),
      "%r1")
      << "256 threads in a block";
  EXPECT_EQ(found(x + "shl.b32 %r7, %r6, %r2;\nsetp.ge.s32 %p1, %r7, %r1;"), "");
  EXPECT_EQ(product_of_threads({{.each = 4}}, 1000), 4000U);
  EXPECT_EQ(product_of_threads({{.each = 1}, {.each = 1, .shift = 3}}, 1001), 126U);
  EXPECT_GT(product_of_threads({{.each = 1 << 16}, {.each = 1 << 16}}, ~std::uint64_t{0}),
            std::uint64_t{1} << 40);
}

TEST(Extents, NotWhatSaysNothingOfTheLaunch) {
  EXPECT_EQ(found(x + "add.u32 %r7, %r6, %r2;\nsetp.ge.s32 %p1, %r7, %r1;"), "")
      << "a part of the places";
  EXPECT_EQ(found("mov.u32 %r4, %ctaid.x;\nsetp.ge.s32 %p1, %r4, %r1;"), "") << "a row a block";
  EXPECT_EQ(found("setp.ge.s32 %p1, %r3, %r1;"), "") << "of one block";
  EXPECT_EQ(found(x + "setp.ge.s32 %p1, %r6, 1000;"), "");
  EXPECT_EQ(found(x + "mov.u32 %r7, 1000;\nsetp.ge.s32 %p1, %r6, %r7;"), "");
  EXPECT_EQ(found(x + "add.u32 %r7, %r1, %r3;\nsetp.ge.s32 %p1, %r6, %r7;"), "") << "of a thread";
  EXPECT_EQ(found(x + "and.b32 %r7, %r6, 31;\nsetp.ge.s32 %p1, %r7, %r1;"), "");
  EXPECT_EQ(found(x + "mul.hi.u32 %r7, %r6, 77;\nsetp.ge.s32 %p1, %r7, %r1;"), "");
  EXPECT_EQ(found(x + "mul.lo.u32 %r7, %r6, %r4;\nsetp.ge.s32 %p1, %r7, %r1;"), "");
  EXPECT_EQ(found(x + "mov.u32 %r7, %laneid;\nadd.u32 %r8, %r7, %r1;\nsetp.ge.s32 %p1, %r6, %r8;"),
            "")
      << "a bound for each lane";
  EXPECT_EQ(found(x + "mov.u32 %r7, %warpid;\nadd.u32 %r8, %r7, %r6;\nsetp.ge.s32 %p1, %r8, %r1;"),
            "");
  EXPECT_EQ(found(x + "setp.eq.u32 %p3, %r2, 0;\n@%p3 add.u32 %r6, %r6, 1;\n" + exit_x), "");
  EXPECT_EQ(found(x + "setp.eq.u32 %p3, %r3, 0;\n@%p3 add.u32 %r1, %r1, 1;\n" + exit_x), "")
      << "a bound for each thread";
  EXPECT_EQ(found(x + "add.u32 %r1, %r2+4, %r3;\n" + exit_x), "") << "not understood";
  EXPECT_EQ(found(x + "of_the_lane.u32 %r1, %r2;\n" + exit_x), "") << "of a later ISA";
  EXPECT_EQ(
      found(x + "cvt.rn.f32.u32 %f1, %r6;\ncvt.rn.f32.u32 %f2, %r1;\nsetp.ge.f32 %p1, %f1, %f2;"),
      "");
}

// `if (x >= n || x < y) return;`
TEST(Extents, WhatBoundsOneSideOfADiagonalBoundsTheOther) {
  const std::string below = x + y + "setp.lt.s32 %p2, %r6, %r16;\n" + exit_x;
  const std::string either = "\nor.pred %p1, %p1, %p2;";
  EXPECT_EQ(found(below), "") << "another question than the one the exit asks";
  const std::string both = found(below + either);
  EXPECT_EQ(both, found(x + y + exit_x + "setp.ge.s32 %p2, %r16, %r1;" + either));
  EXPECT_NE(both, "");
  EXPECT_EQ(found(x + y + "setp.ne.s32 %p2, %r6, %r16;\n" + exit_x + either), "") << "no order";
}

double at_work(const std::string& code) {
  const ptx::Module module = ptx::parse(test::kernel_text(code + "\nret;"), "t.ptx");
  return share_at_work(ptx::resolve(module, module.functions[0]));
}

TEST(Extents, HalfOfTheBlocksLeaveBesideADiagonal) {
  const std::string leave = "@%p1 ret;\nst.global.u32 [%rd2], %r3;";
  EXPECT_EQ(at_work(x + y + "setp.lt.s32 %p1, %r6, %r16;\n" + leave), 0.5);
  EXPECT_EQ(at_work(x + y + exit_x + "@%p1 ret;\nsetp.gt.s32 %p1, %r16, %r6;\n" + leave), 0.5);
  EXPECT_EQ(at_work(x + "mov.u32 %r14, %ctaid.y;\nsetp.lt.u32 %p1, %r14, %r4;\n" + leave), 0.5)
      << "blocks";
  EXPECT_EQ(at_work(x + y + exit_x + leave), 1);
  EXPECT_EQ(at_work(x + y + "setp.ne.s32 %p1, %r6, %r16;\n" + leave), 1);
  EXPECT_EQ(at_work(x + "add.u32 %r7, %r4, 1;\nsetp.lt.u32 %p1, %r7, %r6;\n" + leave), 1)
      << "one axis";
  EXPECT_EQ(at_work(x + y + "setp.lt.u32 %p1, %r13, %r3;\n" + leave), 1) << "in each block";
  EXPECT_EQ(at_work(x + y + "setp.lt.u32 %p1, %r13, %r6;\n" + leave), 1) << "a rim";
  EXPECT_EQ(at_work(x + y + "and.b32 %r7, %r6, 15;\nsetp.lt.u32 %p1, %r7, %r16;\n" + leave), 1);
  EXPECT_EQ(at_work(x + y + "ld.global.u32 %r7, [%rd2];\nsetp.lt.u32 %p1, %r6, %r7;\n" + leave), 1)
      << "data";
}

} // namespace
} // namespace ptxasw::rewrite
