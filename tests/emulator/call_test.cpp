// Calls that are seen through, and those that are not.
#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>

namespace ptxasw::emulator {
namespace {

using test::Emulated;
using testing::ElementsAre;

constexpr std::string_view index_function = R"(
.func (.param .b64 r) at(.param .b64 base, .param .b32 i)
{ .reg .b64 %rd<4>; .reg .b32 %r<2>;
ld.param.u64 %rd1, [base]; ld.param.u32 %r1, [i];
mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
st.param.b64 [r+0], %rd3; ret; }
)";
constexpr std::string_view call_it = R"(
ld.global.f32 %f1, [%rd1];
{ .param .b64 a; .param .b32 b; .param .b64 c;
st.param.b64 [a+0], %rd1; st.param.b32 [b+0], %r3;
call.uni (c), at, (a, b);
ld.param.b64 %rd3, [c+0]; }
ld.global.f32 %f2, [%rd3+8];
ret;)";

Emulated with(std::string_view functions, std::string_view body) {
  std::string text = test::kernel_text(body);
  text.insert(text.find(".visible"), functions);
  return Emulated(text, ptx::parse(text).functions.size() - 1);
}

TEST(Calls, AddressesComeThroughAndMemoryStays) {
  EXPECT_THAT(with(index_function, call_it).events(),
              ElementsAre("load in", "load in + 4*zext(%tid.x) + 8"));
}

TEST(Calls, InRegistersAndOfCallees) {
  const Emulated k = with(R"(
.func (.reg .b32 %out) twice(.reg .b32 %a) { shl.b32 %out, %a, 1; ret; }
.func (.reg .b64 %out) at(.reg .b64 %base, .reg .b32 %i)
{ .reg .b32 %r<3>; .reg .b64 %rd<3>;
call (%r1), twice, (%i); cvt.u64.u32 %rd1, %r1; add.s64 %out, %base, %rd1; ret; }
)",
                          "call (%rd3), at, (%rd1, %r3); ld.global.f32 %f1, [%rd3]; "
                          "call (%rd4), at, (%rd1, 5); ld.global.f32 %f2, [%rd4]; ret;");
  EXPECT_THAT(k.events(), ElementsAre("load in + 2*zext(%tid.x)", "load in + 10"));
}

TEST(Calls, GuardedInstructionsOfTheCalleeAreConditional) {
  const Emulated k = with(R"(
.func (.param .b32 r) f(.param .b32 x)
{ .reg .b32 %r<3>; .reg .pred %p<2>;
ld.param.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 7; mov.u32 %r2, 12; @!%p1 mov.u32 %r2, 4;
st.param.b32 [r], %r2; ret; }
)",
                          R"(
{ .param .b32 x; .param .b32 r;
st.param.b32 [x], 7; call (r), f, (x); ld.param.b32 %r5, [r]; }
{ .param .b32 x; .param .b32 r;
st.param.b32 [x], 8; call (r), f, (x); ld.param.b32 %r6, [r]; }
cvt.u64.u32 %rd3, %r5; cvt.u64.u32 %rd4, %r6;
st.global.u8 [%rd3], 0; st.global.u8 [%rd4], 0; ret;)");
  EXPECT_THAT(k.events(), ElementsAre("store 12", "store 4"));
}

// An argument that was stored in parts or under a guard is not known; a result that the callee
// leaves out neither.
TEST(Calls, UnknownArgumentsGiveUnknownResults) {
  for (const std::string_view pass :
       {"st.param.b16 [x], 1; st.param.b16 [x+2], 1;", "@%p1 st.param.b32 [x], 1;", ""}) {
    const Emulated k = with(R"(
.func (.param .b32 r) f(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; st.param.b32 [r], %r1; ret; }
)",
                            fmt::format("setp.eq.u32 %p1, %r1, 0;\n"
                                        "{{ .param .b32 x; .param .b32 r;\n{} call (r), f, (x); "
                                        "ld.param.b32 %r5, [r]; }}\n"
                                        "cvt.u64.u32 %rd3, %r5; st.global.u8 [%rd3], 0; ret;",
                                        pass));
    ASSERT_EQ(k.kernel.trace.events.size(), 1U) << pass;
    EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.events[0].address),
              sym::Uniformity::lane);
    EXPECT_FALSE(k.kernel.context->value(k.kernel.trace.events[0].address).has_value());
  }
}

TEST(Calls, WhatDoesMoreThanComputeStaysOpaque) {
  const std::string_view head = ".func (.param .b64 r) at(.param .b64 base, .param .b32 i)\n"
                                "{ .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;\n"
                                "ld.param.u64 %rd1, [base]; ld.param.u32 %r1, [i];\n";
  for (const std::string_view rest :
       {"st.global.u32 [%rd1], %r1; ret; }", "bar.sync 0; ret; }", "membar.gl; ret; }",
        "atom.global.add.u32 %r2, [%rd1], 1; ret; }", "ld.volatile.global.u32 %r2, [%rd1]; ret; }",
        "setp.eq.u32 %p1, %r1, 0; @%p1 ret; ret; }", "exit; }", "trap; ret; }",
        "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r2, 1; L: ret; }",
        "activemask.b32 %r2; ret; }"}) {
    EXPECT_THAT(with(fmt::format("{}{}\n", head, rest), call_it).events(),
                ElementsAre("load in", "clobber call", testing::_))
        << rest;
  }
}

TEST(Calls, AnOpaqueCallOverwritesItsResult) {
  const Emulated k = with(R"(
.func (.param .b32 r) f() { .reg .b32 %r<2>; mov.u32 %r1, 9; st.param.b32 [r], %r1; bar.sync 0; ret; }
)",
                          R"(
{ .param .b32 r;
st.param.b32 [r], 5; call (r), f; ld.param.b32 %r5, [r]; }
cvt.u64.u32 %rd3, %r5; st.global.u8 [%rd3], 0; ret;)");
  ASSERT_EQ(k.kernel.trace.events.size(), 2U);
  EXPECT_FALSE(k.kernel.context->value(k.kernel.trace.events[1].address).has_value());
}

TEST(Calls, RecursionIsNotFollowed) {
  const std::string_view prototype = ".func (.param .b64 r) at(.param .b64 base, .param .b32 i);\n"
                                     ".func (.param .b64 r) at(.param .b64 base, .param .b32 i)\n"
                                     "{ .param .b64 c; call (c), at, (base, i); ret; }\n";
  EXPECT_THAT(with(prototype, call_it).events(),
              ElementsAre("load in", "clobber call", testing::_));
}

TEST(Calls, AnotherFileMayReplaceWeakFunctions) {
  EXPECT_THAT(with(".weak " + std::string(index_function.substr(1)), call_it).events(),
              ElementsAre("load in", "clobber call", testing::_));
}

TEST(Trace, NegatedSourcesAreNegated) {
  const Emulated k = test::emulate_body(R"(
    setp.lt.u32 %p1, %r3, 8;
    setp.ge.and.u32 %p2, %r3, 4, !%p1;
    selp.u32 %r4, 1, 0, %p2;
    mul.wide.u32 %rd3, %r4, 4;
    ld.global.u32 %r5, [%rd3];
    ret;)");
  sym::Context& c = *k.kernel.context;
  const sym::Term tid = k.kernel.trace.special(ptx::Special::tid_x);
  const auto at = [&](unsigned n) {
    return c.value(
        c.substitute(k.kernel.trace.events.at(0).address, {{tid.id, c.constant(32, n)}}));
  };
  EXPECT_EQ(at(5), sym::Bits{0});
  EXPECT_EQ(at(9), sym::Bits{4});
}

} // namespace
} // namespace ptxasw::emulator
