// Resolution of names, operands and control flow.
#include "bodies.hpp"

#include <gmock/gmock.h>

namespace {

using namespace ptxasw::ptx;
using ptxasw::test::Kernel;
using testing::ElementsAre;

struct Case {
  std::string line, shown;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.line; }
};
class Operands : public testing::TestWithParam<Case> {};

TEST_P(Operands, AreFlattened) {
  const Kernel kernel(GetParam().line, ".global .b32 g[4]; .extern .shared .b8 s[]; .func f();");
  EXPECT_EQ(kernel.show(), GetParam().shown);
  EXPECT_EQ(kernel.problems(), "");
  EXPECT_TRUE(kernel.body.usable);
}

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, Operands,
    testing::Values(
        Case{"add.s32 %r1, %r2, -1;", "%r1 = %r2 0xffffffffffffffff"},
        Case{"mov.u32 %r1, %tid.x;", "%r1 = %tid.x"}, Case{"mov.u32 %r1, %tid .x;", "%r1 = %tid.x"},
        Case{"mov.u32 %r1, WARP_SZ;", "%r1 = WARP_SZ"}, Case{"mov.u64 %d1, g;", "%d1 = &g+0"},
        Case{"mov.u64 %d1, g+8;", "%d1 = &g+8"}, Case{"mov.u64 %d1, generic(g);", "? %d1 = _"},
        Case{"mov.u64 %d1, f;", "%d1 = &f+0"}, Case{"mov.b64 {%r1, _}, %d1;", "%r1 _ = %d1"},
        Case{"mov.b64 %d1, {%r1, %r2};", "%d1 = %r1 %r2"},
        Case{"setp.lt.and.s32 %p1|_, %r1, %r2, !%p2;", "%p1 _ = %r1 %r2 !%p2"},
        Case{"add.cc.u32 %r1, %r2, %r3;", "%r1 CC.CF = %r2 %r3"},
        Case{"addc.u32 %r1, %r2, %r3;", "%r1 = %r2 %r3 CC.CF"},
        Case{"madc.lo.cc.u32 %r1, %r2, %r3, %r4;", "%r1 CC.CF = %r2 %r3 %r4 CC.CF"},
        Case{"vadd.u32.u32.u32 %r1, %r2.b0, %r3;", "%r1 = %r2.b0 %r3"},
        Case{"vadd.u32.u32.u32 %r1.h0, %r2, %r3, %r4;", "%r1.h0 = %r2 %r3 %r4"},
        Case{"add.u32 %r1.h0, %r2, %r3.b0;", "? %r1.h0 = %r1.h0 %r2 %r3.b0"},
        Case{"bogus %r1, [%d1], 3;", "? %r1 %d1 = %r1 0x3 [%d1+0]"}));

INSTANTIATE_TEST_SUITE_P(
    Immediates, Operands,
    testing::Values(Case{"add.f32 %f1, %f2, 1.0;", "%f1 = %f2 0x3f800000"},
                    Case{"add.f32 %f1, %f2, 0d3FF0000000000000;", "%f1 = %f2 0x3f800000"},
                    Case{"add.f64 %g1, %g2, 0f3F800000;", "%g1 = %g2 0x3ff0000000000000"},
                    Case{"cvt.rn.f32.f64 %f1, 1.0;", "%f1 = 0x3ff0000000000000"},
                    Case{"set.lt.u32.f32 %r1, %f1, 1.0;", "%r1 = %f1 0x3f800000"},
                    Case{"slct.f32.s32 %f1, 1.0, 2.0, 3;", "%f1 = 0x3f800000 0x40000000 0x3"},
                    Case{"mov.b32 %r1, 0f3F800000;", "%r1 = 0x3f800000"},
                    Case{"mov.b32 %r1, 1.0;", "? %r1 = 0x3ff0000000000000"},
                    Case{"add.s32 %r1, %r2, 1.0;", "? %r1 = %r2 0x3ff0000000000000"},
                    Case{"add.f32 %f1, %f2, 2;", "? %f1 = %f2 0x2"},
                    Case{"fma.rn.f32.f16 %f1, %h1, %h2, 1.0;",
                         "? %f1 = %h1 %h2 0x3ff0000000000000"},
                    Case{"st.global.f32 [%d1], 1.0;", "= 0x3f800000 [%d1+0]"}));

INSTANTIATE_TEST_SUITE_P(
    Memory, Operands,
    testing::Values(Case{"ld.global.u32 %r1, [%d1+-4];", "%r1 = [%d1-4]"},
                    Case{"ld.param.u64 %d1, [a];", "%d1 = [&a+0+0]"},
                    Case{"ld.global.v2.u32 {%r1, _}, [g+8], %d2;", "%r1 _ = %d2 [&g+0+8]"},
                    Case{"ld.local.u32 %r1, [1024];", "%r1 = [0x400+0]"},
                    Case{"st.shared.v2.u32 [s], {%r1, 7};", "= %r1 0x7 [&s+0+0]"},
                    Case{"atom.global.cas.b32 _, [%d1], %r1, %r2;", "_ = %r1 %r2 [%d1+0]"},
                    Case{"red.global.add.u32 [%d1], %r1;", "= %r1 [%d1+0]"},
                    Case{"cp.async.ca.shared.global [%r1], [%d1], 8;", "= 0x8 [%r1+0] [%d1+0]"},
                    Case{"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1}];",
                         "? %f1 %f2 %f3 %f4 = %r1 [%d1+0]"}));

INSTANTIATE_TEST_SUITE_P(
    Special, Operands,
    testing::Values(
        Case{"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;",
             "%r1 %p1 = %r2 0x1 0x0 0xffffffffffffffff"},
        Case{"elect.sync _|%p1, -1;", "_ %p1 = 0xffffffffffffffff"}, Case{"bar.sync 0;", "= 0x0"},
        Case{"bar.red.popc.u32 %r1, 0, !%p1;", "%r1 = 0x0 !%p1"},
        Case{"mbarrier.arrive.shared.b64 %d1, [s];", "%d1 = [&s+0+0]"},
        Case{"mbarrier.init.shared.b64 [s], 32;", "= 0x20 [&s+0+0]"},
        Case{"mbarrier.test_wait.shared.b64 %p1, [s], %d1;", "%p1 = %d1 [&s+0+0]"},
        Case{"wmma.store.d.sync.aligned.row.m8n32k16.f32 [%d1], {%f1, %f2}, %r1;",
             "? = %f1 %f2 %r1 [%d1+0]"},
        Case{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %d1, %d2, 1, 1, 1, 0, 0;",
             "? %f1 = %d1 %d2 0x1 0x1 0x1 0x0 0x0 %f1"},
        Case{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", "? %r1 = [%r2+0]"},
        Case{"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};", "? = %r1 [%r2+0]"}));

TEST(Body, CarryIsOneRegister) {
  const Kernel kernel("add.cc.u32 %r1, %r2, %r3;\naddc.cc.u32 %r1, %r2, %r3;");
  EXPECT_EQ(kernel.body.dst(kernel.body.insts[0])[1].id, kernel.body.carry);
  EXPECT_EQ(kernel.body.src(kernel.body.insts[1])[2].id, kernel.body.carry);
  EXPECT_EQ(Kernel("ret;").body.carry, none);
}

TEST(Body, VectorRegistersAreOpaqueOrTheirElements) {
  Kernel kernel(".reg .v4 .f32 %v, %w<2>;\nld.global.v4.f32 %v, [%d1];\n"
                "mov.v4.f32 %w1, {%v.x, %v.g, %f1, %v.a};\nadd.f32 %w1.y, %f1, %f1;\n"
                "st.global.u32 [%d1], %r1+4;\nadd.u32 %r1, %r2+4, %r3;\nadd.f32 %f1, %v, %f1;");
  for (const Inst& inst : kernel.body.insts)
    EXPECT_TRUE(inst.opaque);
  kernel.body =
      resolve(*kernel.module, kernel.module->functions.back(), nullptr, VectorRegisters::elements);
  ASSERT_TRUE(kernel.body.usable);
  const auto shown = [&](std::size_t i) { return kernel.show(i); };
  EXPECT_EQ(shown(0), "%v.x %v.y %v.z %v.w = [%d1+0]");
  EXPECT_EQ(shown(1), "%w1.x %w1.y %w1.z %w1.w = %v.x %v.y %f1 %v.w");
  EXPECT_EQ(shown(2), "%w1.y = %f1 %f1");
  EXPECT_EQ(kernel.body.src(kernel.body.insts[3])[0].value, 4U);
  EXPECT_FALSE(kernel.body.insts[3].opaque);
  EXPECT_TRUE(kernel.body.insts[4].opaque); // a sum is no operand of an addition
}

TEST(Body, Guards) {
  const Kernel kernel("@!%p3 ret;\nret;");
  EXPECT_EQ(kernel.body.registers[kernel.body.insts[0].guard].name, "%p3");
  EXPECT_TRUE(kernel.body.insts[0].guard_negated);
  EXPECT_EQ(kernel.body.insts[1].guard, none);
}

TEST(Body, NestedBlocksShadow) {
  const Kernel kernel("mov.b32 %r1, 0;\n{ mov.b32 %r1, 0; .reg .f32 %r1; mov.b32 %r1, 0;\n"
                      "{ .reg .b16 %r<3>; mov.b32 %r1, 0; } }\nmov.b32 %r1, 0;");
  std::vector<Type> types;
  for (const Inst& inst : kernel.body.insts)
    types.push_back(kernel.body.registers[kernel.body.dst(inst)[0].id].type);
  EXPECT_THAT(types, ElementsAre(Type::b32, Type::b32, Type::f32, Type::b16, Type::b32));
  EXPECT_EQ(kernel.body.dst(kernel.body.insts[0])[0].id,
            kernel.body.dst(kernel.body.insts[4])[0].id);
}

TEST(Body, LabelsAreScoped) {
  const Kernel kernel("L: bra L;\n{ bra L; L: ret; }\n{ L: bra L; { bra L; } }\nbra END;\nEND:");
  std::vector<InstId> targets;
  for (const Inst& inst : kernel.body.insts)
    for (const InstId target : kernel.body.targets_of(inst))
      targets.push_back(target);
  EXPECT_THAT(targets, ElementsAre(0, 2, 3, 3, 6));
  EXPECT_EQ(kernel.problems(), "");
}

TEST(Body, BranchTables) {
  const Kernel kernel("t: .branchtargets A, B, A;\nbrx.idx %r1, t;\nA: ret;\nB: ret;");
  EXPECT_THAT(kernel.body.targets_of(kernel.body.insts[0]), ElementsAre(1, 2, 1));
  EXPECT_EQ(kernel.show(0), "= %r1");
  const Kernel counted("brx.idx %r1, t;\nL0: ret;\nL1: ret;\nt: .branchtargets L<2>;");
  EXPECT_THAT(counted.body.targets_of(counted.body.insts[0]), ElementsAre(1, 2));
  EXPECT_EQ(Kernel("brx.idx %r1, t;\nL0: ret;\nt: .branchtargets L<9>;").problems(),
            "'L1' is not a label in sight\n");
}

TEST(Body, Calls) {
  const Kernel kernel("call f, (%r1, x);\ncall.uni (%r2, _), g, (1);\ncall (x), %d1, (%r1), p;\n"
                      "call f;\np: .callprototype (.param .b32 _) _ (.param .b32 _);",
                      ".global .b32 x; .func f(); .func g();");
  EXPECT_EQ(kernel.problems(), "");
  EXPECT_EQ(kernel.show(0), "= %r1 &x+0");
  EXPECT_EQ(kernel.body.insts[0].callee, 0U);
  EXPECT_EQ(kernel.show(1), "%r2 _ = 0x1");
  EXPECT_EQ(kernel.body.insts[1].callee, 1U);
  EXPECT_EQ(kernel.show(2), "= %r1 %d1"); // the target register of an indirect call comes last
  EXPECT_EQ(kernel.body.insts[2].callee, none);
}

TEST(Body, LinesOfLoc) {
  const Kernel kernel("ret;\n.loc 2 17 5\nret;\nret;\n.loc 1 18 0\nret;");
  std::vector<std::pair<unsigned, unsigned>> lines;
  for (const Inst& inst : kernel.body.insts)
    lines.emplace_back(inst.file, inst.line);
  EXPECT_THAT(lines,
              ElementsAre(std::pair(0, 0), std::pair(2, 17), std::pair(2, 17), std::pair(1, 18)));
}

TEST(Body, ParameterOffsets) {
  const Module module =
      parse(".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[3], "
            ".param .u16 d, .param .v4 .f32 e) { ld.param.u8 %r, [e]; .reg .b16 %r; }");
  const Body body = resolve(module, module.functions[0]);
  std::vector<std::uint64_t> offsets;
  for (const Symbol& symbol : body.symbols)
    offsets.push_back(symbol.offset);
  EXPECT_THAT(offsets, ElementsAre(0, 8, 16, 20, 32));
  EXPECT_EQ(body.symbols[2].size, 3U);
  EXPECT_EQ(body.symbols[4].size, 16U);
  EXPECT_EQ(body.symbols[3].index, 3U);
  EXPECT_FALSE(body.usable); // %r is used before it is declared
}

struct Bad {
  std::string lines, message;
  friend void PrintTo(const Bad& c, std::ostream* out) { *out << c.lines; }
};
class Unusable : public testing::TestWithParam<Bad> {};

TEST_P(Unusable, SaysWhy) {
  const Kernel kernel(GetParam().lines);
  EXPECT_FALSE(kernel.body.usable);
  EXPECT_EQ(kernel.problems(), fmt::format("{}\n", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, Unusable,
    testing::Values(Bad{"mov.b32 %r9, 1;", "'%r9' is not declared"},
                    Bad{"mov.b32 %r01, 1;", "'%r01' is not declared"},
                    Bad{"mov.b32 %r1, %tid;", "'%tid' is not declared"},
                    Bad{"mov.b32 7, %r1;", "the result does not go to a register"},
                    Bad{"mov.b32 a, %r1;", "the result does not go to a register"},
                    Bad{"@%r1 ret;", "'%r1' is not a predicate register"},
                    Bad{"bra L;", "'L' is not a label in sight"},
                    Bad{"bra L; { L: }", "'L' is not a label in sight"},
                    Bad{"L: L: ret;", "this label stands twice in the same block"},
                    Bad{"brx.idx %r1, L; L:", "the targets of this branch are not known"},
                    Bad{"add.s32;", "an operand is missing"},
                    Bad{"call (%r1);", "the function to call is missing"},
                    Bad{"add.s32 a b;", "the body of 'k' has statements that could not be read"}));

TEST(Body, DeepNestingIsRefused) {
  const Kernel kernel(std::string(100000, '{') + std::string(100000, '}'));
  EXPECT_EQ(kernel.problems(), "blocks are nested too deeply\n");
}

TEST(Body, TablesDoNotMultiply) {
  std::string lines = "t: .branchtargets L";
  for (int i = 0; i < 2000; ++i)
    lines += ",L";
  lines += "; L:";
  for (int i = 0; i < 2000; ++i)
    lines += "brx.idx %r1, t;";
  const Kernel kernel(lines);
  EXPECT_FALSE(kernel.body.usable);
  EXPECT_LE(kernel.body.targets.size(), 1U << 20);
}

TEST(Body, HugeRangesCostNothing) {
  const Kernel kernel(".reg .b32 %x<4294967295>; mov.b32 %x400000000, 1;");
  EXPECT_EQ(kernel.body.registers.size(), 1U);
  EXPECT_TRUE(kernel.body.usable);
}

} // namespace
