// Which kernels need nothing of their module.
#include "prepare/alone.hpp"

#include "ptx/parse.hpp"

#include <gmock/gmock.h>

namespace ptxasw::prepare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::set<std::string> alone(const std::string& globals, const std::string& body,
                            const std::string& functions = "") {
  return kernels_alone(
      ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + globals + functions +
                 "\n.visible .entry k(.param .u64 k_a)\n{\n"
                 ".reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p<2>;\n"
                 ".shared .align 4 .b8 mine[64];\n" +
                 body + "\nret;\n}\n.visible .entry l()\n{\nret;\n}\n"));
}

TEST(Alone, KernelsThatNameNothingOfTheModule) {
  EXPECT_THAT(
      alone("", "ld.param.u64 %rd1, [k_a]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1+4], %r1;"),
      ElementsAre("k", "l"));
  EXPECT_THAT(alone(".extern .shared .align 16 .b8 room[];",
                    "mov.u64 %rd1, room; st.shared.u32 [room+8], %r1; st.shared.u32 [mine], %r1;"),
              ElementsAre("k", "l"));
  EXPECT_THAT(alone(".global .align 4 .f32 table[4];", "mov.u32 %r1, 4;"), ElementsAre("k", "l"));
}

TEST(Alone, VariablesAreTheModules) {
  const std::string global = ".global .align 4 .f32 table[4];",
                    constant = ".const .align 4 .f32 table[4];";
  EXPECT_THAT(alone(global, "ld.global.f32 %f1, [table+4];"), ElementsAre("l"));
  EXPECT_THAT(alone(constant, "ld.const.f32 %f1, [table];"), ElementsAre("l"));
  EXPECT_THAT(alone(global, "mov.u64 %rd1, table;"), ElementsAre("l"));
  EXPECT_THAT(alone(global, "mov.u64 %rd1, table+4;"), ElementsAre("l"));
  EXPECT_THAT(alone(global, "mov.u64 %rd1, generic(table);"), ElementsAre("l"));
  EXPECT_THAT(alone(global, "{ mov.u64 %rd1, table; }"), ElementsAre("l"));
  EXPECT_THAT(
      alone(".global .texref image;", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f3}, [image, {%r1}];"),
      ElementsAre("l"));
  EXPECT_THAT(alone(global, "cvta.global.u64 %rd1, table;"), ElementsAre("l"));
}

// ptxas takes them, and launches share them.
TEST(Alone, VariablesInAFunctionAreTheModules) {
  EXPECT_THAT(alone("", ".global .align 4 .u32 all; atom.global.add.u32 %r1, [all], 1;"),
              ElementsAre("l"));
  EXPECT_THAT(alone("", "{ .const .align 4 .u32 all; ld.const.u32 %r1, [all]; }"),
              ElementsAre("l"));
  EXPECT_THAT(alone("", ".local .align 4 .b8 own[64]; st.local.u32 [own], %r1;"),
              ElementsAre("k", "l"));
  EXPECT_THAT(alone("", ".global .align 8 .b8 field[1000000];"), IsEmpty());
}

TEST(Alone, NamesThatAreCountedAreNotWrittenDown) {
  EXPECT_THAT(alone(".global .align 4 .u32 all<4>;", "atom.global.add.u32 %r1, [all2], 1;"),
              IsEmpty());
}

TEST(Alone, WhatIsCalledMayNeedVariables) {
  const std::string function = ".func f() { ret; }\n";
  EXPECT_THAT(alone("", "call.uni f;", function), ElementsAre("l"));
  EXPECT_THAT(alone("", "p: .callprototype _ ();\ncall %rd1, p;"), ElementsAre("l"));
  EXPECT_THAT(alone("", "mov.u64 %rd1, f;", function), ElementsAre("l"));
  EXPECT_THAT(alone("", "mov.u64 %rd1, l;", ".entry l();"), ElementsAre("l"));
  EXPECT_THAT(alone("", "what.is.this %rd1;"), ElementsAre("l"));
}

// Beside the program's own there would be another one.
TEST(Alone, NothingIsBesideLargeVariables) {
  EXPECT_THAT(alone(".global .align 8 .b8 field[1000000];", ""), IsEmpty());
  EXPECT_THAT(alone(".global .align 8 .f64 field[1000][1000];", ""), IsEmpty());
  EXPECT_THAT(alone(".shared .align 8 .b8 field[1000000];", ""), ElementsAre("k", "l"));
}

} // namespace
} // namespace ptxasw::prepare
