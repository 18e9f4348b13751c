// Calls: parameters, recursion, pointers to functions, vprintf, clocks.
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

class Call : public testing::TestWithParam<Schedule> {
protected:
  static Ran run(std::string_view body, std::string_view before) {
    Shape shape;
    shape.schedule = GetParam();
    shape.report_undefined = true;
    Ran ran = run_body(body, shape, before);
    EXPECT_EQ(ran.result.message, "");
    return ran;
  }
};

TEST_P(Call, ParametersInMemory) {
  const Ran ran = run(R"(
{ .param .b32 a; .param .b64 b; .param .b32 r;
st.param.b32 [a+0], %r1; st.param.b64 [b], %rd1;
call.uni (r), f, (a, b);
ld.param.b32 %r5, [r]; }
st.global.u32 [%rd2], %r5; ret;)",
                      R"(
.func (.param .b32 r) f(.param .b32 x, .param .b64 p)
{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;
ld.param.u32 %r1, [x]; ld.param.u64 %rd1, [p];
mov.u32 %r3, 7;
setp.lt.u32 %p1, %r1, 3;
@%p1 bra OUT;
mul.lo.u32 %r3, %r1, 2;
OUT: st.param.b32 [r], %r3;
ret; })");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ran.words[i], i < 3 ? 7 : 2 * i);
}

TEST_P(Call, ParametersInRegisters) {
  const Ran ran = run("call (%r5), f, (%r1, 10); st.global.u32 [%rd2], %r5; ret;",
                      ".func (.reg .u32 %out) f(.reg .u32 %a, .reg .u32 %b)\n"
                      "{ add.u32 %out, %a, %b; ret; }");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ran.words[i], i + 10);
}

TEST_P(Call, RecursionToDifferentDepths) {
  const Ran ran = run(R"(
and.b32 %r6, %r1, 7;
{ .param .b32 a; .param .b32 r;
st.param.b32 [a], %r6; call (r), f, (a); ld.param.b32 %r5, [r]; }
st.global.u32 [%rd2], %r5; ret;)",
                      R"(
.visible .func (.param .b32 r) f(.param .b32 x);
.visible .func (.param .b32 r) f(.param .b32 x)
{ .reg .b32 %r<9>; .reg .pred %p<2>; .local .b32 keep;
ld.param.u32 %r1, [x];
st.local.u32 [keep], %r1;
mov.u32 %r4, 1;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra DONE;
sub.u32 %r2, %r1, 1;
{ .param .b32 a; .param .b32 q;
st.param.b32 [a], %r2; call (q), f, (a); ld.param.b32 %r3, [q]; }
ld.local.u32 %r1, [keep];
mul.lo.u32 %r4, %r3, %r1;
DONE: st.param.b32 [r], %r4;
ret; })");
  const std::uint32_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ran.words[i], factorial[i % 8]);
}

TEST_P(Call, ThroughATableOfFunctions) {
  const Ran ran = run(R"(
and.b32 %r6, %r1, 1; mul.wide.u32 %rd3, %r6, 8;
mov.u64 %rd4, table; add.s64 %rd4, %rd4, %rd3; ld.global.u64 %rd5, [%rd4];
P: .callprototype (.param .b32 _) _ (.param .b32 _);
{ .param .b32 a; .param .b32 r;
st.param.b32 [a], %r1; call (r), %rd5, (a), P; ld.param.b32 %r5, [r]; }
activemask.b32 %r7;
st.global.u32 [%rd2], %r5; ret;)",
                      R"(
.func (.param .b32 r) f(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 100; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) g(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 200; st.param.b32 [r], %r1; ret; }
.global .u64 table[2] = {f, g};)");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ran.words[i], i + (i % 2 == 0 ? 100 : 200));
}

INSTANTIATE_TEST_SUITE_P(Schedules, Call, testing::ValuesIn(some_schedules()));

TEST(CallLimits, EndlessRecursionStops) {
  const Ran ran = run_body("call f; ret;", {}, ".func f; .func f { call f; ret; }");
  EXPECT_EQ(ran.result.status, Result::Status::budget);
  EXPECT_THAT(ran.result.message, HasSubstr("nested too deeply"));
}

TEST(CallLimits, FunctionWithoutABody) {
  const Ran ran = run_body("call g; ret;", {}, ".extern .func g;");
  EXPECT_THAT(ran.result.message, HasSubstr("the function g has no body"));
}

TEST(Printf, FormatsLikeC) {
  const Ran ran = run_body(R"(
.local .align 8 .b8 v[24];
mov.u64 %rd3, v; cvta.local.u64 %rd3, %rd3;
st.u32 [%rd3], -5; st.f64 [%rd3+8], 0d3FF8000000000000; st.u64 [%rd3+16], 255;
mov.u64 %rd4, text; cvta.global.u64 %rd4, %rd4;
{ .param .b64 a; .param .b64 b; .param .b32 r;
st.param.b64 [a], %rd4; st.param.b64 [b], %rd3;
call.uni (r), vprintf, (a, b); }
ret;)",
                           {.block = {2, 1, 1}},
                           ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                           // "%d %5.2f %lx%%\n"
                           ".global .b8 text[16] = {37, 100, 32, 37, 53, 46, 50, 102, 32, 37, 108, "
                           "120, 37, 37, 10};");
  EXPECT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.result.printed, "-5  1.50 ff%\n-5  1.50 ff%\n");
}

TEST(Clock, NeverGoesBack) {
  const Ran ran = run_body("mov.u64 %rd3, %clock64; mov.u64 %rd4, %clock64; sub.u64 %rd5, %rd4, "
                           "%rd3; cvt.u32.u64 %r5, %rd5; setp.gt.u32 %p1, %r5, 0; selp.u32 %r6, "
                           "1, 0, %p1; st.global.u32 [%rd2], %r6; ret;");
  EXPECT_EQ(ran.words[31], 1U);
}

TEST(Approximate, IsSaid) {
  const Ran ran = run_body("mov.f32 %f1, 0f3F800000; ex2.approx.f32 %f2, %f1;"
                           "st.global.f32 [%rd2], %f2; ret;");
  EXPECT_TRUE(ran.result.approximate);
  EXPECT_EQ(ran.words[0], 0x40000000U);
}

TEST(LaunchShape, IsChecked) {
  EXPECT_EQ(run_body("ret;", {.block = {1025, 1, 1}}).result.status, Result::Status::bad_launch);
  EXPECT_EQ(run_body("ret;", {.grid = {1, 70000, 1}}).result.status, Result::Status::bad_launch);
  EXPECT_EQ(run_body("ret;", {.grid = {0, 1, 1}}).result.status, Result::Status::bad_launch);
}

} // namespace
} // namespace ptxasw::simt
