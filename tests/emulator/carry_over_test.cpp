// An emulation is kept for another text where emulating that would give the same, and nowhere else.
#include "emulator/carry_over.hpp"

#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

using namespace ptxasw;
using emulator::Kernel;

namespace {

// A loop over rows of a matrix, and a product and sum that nothing hangs on but what is stored.
constexpr std::string_view frame = R"(.version 8.0
.target sm_90
.address_size 64
{before}
.visible .entry k(.param .u64 p, .param .u32 n)
{{
.reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<12>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mov.u32 %r3, 0;
mov.f32 %f4, 0f3F800000;
{entry}
LOOP:
mad.lo.u32 %r4, %r3, %r1, %r2;
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
ld.global.u32 %r9, [%rd3+4];
mul.f32 %f2, %f1, %f4;
{sum}
{behind}
st.global.f32 [%rd3+8], %f3;
add.s32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra LOOP;
ret;
}}
)";

struct Lines {
  std::string before, entry, sum = "add.f32 %f3, %f2, %f4;", behind;
};

std::string text_of(const Lines& lines) {
  std::string text(frame);
  const auto put = [&](std::string_view what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
  };
  put("{before}", lines.before);
  put("{entry}", lines.entry);
  put("{sum}", lines.sum);
  put("{behind}", lines.behind);
  for (const std::string_view brace : {"{{", "}}"})
    text.replace(text.find(brace), 2, brace.substr(0, 1));
  return text;
}

// All that a trace says.
std::vector<std::string> described(const Kernel& kernel) {
  const sym::Context& c = *kernel.context;
  std::vector<std::string> all;
  const auto term = [&](sym::Term t) { return t.valid() ? c.to_string(t) + " " : "- "; };
  for (const emulator::Event& event : kernel.trace.events)
    all.push_back("event " + std::to_string(event.inst) + " " + std::to_string(event.block) + " " +
                  term(event.address) + term(event.guard));
  for (const emulator::Definition& d : kernel.trace.definitions)
    all.push_back("definition " + std::to_string(d.inst) + " " +
                  kernel.body.registers.at(d.reg).name + " " + term(d.value));
  for (const sym::Term fact : kernel.trace.entry_fact)
    all.push_back("fact " + term(fact));
  for (sym::Term t{0}; t.id < c.node_count(); ++t.id)
    if (c.kind(t) == sym::Kind::atom) {
      const sym::Atom& atom = c.atom_info(t);
      all.push_back("atom " + atom.name + " " + std::to_string(atom.tag) + " " +
                    std::to_string(atom.tag2));
    }
  return all;
}

// What is kept of `first` for `second` is what emulating `second` gives; false if nothing is.
bool is_kept(const Lines& first, const Lines& second) {
  const ptx::Module before = ptx::parse(text_of(first)), after = ptx::parse(text_of(second));
  const ptx::Function &old = before.functions.back(), &now = after.functions.back();
  Kernel earlier = emulator::emulate(before, old);
  const Kernel fresh = emulator::emulate(after, now);
  EXPECT_TRUE(earlier.trace.refused.empty()) << earlier.trace.refused.text;
  const std::vector<std::string> had = described(earlier);
  const auto kept = emulator::carried_over(earlier, after, now);
  if (!kept) {
    EXPECT_EQ(described(earlier), had) << "it is as it was";
    return false;
  }
  EXPECT_EQ(kept->body.module, &after);
  EXPECT_EQ(described(*kept), described(fresh));
  return true;
}

} // namespace

TEST(CarriedOver, WhereOnlyArithmeticChanged) {
  EXPECT_TRUE(is_kept({}, {.sum = "add.rn.f32 %f3, %f2, %f4;"}));
  EXPECT_TRUE(is_kept({}, {.sum = "fma.rn.f32 %f3, %f1, %f4, %f4;"}));
  EXPECT_TRUE(
      is_kept({}, {.sum = "{ .reg .f32 %s; neg.f32 %s, %f1; fma.rn.f32 %f3, %s, %f4, %f4; }"}));
}

// Instructions and registers have other numbers then.
TEST(CarriedOver, WithMoreInstructionsAndRegisters) {
  EXPECT_TRUE(is_kept({}, {.entry = ".reg .f32 %more<2>; mov.f32 %more1, %f4;",
                           .sum = "fma.rn.f32 %f3, %f1, %more1, %f4;"}));
  EXPECT_TRUE(is_kept({.sum = "mov.f32 %f7, %f2; add.f32 %f3, %f7, %f4;"},
                      {.sum = "fma.rn.f32 %f3, %f1, %f4, %f4;"}));
}

TEST(CarriedOver, NotWhereAnAddressHangsOnIt) {
  const std::string index = "cvt.rzi.u32.f32 %r5, %f3; mul.wide.u32 %rd5, %r5, 4; "
                            "add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r10, [%rd6];";
  EXPECT_FALSE(
      is_kept({.behind = index}, {.sum = "fma.rn.f32 %f3, %f1, %f4, %f4;", .behind = index}));
  EXPECT_FALSE(is_kept({.behind = index}, {.sum = "add.rn.f32 %f3, %f2, %f4;", .behind = index}));
  EXPECT_FALSE(is_kept(
      {.behind = "setp.gt.f32 %p2, %f3, %f4; @%p2 bra LOOP;"},
      {.sum = "add.rn.f32 %f3, %f2, %f4;", .behind = "setp.gt.f32 %p2, %f3, %f4; @%p2 bra LOOP;"}));
}

// A register that addresses hang on lives into the loop because a fused operation reads it there.
TEST(CarriedOver, NotWhereAFollowedRegisterLivesLonger) {
  const std::string index = "cvt.rn.f32.u32 %f5, %r1; cvt.rzi.u32.f32 %r5, %f5; "
                            "mul.wide.u32 %rd5, %r5, 4; add.s64 %rd1, %rd1, %rd5;";
  EXPECT_TRUE(is_kept({.entry = index}, {.entry = index, .sum = "fma.rn.f32 %f3, %f1, %f4, %f4;"}));
  EXPECT_FALSE(
      is_kept({.entry = index}, {.entry = index, .sum = "fma.rn.f32 %f3, %f1, %f5, %f4;"}));
}

TEST(CarriedOver, NotWhereMemoryOrControlFlowChanged) {
  EXPECT_FALSE(is_kept({}, {.behind = "ld.global.f32 %f6, [%rd3+12];"}));
  EXPECT_FALSE(is_kept({}, {.behind = "bar.sync 0;"}));
  EXPECT_FALSE(is_kept({}, {.entry = "bar.sync 0;"})) << "at the end of a block";
  EXPECT_FALSE(is_kept({.entry = "bar.sync 0;"}, {}));
  EXPECT_FALSE(is_kept({}, {.behind = "@%p1 bra NEXT; NEXT:"}));
  EXPECT_FALSE(is_kept({.behind = "st.global.u32 [%rd3+12], %r9;"},
                       {.behind = "st.global.u32 [%rd3+16], %r9;"}));
  EXPECT_FALSE(is_kept({.behind = "st.global.u32 [%rd3+12], %r9;"},
                       {.behind = "st.global.u32 [%rd3+12], %r8;"}));
}

TEST(CarriedOver, NotWhereAnAccessIsOfAnotherKind) {
  EXPECT_TRUE(
      is_kept({.behind = "ld.global.u32 %r10, [%rd3+16];"},
              {.sum = "add.rn.f32 %f3, %f2, %f4;", .behind = "ld.global.u32 %r10, [%rd3+16];"}));
  EXPECT_FALSE(is_kept({.behind = "ld.global.u32 %r10, [%rd3+16];"},
                       {.behind = "ld.volatile.global.u32 %r10, [%rd3+16];"}));
}

// Lines are part of names.
TEST(CarriedOver, NotWhereLinesMoved) {
  EXPECT_FALSE(is_kept({}, {.sum = "\nadd.rn.f32 %f3, %f2, %f4;"}));
}

// The same name, and another register.
TEST(CarriedOver, NotWhereANameMeansAnotherRegister) {
  const std::string store = "st.global.u32 [%rd3+12], %r9;";
  EXPECT_FALSE(is_kept({.behind = store}, {.behind = "{ .reg .b32 %r9; " + store + " }"}));
  EXPECT_FALSE(is_kept({.behind = "{ .reg .b32 %r9; " + store + " }"}, {.behind = store}));
}

// What a callee returns may have changed with its text.
TEST(CarriedOver, NotWithCalls) {
  const std::string before = ".func f() { ret; }", call = "call f;";
  EXPECT_FALSE(is_kept({.before = before, .behind = call},
                       {.before = before, .sum = "add.rn.f32 %f3, %f2, %f4;", .behind = call}));
}

TEST(CarriedOver, NotWhereSymbolsHaveOtherNumbers) {
  const std::string before = ".global .u32 a; .global .u32 b;";
  EXPECT_FALSE(
      is_kept({.before = before, .behind = "st.global.u32 [a], %r9; st.global.u32 [b], %r9;"},
              {.before = before,
               .entry = "mov.u64 %rd9, b;",
               .behind = "st.global.u32 [a], %r9; st.global.u32 [b], %r9;"}));
}

TEST(CarriedOver, NotWhereASymbolIsAnotherOne) {
  EXPECT_FALSE(
      is_kept({.before = ".global .align 8 .b32 a[2];", .behind = "st.global.u32 [a], %r9;"},
              {.before = ".global .align 4 .b32 a[2];", .behind = "st.global.u32 [a], %r9;"}));
}
