// Which registers are the same in all lanes, and which control flow.
#include "emulator/kernel_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::emulate_body;
using test::Emulated;

TEST(Uniformity, CallResultsVaryByLane) { // trap h23
  const Emulated k(R"(.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 result) f(.param .b32 a) { ret; }
.visible .entry k(.param .u32 n)
{
.reg .b32 %r<4>;
ld.param.u32 %r1, [n];
{
.param .b32 argument;
.param .b32 result;
st.param.b32 [argument], %r1;
call (result), f, (argument);
ld.param.b32 %r2, [result];
}
ret;
}
)",
                   1);
  EXPECT_EQ(k.kernel.uniformity.registers.at(0), analysis::Uniform::grid);
  EXPECT_EQ(k.kernel.uniformity.registers.at(1), analysis::Uniform::lane);
}

TEST(Trace, ParametersOfFunctionsVaryByLane) {
  const Emulated k(R"(.version 8.0
.target sm_90
.address_size 64
.func f(.param .b64 a)
{
.reg .b64 %rd<2>;
.reg .f32 %f<2>;
ld.param.u64 %rd1, [a];
ld.global.f32 %f1, [%rd1];
ret;
}
)");
  ASSERT_EQ(k.kernel.trace.events.size(), 1U);
  EXPECT_EQ(k.kernel.context->uniformity(k.kernel.trace.events[0].address), sym::Uniformity::lane);
  EXPECT_EQ(k.kernel.uniformity.registers.at(0), analysis::Uniform::lane);
}

TEST(Trace, RegistersThatAreParametersVaryByLane) {
  const Emulated k(R"(.version 8.0
.target sm_90
.address_size 64
.func (.reg .b32 %result) f(.reg .b32 %a)
{
.reg .b32 %r<2>;
add.u32 %r1, %a, 1;
mov.u32 %result, 3;
ret;
}
)");
  const auto& registers = k.kernel.body.registers;
  for (std::size_t reg = 0; reg < registers.size(); ++reg) {
    const bool varies = registers[reg].name == "%a" || registers[reg].name == "%r1";
    EXPECT_EQ(k.kernel.uniformity.registers.at(reg),
              varies ? analysis::Uniform::lane : analysis::Uniform::grid)
        << registers[reg].name;
  }
}

// What reads a register before the one place that makes it vary.
TEST(Trace, WhatReadsARegisterVariesWithItAlongALoop) {
  const Emulated k = emulate_body("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                                  "mov.u32 %r5, 0;\nLOOP:\nadd.u32 %r3, %r2, 1;\n"
                                  "add.u32 %r2, %r1, 1;\nmov.u32 %r1, %tid.x;\n"
                                  "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 9;\n"
                                  "@%p1 bra LOOP;\nret;");
  const auto& registers = k.kernel.body.registers;
  unsigned seen = 0;
  for (std::size_t reg = 0; reg < registers.size(); ++reg) {
    if (registers[reg].name == "%r3") {
      EXPECT_EQ(k.kernel.uniformity.registers.at(reg), analysis::Uniform::lane);
      ++seen;
    }
    if (registers[reg].name == "%r5") {
      EXPECT_EQ(k.kernel.uniformity.registers.at(reg), analysis::Uniform::grid);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2U);
}

// Each of many branches to one place is searched for joins: with too many nothing is said.
TEST(Trace, UniformityOfThousandsOfExitsIsNotWorkedOut) {
  const auto uniform_after = [](unsigned exits) {
    std::string body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n";
    for (unsigned n = 0; n < exits; ++n)
      body += fmt::format("setp.eq.u32 %p1, %r2, {};\n@%p1 bra OUT;\nadd.u32 %r2, %r2, 3;\n", n);
    const Emulated k = emulate_body(body + "OUT:\nret;");
    const auto& registers = k.kernel.body.registers;
    for (std::size_t reg = 0; reg < registers.size(); ++reg)
      if (registers[reg].name == "%r1") return k.kernel.uniformity.registers.at(reg);
    return analysis::Uniform::grid;
  };
  EXPECT_EQ(uniform_after(100), analysis::Uniform::block);
  EXPECT_EQ(uniform_after(3000), analysis::Uniform::lane);
}

analysis::Uniform of(const Emulated& k, std::string_view reg) {
  for (std::size_t i = 0; i < k.kernel.body.registers.size(); ++i) {
    if (k.kernel.body.registers[i].name == reg) return k.kernel.uniformity.registers[i];
  }
  ADD_FAILURE() << "no register " << reg;
  return analysis::Uniform::grid;
}

TEST(Uniformity, ByOrigin) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, %ctaid.x;
    add.s32 %r5, %r4, %r1;
    add.s32 %r6, %r5, %r3;
    ld.global.u32 %r7, [%rd1];
    ld.global.nc.u32 %r8, [%rd1];
    atom.global.add.u32 %r9, [%rd1], 1;
    activemask.b32 %r10;
    mov.u32 %r11, %clock;
    vote.sync.ballot.b32 %r12, 1, -1;
    st.global.u32 [%rd1], %r6;
    ret;)");
  using analysis::Uniform;
  EXPECT_EQ(of(k, "%r1"), Uniform::grid);
  EXPECT_EQ(of(k, "%r5"), Uniform::block);
  EXPECT_EQ(of(k, "%r6"), Uniform::lane);
  EXPECT_EQ(of(k, "%r7"), Uniform::lane);
  EXPECT_EQ(of(k, "%r8"), Uniform::grid);
  for (const char* reg : {"%r9", "%r10", "%r11", "%r12"})
    EXPECT_EQ(of(k, reg), Uniform::lane);
}

TEST(Uniformity, GuardsAndUnknownForms) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    mov.u32 %r4, 1;
    @%p1 mov.u32 %r4, 2;
    mov.f32 %f1, 0f3F800000;
    add.f32 %f2, %f1, 1;
    st.global.u32 [%rd1], %r4;
    st.global.f32 [%rd1], %f2;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%f1"), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%f2"), analysis::Uniform::lane); // an integer among floats has no meaning here
}

TEST(Uniformity, JoinOfADivergentBranch) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    mov.u32 %r4, 1;
    @%p1 bra JOIN;
    mov.u32 %r4, 2;
    mov.u32 %r5, 3;
JOIN:
    add.s32 %r6, %r4, 1;
    st.global.u32 [%rd1], %r6;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r6"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r5"), analysis::Uniform::grid); // not live where the paths join
}

TEST(Uniformity, EarlyExitDoesNotMakeALoopDivergent) {
  const Emulated k = emulate_body(R"(
    setp.lt.s32 %p1, %r3, 5;
    @%p1 bra DONE;
    mov.u32 %r4, 0;
LOOP:
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r1;
    @%p2 bra LOOP;
DONE:
    ret;)");
  EXPECT_EQ(k.kernel.uniformity.loops.at(0), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::grid);
}

TEST(Uniformity, LoopsLeftAtDifferentTrips) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
LOOP:
    add.s32 %r5, %r1, 1;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r3;
    @%p2 bra LOOP;
    st.global.u32 [%rd1], %r4;
    ret;)");
  EXPECT_EQ(k.kernel.uniformity.loops.at(0), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r5"), analysis::Uniform::lane);
}

// Read ahead of what makes it vary, which comes back with the next trip.
TEST(Uniformity, WhatALoopBringsBack) {
  const Emulated k = emulate_body(R"(
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
LOOP:
    mov.u32 %r6, %r5;
    add.s32 %r7, %r6, 1;
    mov.u32 %r5, %r3;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p2, %r4, %r1;
    @%p2 bra LOOP;
    st.global.u32 [%rd1], %r7;
    ret;)");
  EXPECT_EQ(of(k, "%r4"), analysis::Uniform::grid);
  EXPECT_EQ(of(k, "%r6"), analysis::Uniform::lane);
  EXPECT_EQ(of(k, "%r7"), analysis::Uniform::lane);
}

} // namespace
} // namespace ptxasw
