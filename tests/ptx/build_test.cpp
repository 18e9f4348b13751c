// What each instruction of the builder looks like, that PTX of it can be read again, and what it
// refuses.
#include "ptx/build.hpp"

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace {

using namespace ptxasw::ptx;
using namespace ptxasw::ptx::words;
using ::testing::HasSubstr;

const Reg a{b32, "%a"}, b{b32, "%b"}, wide{b64, "%w"}, half{b16, "%h"}, number{f32, "%f"},
    p{pred, "%p"}, q{pred, "%q"}, typed{u32, "%u"};

struct Written {
  Module module = parse(".version 8.0\n.target sm_80\n.address_size 64\n");
  FreshRegisters registers{module, "%n"};
  Code code{registers};

  std::string operator()(const std::function<void(Code&)>& write) {
    write(code);
    return code.in_place();
  }
};

std::string written(const std::function<void(Code&)>& write) {
  return Written{}(write);
}

TEST(Build, ResultsAreFreshOrNamed) {
  EXPECT_EQ(written([](Code& c) { c.add(s32, a, -4); }), "add.s32 \t%n_b32_0, %a, -4;");
  EXPECT_EQ(written([](Code& c) { c.into(a).add(u32, a, 1); }), "add.u32 \t%a, %a, 1;");
  EXPECT_EQ(written([](Code& c) { c.mul(u64, c.mov(u64, wide), 3); }),
            "mov.u64 \t%n_b64_0, %w;\n\tmul.lo.u64 \t%n_b64_1, %n_b64_0, 3;");
}

TEST(Build, PredicatesStandInFront) {
  EXPECT_EQ(written([](Code& c) { c.when(p).bra("$rest"); }), "@%p bra \t$rest;");
  EXPECT_EQ(written([](Code& c) { c.unless(p).ret(); }), "@!%p ret;");
  EXPECT_EQ(written([](Code& c) { c.unless({p, true}).trap(); }), "@%p trap;");
  EXPECT_EQ(written([](Code& c) { c.when({}).bra_uni("$rest"); }), "bra.uni \t$rest;");
  EXPECT_EQ(written([](Code& c) { c.when(p).into(a).mov(b32, b); }), "@%p mov.b32 \t%a, %b;");
  EXPECT_EQ(written([](Code& c) { c.when(p).statement("st.b32 [x], 0;"); }), "@%p st.b32 [x], 0;");
}

TEST(Build, OneInstructionAtATime) { // of a call's arguments one may be another instruction
  EXPECT_EQ(written([](Code& c) { c.when(p).into(a).add(u32, c.special(Special::tid_x), b); }),
            "mov.u32 \t%n_b32_0, %tid.x;\n\t@%p add.u32 \t%a, %n_b32_0, %b;");
}

TEST(Build, Arithmetic) {
  EXPECT_EQ(written([](Code& c) { c.mad(u32, a, 4, typed); }), "mad.lo.u32 \t%n_b32_0, %a, 4, %u;");
  EXPECT_EQ(written([](Code& c) { c.mul_hi(u32, a, b); }), "mul.hi.u32 \t%n_b32_0, %a, %b;");
  EXPECT_EQ(written([](Code& c) { c.mul_wide(s32, a, 2); }), "mul.wide.s32 \t%n_b64_0, %a, 2;");
  EXPECT_EQ(written([](Code& c) { c.and_(pred, p, q); }), "and.pred \t%n_pred_0, %p, %q;");
  EXPECT_EQ(written([](Code& c) { c.op(Op::min, u32, a, b); }), "min.u32 \t%n_b32_0, %a, %b;");
  EXPECT_EQ(written([](Code& c) { c.not_(pred, p); }), "not.pred \t%n_pred_0, %p;");
  EXPECT_EQ(written([](Code& c) { c.shl(b64, wide, a); }), "shl.b64 \t%n_b64_0, %w, %a;");
  EXPECT_EQ(written([](Code& c) { c.cvt(s64, s32, a); }), "cvt.s64.s32 \t%n_b64_0, %a;");
  EXPECT_EQ(written([](Code& c) { c.cvt(Type::u8, u16, half); }), "cvt.u8.u16 \t%n_b16_0, %h;");
  EXPECT_EQ(written([](Code& c) { c.cvta_to(Space::global, u64, wide); }),
            "cvta.to.global.u64 \t%n_b64_0, %w;");
  EXPECT_EQ(written([](Code& c) { c.unpack(b64, a, b, wide); }), "mov.b64 \t{%a, %b}, %w;");
  EXPECT_EQ(written([](Code& c) { c.pack(b32, half, half); }), "mov.b32 \t%n_b32_0, {%h, %h};");
}

TEST(Build, FloatingPoint) {
  constexpr auto up = Rounding::rp;
  EXPECT_EQ(written([](Code& c) { c.mov(f32, Source::f32(1)); }),
            "mov.f32 \t%n_f32_0, 0f3F800000;");
  EXPECT_EQ(written([](Code& c) { c.fma(up, f32, number, number, Source::f32(0)); }),
            "fma.rp.f32 \t%n_f32_0, %f, %f, 0f00000000;");
  EXPECT_EQ(written([](Code& c) { c.cvt(up, f32, u64, wide); }), "cvt.rp.f32.u64 \t%n_f32_0, %w;");
}

TEST(Build, Comparisons) {
  EXPECT_EQ(written([](Code& c) { c.setp(lt, s32, a, 5); }), "setp.lt.s32 \t%n_pred_0, %a, 5;");
  EXPECT_EQ(written([](Code& c) { c.setp(ge, u32, a, b, or_, p); }),
            "setp.ge.or.u32 \t%n_pred_0, %a, %b, %p;");
  EXPECT_EQ(written([](Code& c) { c.setp(ge, u32, a, b, or_, Predicate(p, true)); }),
            "setp.ge.or.u32 \t%n_pred_0, %a, %b, !%p;");
  EXPECT_EQ(written([](Code& c) { c.setp(ge, u32, a, b, or_, {}); }),
            "setp.ge.u32 \t%n_pred_0, %a, %b;");
  EXPECT_EQ(written([](Code& c) { c.setp(le, u64, wide, Source::hex(255)); }),
            "setp.le.u64 \t%n_pred_0, %w, 0xff;");
  EXPECT_EQ(written([](Code& c) { c.selp(b32, a, 0, p); }), "selp.b32 \t%n_b32_0, %a, 0, %p;");
  EXPECT_EQ(written([](Code& c) { c.isspacep(Space::global, wide); }),
            "isspacep.global \t%n_pred_0, %w;");
}

TEST(Build, Warp) {
  EXPECT_EQ(written([](Code& c) { c.activemask(); }), "activemask.b32 \t%n_b32_0;");
  EXPECT_EQ(written([](Code& c) { c.shfl(Sub::down, a, 1, 31, b); }),
            "shfl.sync.down.b32 \t%n_b32_0, %a, 1, 31, %b;");
  EXPECT_EQ(written([](Code& c) { c.redux(Op::add, u32, a, -1); }),
            "redux.sync.add.u32 \t%n_b32_0, %a, -1;");
  EXPECT_EQ(written([](Code& c) { c.bar_sync(); }), "bar.sync \t0;");
}

TEST(Build, Memory) {
  const std::vector<Reg> two{a, b};
  EXPECT_EQ(written([](Code& c) {
              c.ld(Space::param, u32, {"size", 8});
            }),
            "ld.param.u32 \t%n_b32_0, [size+8];");
  EXPECT_EQ(written([](Code& c) { c.into(half).ld(Space::shared, Type::b8, a); }),
            "ld.shared.b8 \t%h, [%a];");
  EXPECT_EQ(written([](Code& c) {
              c.st(Space::shared, b32, {a, -4}, 0);
            }),
            "st.shared.b32 \t[%a+-4], 0;");
  EXPECT_EQ(written([&](Code& c) {
              c.ld(Space::global, b32, two, {wide, 0});
            }),
            "ld.global.v2.b32 \t{%a, %b}, [%w+0];");
  EXPECT_EQ(written([&](Code& c) { c.st(Space::global, b32, wide, two); }),
            "st.global.v2.b32 \t[%w], {%a, %b};");
  EXPECT_EQ(written([](Code& c) { c.mov(u32, Source::address("tile")); }),
            "mov.u32 \t%n_b32_0, tile;");
}

TEST(Build, Lines) {
  Written text;
  text.code.comment("why");
  text.code.label("$here");
  text.code.ret();
  EXPECT_EQ(text.code.behind(), "\n\t// why\n$here:\n\tret;");
  EXPECT_EQ(text.code.behind(), "");
}

// --- What does not fit --------------------------------------------------------------------------

void refused(const std::function<void(Code&)>& write, const char* words) {
  Written text;
  try {
    write(text.code);
    FAIL() << text.code.all;
  } catch (const WrongOperand& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_EQ(text.code.all, "");
  }
}

TEST(Build, RefusesWhatIsOfAnotherType) {
  refused([](Code& c) { c.add(u32, a, wide); }, "add.u32: %w is a .b64, not a .u32");
  refused([](Code& c) { c.add(u32, p, 1); }, "%p is a .pred");
  refused([](Code& c) { c.mov(b32, half); }, "%h is a .b16");
  refused([](Code& c) { c.add(u32, number, 1); }, "%f is a .f32, not a .u32");
  refused([](Code& c) { c.add(Rounding::rp, f32, typed, number); }, "%u is a .u32, not a .f32");
  refused([](Code& c) { c.mov(f32, 1); }, "not a .f32"); // 1 would be taken for an integer's bits
  refused([](Code& c) { c.setp(lt, u32, a, b, and_, Predicate(a)); }, "%a is a .b32, not a .pred");
  refused([](Code& c) { c.selp(b32, a, b, Predicate{}); }, "not a .pred");
  refused([](Code& c) { c.into(wide).add(u32, a, b); }, "%w is a .b64, not a .u32");
  refused([](Code& c) { c.into(p).mul_wide(u32, a, b); }, "%p is a .pred, not a .b64");
  refused([](Code& c) { (void)c.when(a); }, "%a is a .b32, not a .pred");
  refused([](Code& c) { c.shl(b64, wide, wide); }, "%w is a .b64, not a .u32");
  refused([](Code& c) { c.pack(b64, a, half); }, "%h is a .b16, not a .b32");
  refused([](Code& c) { c.unpack(b32, half, a, b); }, "%a is a .b32, not a .b16");
  refused([](Code& c) { c.shfl(Sub::up, wide, 1, 0, -1); }, "%w is a .b64, not a .b32");
  refused([](Code& c) { c.ld(Space::shared, b32, half); }, "[%h] is a .b16, not an address");
  refused([](Code& c) { c.into(half).ld(Space::shared, b32, a); }, "%h is a .b16, not a .b32");
  refused([](Code& c) { c.st(Space::shared, b64, a, b); }, "%b is a .b32, not a .b64");
  refused([](Code& c) { c.isspacep(Space::global, half); }, "not an address");
}

// --- Fresh registers ----------------------------------------------------------------------------

TEST(FreshRegisters, AreDeclaredByType) {
  const Module module = parse(".version 8.0\n");
  FreshRegisters registers(module);
  EXPECT_EQ(registers.declarations(), "");
  EXPECT_EQ(registers.make(s32), (Reg{b32, "%ptxasw_b32_0"}));
  EXPECT_EQ(registers.make(pred), (Reg{pred, "%ptxasw_pred_0"}));
  EXPECT_EQ(registers.make(b32), (Reg{b32, "%ptxasw_b32_1"}));
  EXPECT_EQ(registers.make(f32), (Reg{f32, "%ptxasw_f32_0"}));
  EXPECT_EQ(registers.make(Type::b8), (Reg{b16, "%ptxasw_b16_0"}));
  EXPECT_EQ(registers.declarations(), "\t.reg .b32 \t%ptxasw_b32_<2>;\n"
                                      "\t.reg .pred \t%ptxasw_pred_<1>;\n"
                                      "\t.reg .f32 \t%ptxasw_f32_<1>;\n"
                                      "\t.reg .b16 \t%ptxasw_b16_<1>;\n");
  EXPECT_EQ(registers.declared_at(7).where, (Range{7, 7}));
}

TEST(FreshRegisters, HaveNamesThatTheModuleDoesNotUse) {
  const Module module = parse("// %ptxasw and %ptxasw1\n");
  EXPECT_EQ(FreshRegisters(module).make(b32).name, "%ptxasw2_b32_0");
  EXPECT_EQ(FreshRegisters(module, "%other").make(b32).name, "%other_b32_0");
}

// --- What is written can be read ----------------------------------------------------------------

TEST(Build, IsReadAsWhatItIs) {
  const Module empty = parse(".version 8.0\n");
  FreshRegisters registers(empty);
  Code code(registers);
  const Reg x = code.special(Special::ctaid_x), size = code.special(Special::ntid_x);
  const Reg n = code.mad(u32, x, size, 7);
  const Reg out = code.setp(ge, u32, n, 100, or_, code.setp(eq, u32, n, 3));
  code.when(out).bra("$rest");
  code.into(n).add(u32, n, 1);
  code.label("$rest");
  code.st(Space::global, b32, code.cvt(u64, u32, n), n);
  code.ret();
  const Module module = parse(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n" +
                              registers.declarations() + code.behind() + "\n}\n");
  const Body body = resolve(module, module.functions.front());
  ASSERT_TRUE(body.usable);
  const std::vector<Op> ops{Op::mov, Op::mov, Op::mad, Op::setp, Op::setp,
                            Op::bra, Op::add, Op::cvt, Op::st,   Op::ret};
  ASSERT_EQ(body.insts.size(), ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(body.insts[i].op, ops[i]) << i;
    EXPECT_FALSE(body.insts[i].opaque) << i;
  }
  EXPECT_EQ(body.insts[4].mods.bool_op, BoolOp::or_);
  EXPECT_EQ(body.targets_of(body.insts[5]).front(), 7U);
}

} // namespace
