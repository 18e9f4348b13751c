// Sums that ptxas may fuse and functions that it may fold, seen through whatever ptxas sees
// through.
#include "passes/shared/contraction_latitude.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptxasw::passes {
namespace {

Latitude latitude(const std::string& text) {
  const ptx::Module module = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(module.diagnostics.empty()) << text;
  const ptx::Body body = ptx::resolve(module, module.functions.back());
  EXPECT_TRUE(body.usable) << text;
  return count_latitude(body);
}

// In the test kernel, with two numbers loaded.
std::string kernel(const std::string& body) {
  return test::kernel_text("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\n"
                           "ld.global.f64 %fd1, [%rd1+8];\nld.global.f64 %fd2, [%rd1+16];\n" +
                           body + "\nret;");
}

unsigned fusable(const std::string& body) {
  return latitude(kernel(body)).fusable;
}
unsigned foldable(const std::string& body) {
  return latitude(kernel(body)).foldable;
}

TEST(ContractionLatitude, SumsOfLoadsAndOfRoundedNumbersAreFixed) {
  for (const char* body : {
           "add.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\nmul.f32 %f5, %f4, %f4;",
           "mul.rn.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;",
           "mul.f32 %f3, %f1, %f2;\nadd.rn.f32 %f4, %f3, %f1;",
           "fma.rn.f32 %f3, %f1, %f2, %f1;\nadd.f32 %f4, %f3, %f1;",
           "div.rn.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;",
           "sqrt.rn.f64 %fd3, %fd1;\nadd.f64 %fd4, %fd3, %fd1;",
           "cvt.rn.f32.s32 %f3, %r3;\nadd.f32 %f4, %f3, %f1;",
           "mul.lo.s32 %r5, %r1, %r2;\nadd.s32 %r6, %r5, %r1;",
           "mul.f32 %f3, %f1, %f2;\nst.global.f32 [%rd2], %f3;\nld.global.f32 %f4, [%rd2];\n"
           "add.f32 %f5, %f4, %f1;",
       })
    EXPECT_EQ(fusable(body), 0U) << body;
}

TEST(ContractionLatitude, ProductsAreFoundThroughWhateverPtxasSeesThrough) {
  for (const char* body : {
           "mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f1, %f3;",
           "mul.f64 %fd3, %fd1, %fd2;\nsub.f64 %fd4, %fd3, %fd1;",
           "mul.f32 %f3, %f1, %f2;\nmov.f32 %f5, %f3;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nneg.f32 %f5, %f3;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\ncvt.f32.f32 %f5, %f3;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nmax.f32 %f5, %f3, %f3;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nselp.f32 %f5, %f3, %f1, %p1;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;\nmov.b32 %f5, %r5;\nadd.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nmov.b64 %rd5, {%f3, %f1};\nmov.b64 {%f5, %f6}, %rd5;\n"
           "add.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\nxor.b32 %r5, %r6, 0;\nmov.b32 %r6, %f3;\nmov.b32 %f5, %r5;\n"
           "add.f32 %f4, %f5, %f1;",
           "mul.f32 %f3, %f1, %f2;\n@%p1 mov.f32 %f3, %f2;\nadd.f32 %f4, %f3, %f1;",
           "mul.f32 %f3, %f1, %f2;\nfma.rn.f32 %f5, %f3, 0f3F800000, %f2;\nadd.f32 %f4, %f5, %f1;",
           "fma.rn.f32 %f3, %f1, %f2, 0f80000000;\nadd.f32 %f4, %f3, %f1;",
           "div.approx.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;",
           "div.full.ftz.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f3;",
           "rcp.approx.f32 %f3, %f1;\nadd.f32 %f4, %f3, %f1;",
           "div.rn.f32 %f3, %f1, 0f40000000;\nadd.f32 %f4, %f3, %f1;",
           "mul.rn.f32x2 %rd5, %rd6, %rd7;\nadd.rn.f32x2 %rd8, %rd5, %rd9;",
       })
    EXPECT_EQ(fusable(body), 1U) << body;
}

TEST(ContractionLatitude, LocalMemoryIsSeenThrough) {
  EXPECT_EQ(fusable(".local .align 4 .b8 room[16];\nmov.u64 %rd5, room;\n"
                    "mul.f32 %f3, %f1, %f2;\nst.local.f32 [%rd5], %f3;\n"
                    "ld.local.f32 %f4, [%rd5];\nadd.f32 %f5, %f4, %f1;"),
            1U);
}

TEST(ContractionLatitude, FunctionsOfLoadsAreComputed) {
  for (const char* body : {
           "rsqrt.approx.f32 %f3, %f1;",
           "mul.f32 %f3, %f1, 0f40000000;\nex2.approx.f32 %f4, %f3;",
           "div.full.f32 %f3, 0f3F800000, %f1;",
           "sqrt.rn.f32 %f3, 0f40000000;",
           "cvt.rn.f32.s32 %f3, %r3;\nsin.approx.f32 %f4, %f3;",
           "ld.param.f32 %f3, [n];\ncos.approx.f32 %f4, %f3;",
       })
    EXPECT_EQ(foldable(body), 0U) << body;
}

TEST(ContractionLatitude, FunctionsOfWhatMayBeAConstantAreFoldable) {
  const std::string loop = "mov.u32 %r5, 0;\n$L:\ncvt.rn.f32.s32 %f3, %r5;\n";
  const std::string back = "\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, 9;\n@%p1 bra $L;";
  EXPECT_EQ(foldable(loop + "rsqrt.approx.f32 %f4, %f3;" + back), 1U);
  EXPECT_EQ(foldable(loop + "div.approx.f32 %f4, %f1, %f3;" + back), 1U);
  EXPECT_EQ(foldable(loop + "div.approx.f32 %f4, %f3, %f1;" + back), 0U);
  EXPECT_EQ(foldable(loop + "mul.f32 %f4, %f3, %f1;\nsin.approx.f32 %f5, %f4;" + back), 0U);
  EXPECT_EQ(foldable(loop +
                     "mul.lo.s32 %r6, %r5, %r3;\ncvt.rn.f32.s32 %f4, %r6;\n"
                     "sin.approx.f32 %f5, %f4;" +
                     back),
            1U)
      << "zero times anything is zero";
  EXPECT_EQ(foldable("selp.f32 %f3, 0f3F800000, %f1, %p1;\nlg2.approx.f32 %f4, %f3;"), 1U);
}

TEST(ContractionLatitude, FunctionsOfLiteralsFoldAlike) {
  const auto alike = [](const std::string& body) { return latitude(kernel(body)).alike; };
  const std::string loop = "mov.f32 %f4, 0f3F800000;\n$L:\n";
  const std::string back = "\nadd.f32 %f4, %f4, 0f3F800000;\nbra $L;";
  EXPECT_EQ(alike("div.approx.f32 %f4, %f1, 0f40400000;"), 1U);
  EXPECT_EQ(alike("sin.approx.f32 %f4, 0f40400000;"), 1U);
  EXPECT_EQ(alike("mov.f32 %f3, 0f40400000;\nmul.f32 %f4, %f3, %f3;\nlg2.approx.f32 %f5, %f4;"),
            1U);
  EXPECT_EQ(alike(loop + "lg2.approx.f32 %f5, %f4;" + back), 0U) << "of one trip";
  EXPECT_EQ(alike(loop + "div.approx.f32 %f5, %f4, 0f40400000;" + back), 0U)
      << "the quotient of one trip";
  EXPECT_EQ(alike("@%p1 mov.f32 %f3, 0f40400000;\nlg2.approx.f32 %f5, %f3;"), 0U);
  EXPECT_EQ(alike("selp.f32 %f3, 0f3F800000, 0f40000000, %p1;\nlg2.approx.f32 %f4, %f3;"), 0U);
  EXPECT_EQ(alike("rcp.approx.f32 %f3, 0f40400000;\nlg2.approx.f32 %f4, %f3;"), 1U)
      << "the reciprocal; its logarithm hangs on that";
}

// rcp(rcp(x)) is x, if ptxas sees both: always in a row, in a loop if it is unrolled.
TEST(ContractionLatitude, FunctionsThatUndoEachOtherAreFoldable) {
  EXPECT_EQ(foldable("rcp.approx.ftz.f32 %f3, %f1;\nrcp.approx.ftz.f32 %f4, %f2;"), 0U);
  EXPECT_EQ(foldable("rcp.approx.ftz.f32 %f3, %f1;\nadd.f32 %f3, %f3, %f2;\n"
                     "rcp.approx.ftz.f32 %f4, %f3;"),
            1U)
      << "%f3 may be either";
  const Latitude row = latitude(kernel("rcp.approx.ftz.f32 %f3, %f1;\nmov.f32 %f4, %f3;\n"
                                       "div.approx.ftz.f32 %f5, %f1, %f4;"));
  EXPECT_EQ(row.foldable, 1U);
  EXPECT_EQ(row.alike, 1U);
  EXPECT_EQ(foldable("ex2.approx.ftz.f32 %f3, %f1;\nrcp.approx.ftz.f32 %f4, %f3;"), 1U);
  EXPECT_EQ(foldable("rcp.approx.ftz.f32 %f3, %f1;\nmul.f32 %f5, %f3, %f2;\n"
                     "rcp.approx.ftz.f32 %f4, %f5;"),
            0U);
  const Latitude loop =
      latitude(kernel("mov.f32 %f3, %f1;\nL:\nrcp.approx.ftz.f32 %f3, %f3;\n"
                      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 9;\n@%p1 bra L;"));
  EXPECT_EQ(loop.foldable, 1U);
  EXPECT_EQ(loop.alike, 0U);
}

// ptxas 13.0 loses one of two loaded halves where it packs operations on halves.
TEST(ContractionLatitude, SelectionsBetweenHalvesAreCountedWhereHalvesAreComputed) {
  const auto halves = [](const std::string& body) {
    return latitude(kernel(".reg .b16 %h<9>;\n" + body)).halves;
  };
  const std::string select = "selp.b16 %h3, %h1, %h2, %p1;\n";
  EXPECT_EQ(halves(select + "mul.f16 %h4, %h1, %h2;"), 1U);
  EXPECT_EQ(halves(select + select + "fma.rn.relu.bf16 %h4, %h1, %h2, %h1;"), 2U);
  EXPECT_EQ(halves(select + "add.s16 %h4, %h1, %h2;"), 0U);
  EXPECT_EQ(halves("mul.f16 %h4, %h1, %h2;\nselp.b32 %r5, %r6, %r7, %p1;"), 0U);
}

// ptxas makes (a * b) * 2 one operation if it may choose how a * b is rounded.
TEST(ContractionLatitude, ProductsOfProductsByPowersOfTwoAreScalable) {
  const auto scalable = [](const std::string& body) { return latitude(kernel(body)).scalable; };
  const std::string first = "mul.f32 %f3, %f1, %f2;\n";
  const std::string loop = "mov.u32 %r5, 0;\n$L:\ncvt.rn.f32.s32 %f5, %r5;\n";
  const std::string back = "\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, 9;\n@%p1 bra $L;";
  for (const std::string& body :
       {first + "mul.f32 %f4, %f3, 0f40000000;", first + "mul.rn.f32 %f4, %f3, 0f3E000000;",
        first + "mul.ftz.f32 %f4, 0f41000000, %f3;", first + "mul.f32 %f4, %f3, 0fBF000000;",
        first + "mov.f32 %f5, 0f40800000;\nmul.f32 %f4, %f3, %f5;",
        first + "mov.f32 %f5, %f3;\nmul.f32 %f4, %f5, 0f40000000;",
        first + "div.approx.f32 %f4, %f3, 0f40000000;",
        first + "div.full.ftz.f32 %f4, %f3, 0f40000000;",
        std::string("div.full.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, 0f40000000;"),
        std::string("rcp.approx.f32 %f3, %f1;\nmul.f32 %f4, %f3, 0f40000000;"),
        loop + first + "mul.f32 %f4, %f3, %f5;" + back})
    EXPECT_EQ(scalable(body), 1U) << body;
  for (const std::string& body :
       {first + "mul.f32 %f4, %f3, 0f40400000;", first + "mul.f32 %f4, %f3, 0f41800000;",
        first + "mul.f32 %f4, %f3, %f1;", first + "add.f32 %f4, %f3, %f3;",
        std::string("mul.rn.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, 0f40000000;"),
        std::string("mul.f32 %f3, %f1, 0f40000000;"),
        std::string("mul.f64 %fd3, %fd1, %fd2;\nmul.f64 %fd4, %fd3, 0d4000000000000000;")})
    EXPECT_EQ(scalable(body), 0U) << body;
}

TEST(ContractionLatitude, ApproximationsAreFoundThroughWhateverHandsThemOn) {
  const auto reads_one = [](const std::string& between) {
    const ptx::Module module = ptx::parse(
        kernel("sin.approx.f32 %f3, %f1;\n" + between + "\nsin.approx.f32 %f9, %f4;"), "test.ptx");
    const ptx::Body body = ptx::resolve(module, module.functions.back());
    const ContractionLatitude known(body);
    const auto last = std::ranges::find_if(body.insts.rbegin(), body.insts.rend(), is_approximate);
    return known.reads_approximation(*last);
  };
  for (const char* link :
       {"mov.f32 %f4, %f3;", "abs.f32 %f4, %f3;", "add.f32 %f4, %f3, 0f00000000;",
        "mul.f32 %f4, %f3, 0f3F800000;", "fma.rn.f32 %f4, %f3, 0f3F800000, %f2;",
        "shfl.sync.idx.b32 %f4, %f3, 0, 31, -1;", "selp.f32 %f4, %f1, %f3, %p1;",
        "mov.b32 %r5, %f3;\nxor.b32 %r5, %r5, 1;\nmov.b32 %f4, %r5;",
        ".local .align 4 .b8 room[16];\nst.local.f32 [room], %f3;\nld.local.f32 %f4, [room];"})
    EXPECT_TRUE(reads_one(link)) << link;
  for (const char* link : {"mul.f32 %f4, %f3, %f2;", "add.f32 %f4, %f3, 0f3F800000;",
                           "mov.f32 %f4, %f1;", "sqrt.rn.f32 %f4, %f3;"})
    EXPECT_FALSE(reads_one(link)) << link;
}

TEST(ContractionLatitude, FunctionsThatAreCalledCount) {
  const std::string callee = R"(.func (.param .f32 r) f(.param .f32 x) {
.reg .f32 %f<5>;
ld.param.f32 %f1, [x];
add.f32 %f2, %f1, %f1;
st.param.f32 [r], %f2;
ret;
}
)";
  std::string text = kernel(R"({ .param .f32 a; .param .f32 b;
mul.f32 %f3, %f1, %f2;
st.param.f32 [a], %f3;
call (b), f, (a);
ld.param.f32 %f4, [b];
})");
  text.insert(text.find(".visible"), callee);
  EXPECT_EQ(latitude(text).fusable, 1U);
}

TEST(ContractionLatitude, NoChoiceIsLeftByWhatIsExact) {
  const auto none_left = [](const std::string& body) {
    const ptx::Module module = ptx::parse(kernel(body), "test.ptx");
    return leaves_no_choice(ptx::resolve(module, module.functions.back()));
  };
  for (const char* body :
       {"add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f1;", "fma.rn.f64 %fd3, %fd1, %fd2, %fd1;",
        "div.rn.f32 %f3, %f1, %f2;", "max.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"})
    EXPECT_TRUE(none_left(body)) << body;
  for (const char* body :
       {"mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;",
        "mul.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, 0f40000000;", "sin.approx.f32 %f3, %f1;",
        "div.full.f32 %f3, %f1, %f2;", "rsqrt.approx.f32 %f3, %f1;",
        "{ .reg .b16 %h<3>;\nadd.rn.f16 %h1, %h2, %h2; }",
        "{ .reg .b16 %h<3>;\ncvt.rn.f16.f32 %h1, %f1; }",
        "{ .reg .b32 %w<3>;\nadd.rn.bf16x2 %w1, %w2, %w2; }", "frobnicate.f32 %f3, %f1;"})
    EXPECT_FALSE(none_left(body)) << body;
}

} // namespace
} // namespace ptxasw::passes
