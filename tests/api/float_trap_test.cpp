// Kernels whose bits ptxas may change when only the code around their arithmetic changes (each seen
// to differ on an H200 after a rewrite). As long as nobody has asked ptxas they stay as they are.
#include "ptxasw/ptxasw.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

// Three rows of a column are loaded, so that neighbouring blocks share loads.
std::string rows(const std::string& arithmetic) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .pred %p<4>;
.reg .b32 %r<20>;
.reg .f32 %f<20>;
.reg .b64 %rd<20>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r1, %ctaid.y;
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r1, 4096;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd5, %rd3, %rd4;
add.s64 %rd6, %rd1, %rd5;
add.s64 %rd7, %rd2, %rd5;
ld.global.nc.f32 %f1, [%rd6];
ld.global.nc.f32 %f2, [%rd6+4096];
ld.global.nc.f32 %f3, [%rd6+8192];
{}
st.global.f32 [%rd7], %f9;
ret;
}}
)",
                     arithmetic);
}

Optimized merged(const std::string& arithmetic, bool exact) {
  Options options;
  EXPECT_EQ(apply_option(options, "coarsen=y:4"), std::nullopt);
  EXPECT_EQ(apply_option(options, exact ? "fp-contract=exact" : "fp-contract=any"), std::nullopt);
  return optimize(rows(arithmetic), "k.ptx", options);
}

TEST(FloatTraps, StayAsTheyAreUntilPtxasWasAsked) {
  for (const char* arithmetic : {
           "div.approx.ftz.f32 %f4, %f1, %f2;\ndiv.approx.ftz.f32 %f5, %f3, %f2;\n"
           "sub.ftz.f32 %f9, %f4, %f5;",
           "div.full.f32 %f4, %f1, %f2;\ndiv.full.f32 %f5, %f3, %f2;\nsub.f32 %f9, %f4, %f5;",
           "mul.f32 %f4, %f1, %f2;\nmov.f32 %f6, %f4;\nmul.f32 %f5, %f3, %f2;\nmov.f32 %f7, %f5;\n"
           "sub.f32 %f9, %f6, %f7;",
           "mul.f32 %f4, %f1, %f2;\nmov.b32 %r5, %f4;\nmov.b32 %f6, %r5;\nmul.f32 %f5, %f3, %f2;\n"
           "add.f32 %f9, %f6, %f5;",
           "mul.f32 %f4, %f1, %f2;\nmax.f32 %f6, %f4, %f4;\nadd.f32 %f9, %f6, %f3;",
           "mov.u32 %r5, 0;\nmov.f32 %f9, 0f00000000;\n$L:\ncvt.rn.f32.s32 %f4, %r5;\n"
           "rsqrt.approx.f32 %f5, %f4;\nfma.rn.f32 %f9, %f5, %f1, %f9;\nadd.s32 %r5, %r5, 1;\n"
           "setp.lt.s32 %p1, %r5, 9;\n@%p1 bra $L;",
       }) {
    EXPECT_TRUE(merged(arithmetic, false).changed) << arithmetic;
    const Optimized result = merged(arithmetic, true);
    EXPECT_FALSE(result.changed) << arithmetic;
    EXPECT_NE(result.report.kernels.at(0).left_alone.text, "") << arithmetic;
  }
  EXPECT_TRUE(merged("add.f32 %f4, %f1, %f2;\nadd.f32 %f5, %f4, %f3;\nmul.f32 %f9, %f5, %f1;", true)
                  .changed);
}

} // namespace
} // namespace ptxasw
