// Which accesses speak for which remap.
#include "passes/remap/remap_choice.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

using test::Emulated;
using test::kernel_text;

// %r3 = %tid.x, %r4 = %ctaid.y, n = %r1: `index` is %r5, of elements of 4 bytes.
unsigned lanes_for(const std::string& index, const std::string& access) {
  Emulated k(kernel_text("mov.u32 %r4, %ctaid.y;\n" + index +
                         "\nmul.wide.s32 %rd3, %r5, 4; add.s64 %rd3, %rd3, %rd1;\n" + access +
                         "\nret;"));
  const RemapProposal proposal = propose_thread_swap(k.kernel);
  EXPECT_EQ(proposal.remap.kind == RemapKind::thread_swap, proposal.remap.width != 0);
  return proposal.remap.width;
}

const char* const load = "ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3], %f1;";
const char* const down = "mad.lo.s32 %r5, %r3, %r1, %r4;"; // lanes n apart, rows next to each other
const char* const along = "mad.lo.s32 %r5, %r4, %r1, %r3;"; // the other way round

TEST(RemapChoice, LanesThatWalkTheSlowAxis) {
  EXPECT_EQ(lanes_for(down, load), 32U);
  EXPECT_EQ(lanes_for("mul.lo.s32 %r6, %r3, 1000; add.s32 %r5, %r6, %r4;", load), 32U);
  EXPECT_EQ(lanes_for(along, load), 0U);
  // Both are slow: nothing to gain.
  EXPECT_EQ(lanes_for("mul.lo.s32 %r6, %r3, %r1; mad.lo.s32 %r5, %r4, %r2, %r6;", load), 0U);
  EXPECT_EQ(lanes_for("mul.lo.s32 %r6, %r3, 2; add.s32 %r5, %r6, %r4;", load), 0U);
}

// One access each way: tiles of lanes, with few sectors for both.
TEST(RemapChoice, ATransposition) {
  EXPECT_EQ(lanes_for(down, std::string("ld.global.f32 %f1, [%rd3];") + along +
                                "mul.wide.s32 %rd4, %r5, 4; add.s64 %rd4, %rd4, %rd2;"
                                "st.global.f32 [%rd4], %f1;"),
            8U);
}

TEST(RemapChoice, TheDistanceBetweenLanesIsCheckedWhereItIsAParameter) {
  const auto stride = [](const std::string& index) {
    Emulated k(kernel_text("mov.u32 %r4, %ctaid.y;\n" + index +
                           "\nmul.wide.s32 %rd3, %r5, 4; add.s64 %rd3, %rd3, %rd1;\n" + load +
                           "\nret;"));
    const sym::Term t = propose_thread_swap(k.kernel).lane_stride;
    return t.valid() ? k.kernel.context->to_string(t) : "";
  };
  EXPECT_EQ(stride(down), "4*zext(n)");
  EXPECT_EQ(stride("mul.lo.s32 %r6, %r3, 1000; add.s32 %r5, %r6, %r4;"), "");
}

TEST(RemapChoice, OneAxisOnly) {
  Emulated k(kernel_text("mul.wide.s32 %rd3, %r3, 4096; add.s64 %rd3, %rd3, %rd1;"
                         "ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3], %f1; ret;"));
  EXPECT_EQ(propose_thread_swap(k.kernel).remap.kind, RemapKind::none);
}

// A product of n columns and depth m; what the proposal hangs on has its tests in cache_test and
// linear_loads_test.
RemapProposal column_for(const std::string& index, unsigned threads) {
  Emulated k(kernel_text("mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;\n"
                         "mad.lo.s32 %r6, %r4, %r5, %r3;\n" +
                         index + R"(
    div.s32 %r8, %r6, %r1;
    mul.lo.s32 %r7, %r8, %r1; sub.s32 %r9, %r6, %r7; mov.u32 %r10, 0;
    L:
    mad.lo.s32 %r11, %r8, %r2, %r10; mad.lo.s32 %r12, %r10, %r1, %r9;
    mul.wide.s32 %rd3, %r11, 4; add.s64 %rd3, %rd3, %rd1;
    mul.wide.s32 %rd4, %r12, 4; add.s64 %rd4, %rd4, %rd2;
    ld.global.nc.f32 %f1, [%rd3]; ld.global.nc.f32 %f2, [%rd4];
    add.s32 %r10, %r10, 1; setp.lt.s32 %p1, %r10, %r2; @%p1 bra L; ret;)"));
  return propose_linear_column(k.kernel, *target::find_profile("sm_90"), threads);
}

TEST(RemapChoice, AMatrixProduct) {
  EXPECT_EQ(column_for("", 0).remap.kind, RemapKind::linear_column);
  EXPECT_EQ(column_for("", 0).remap.width, 64U);
  EXPECT_EQ(column_for("", 32).remap.kind, RemapKind::none);
  EXPECT_EQ(column_for("", 32).why, "blocks of one warp share nothing");
  EXPECT_EQ(column_for("mov.u32 %r20, %laneid;", 0).remap.kind, RemapKind::none);
}

} // namespace
} // namespace ptxasw::passes
