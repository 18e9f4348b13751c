// What coarsened kernels look like: one small kernel in full, and the parts that it does not show.
#include "passes/coarsen/coarsen_case.hpp"
#include "passes/coarsen/cost/guard_cost.hpp"

#include "emulator/kernel_text.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace ptxasw {
namespace {

using test::Coarsened;
using test::Factors;
using test::kernel_text;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* sum_of_two_rows = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny)
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<6>;

	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [nx];
	ld.param.u32 %r2, [ny];
	mov.u32 %r3, %tid.x;
	mov.u32 %r4, %ctaid.y;
	setp.ge.u32 %p1, %r4, %r2;
	@%p1 bra done;
	mad.lo.s32 %r5, %r4, %r1, %r3; // this row
	add.s32 %r6, %r5, %r1;
	mul.wide.s32 %rd3, %r5, 4;
	mul.wide.s32 %rd4, %r6, 4;
	add.s64 %rd5, %rd1, %rd4;
	ld.global.f32 %f1, [%rd5];
	add.s64 %rd5, %rd1, %rd3;
	ld.global.f32 %f2, [%rd5];
	add.f32 %f3, %f1, %f2;
	add.s64 %rd5, %rd2, %rd3;
	st.global.f32 [%rd5], %f3;
done:
	ret;
}
)";

// 2^24 + 1 is no f32: the bound must not be smaller than the sum.
TEST(CoarsenText, TheBoundIsRoundedUp) {
  const Coarsened two(kernel_text(R"(mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    add.s32 %r6, %r5, 16777217;
    mul.wide.s32 %rd3, %r6, 4;
    mul.wide.s32 %rd4, %r1, 4;
    add.s64 %rd3, %rd1, %rd3;
    add.s64 %rd4, %rd3, %rd4;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd3];
    ret;)"),
                      Factors{1, 2, 1});
  EXPECT_EQ(two.report.loads_left, 3U);
  EXPECT_THAT(two.text, HasSubstr(", 0f4B800001;")); // the constant
  EXPECT_THAT(two.text, HasSubstr("mul.rp.f32"));    // n times %ctaid.y
  EXPECT_THAT(two.text, HasSubstr("setp.geu.f32"));  // and so does what is not a number
  EXPECT_THAT(two.text, Not(HasSubstr("0f4B800000")));
}

TEST(CoarsenText, InFull) {
  const Coarsened two(sum_of_two_rows, Factors{1, 2, 1});
  ASSERT_EQ(two.plan.refused.text, "");
  EXPECT_EQ(two.text,
            test::read_file(PTXASW_SOURCE_DIR "/tests/passes/coarsen/coarsen_golden.ptx"));
  EXPECT_TRUE(two.result->diagnostics.empty());
}

TEST(CoarsenText, WhatIsReported) {
  const Coarsened four(sum_of_two_rows, Factors{1, 4, 1});
  EXPECT_EQ(four.report.copies, 4U);
  EXPECT_EQ(four.report.loads, 8U);
  EXPECT_EQ(four.report.loads_left, 5U);
  EXPECT_EQ(four.report.loads_moved, 3U);
  EXPECT_EQ(four.report.instructions, 20U);
  EXPECT_EQ(four.report.shared, 6U);
  EXPECT_EQ(four.report.agreements, 1U);
}

// The addresses that only covered loads needed are gone: those of three copies.
TEST(CoarsenText, WhatItCosts) {
  std::string source = sum_of_two_rows;
  const std::string address = "add.s64 %rd5, %rd1, %rd3;\n\tld.global.f32 %f2, [%rd5];";
  source.replace(source.find(address), address.size(),
                 "add.s64 %rd0, %rd1, %rd3;\n\tld.global.f32 %f2, [%rd0];");
  const Coarsened four(source, Factors{1, 4, 1});
  const passes::CoarsenCost cost = passes::coarsen_cost(four.kernel, four.plan);
  EXPECT_EQ(cost.before.loads, 8);
  EXPECT_EQ(cost.after.loads, 5);
  EXPECT_EQ(cost.after.load_bytes, 20);
  EXPECT_EQ(cost.before.stores, 4);
  EXPECT_EQ(cost.after.stores, 4);
  EXPECT_EQ(cost.before.other, 4 * 13);
  EXPECT_EQ(cost.after.other, 2 + 4 * 11 - 3);
}

TEST(CoarsenText, ARefusedKernelIsLeftAlone) {
  const Coarsened refused(kernel_text("bar.sync 0;\nret;"), Factors{1, 2, 1});
  EXPECT_NE(refused.plan.refused.text, "");
  EXPECT_EQ(refused.text, *refused.module->text);
}

TEST(CoarsenText, NamesThatAreTaken) {
  std::string source = sum_of_two_rows;
  source.replace(source.find("this row"), 8, "_c1 $ptxasw_ %ptxasw");
  const Coarsened two(source, Factors{1, 2, 1});
  EXPECT_THAT(two.text, HasSubstr("%f_cc1_3"));
  EXPECT_THAT(two.text, HasSubstr("$ptxasw__sequential:"));
  EXPECT_THAT(two.text, HasSubstr(".reg .b32 \t%ptxasw1_b32_<"));
  EXPECT_THAT(two.text, Not(HasSubstr("%f_c1_")));
}

// One name in two blocks, a stem with two types, a name without a number, one with a long number.
TEST(CoarsenText, RegistersByAnyName) {
  const Coarsened two(kernel_text(R"(
    .reg .b32 row, %x1, big123456;
    .reg .b64 %x2;
    mov.u32 row, %ctaid.y;
    { .reg .b32 t; add.s32 t, row, 1; mov.b32 %x1, t; }
    { .reg .b64 t; cvt.u64.u32 t, %x1; mov.b64 %x2, t; }
    add.s32 big123456, %x1, 2;
    shl.b64 %x2, %x2, 2;
    add.s64 %x2, %x2, %rd2;
    st.global.u32 [%x2], big123456;
    ret;)"),
                      Factors{1, 2, 1});
  ASSERT_EQ(two.plan.refused.text, "");
  for (const char* declaration : {".reg .b32 \trow_c1;", ".reg .b32 \t%x1_c1;",
                                  ".reg .b64 \t%x2_c1;", ".reg .b32 \tbig123456_c1;"}) {
    EXPECT_THAT(two.text, HasSubstr(declaration));
  }
  EXPECT_THAT(two.text, HasSubstr("add.s32 t_r9_c1, row_c1, 1;"));
  EXPECT_TRUE(two.result->diagnostics.empty());
  EXPECT_TRUE(ptx::resolve(*two.result, two.result->functions[0]).usable);
}

TEST(CoarsenText, OddFactorsAndSeveralAxes) {
  std::string source = sum_of_two_rows;
  source.replace(source.find("%tid.x"), 6, "%ctaid.z");
  const Coarsened six(source, Factors{1, 3, 2});
  EXPECT_EQ(six.report.copies, 6U);
  EXPECT_THAT(six.text, HasSubstr("rem.u32 \t"));
  EXPECT_THAT(six.text, HasSubstr("$ptxasw_again_y:"));
  EXPECT_THAT(six.text, HasSubstr("$ptxasw_again_z:"));
  EXPECT_THAT(six.text, HasSubstr("%f_c5_3"));
}

// The host divides the grid: no block is idle, and %nctaid is what it was.
TEST(CoarsenText, AGridThatIsDividedAlready) {
  std::string source = sum_of_two_rows;
  source.replace(source.find("setp.ge.u32"), 0, "mov.u32 %r2, %nctaid.y;\n\t");
  const Coarsened two(source, passes::BlockOptions{.factors = {1, 2, 1}}, "",
                      {.grid = CoarsenGrid::host});
  EXPECT_THAT(two.text, Not(HasSubstr("_0 ret;")));
  EXPECT_THAT(two.text, HasSubstr("// ptxasw-launch: {\"kernel\": \"sum\", "
                                  "\"grid_divided_by\": [1, 2, 1]}\n"));
  EXPECT_THAT(two.text, HasSubstr("mul.lo.u32 \t%ptxasw_b32_1, %ptxasw_b32_1, 2;"));
  EXPECT_THAT(two.text, HasSubstr("mov.u32 %r2, %ptxasw_b32_1;"));
}

TEST(CoarsenText, NegatedExitsLeaveWhenEveryCopyDoes) {
  std::string source = sum_of_two_rows;
  source.replace(source.find("setp.ge.u32"), 11, "setp.lt.u32");
  source.replace(source.find("@%p1 bra"), 8, "@!%p1 bra");
  const Coarsened two(source, Factors{1, 2, 1});
  EXPECT_THAT(two.text, HasSubstr("and.pred \t%ptxasw_pred_2, %p1, %p_c1_1;\n"
                                  "\t@%ptxasw_pred_2 bra \t$ptxasw_stay_0;\n"
                                  "\tor.pred \t%ptxasw_pred_3, %p1, %p_c1_1;\n"
                                  "\t@!%ptxasw_pred_3 bra done;\n"
                                  "\tbra \t$ptxasw_sequential;\n"));
}

// The source's register is written again before the covered load: its value is kept aside.
TEST(CoarsenText, ValuesAreKeptWhereTheirRegisterIsNot) {
  std::string source = sum_of_two_rows;
  source.replace(source.find("ld.global.f32 %f2, [%rd5];"), 26,
                 "mov.f32 %f2, %f1;\n\tld.global.f32 %f1, [%rd5];");
  const Coarsened two(source, Factors{1, 2, 1});
  EXPECT_EQ(two.report.loads_left, 3U);
  EXPECT_THAT(two.text, HasSubstr("mov.b32 \t%ptxasw_b32_0, %f1;"));
  EXPECT_THAT(two.text, HasSubstr("mov.b32 \t%f_c1_1, %ptxasw_b32_0;"));
}

// The .loc of a call stands before the { } of what was inlined there, of which no copy is written.
TEST(CoarsenText, CallersOfInlinedCodeAreStatedFirst) {
  std::ifstream file(PTXASW_SOURCE_DIR "/tests/corpus/lineinfo_inlined_at.ptx");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  for (const passes::CopyOrder order :
       {passes::CopyOrder::copies, passes::CopyOrder::instructions}) {
    const Coarsened four(source, passes::BlockOptions{.factors = {1, 4, 1}, .order = order});
    ASSERT_TRUE(four.plan.refused.empty()) << four.plan.refused.text;
    std::set<std::array<std::uint32_t, 3>> stated;
    for (const ptx::Location& l : four.result->locations) {
      EXPECT_TRUE(l.inlined_at[0] == 0 || stated.contains(l.inlined_at)) << l.line << '\n'
                                                                         << four.text;
      stated.insert({l.file, l.line, l.column});
    }
  }
}

} // namespace
} // namespace ptxasw
