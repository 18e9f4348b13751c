// Rewritten kernels by their machine code: what may change, and what may not.
#include "pipeline/judgement.hpp"

#include "machine/cubins.hpp"
#include "machine/fake.hpp"

#include <gmock/gmock.h>

namespace ptxasw::pipeline {
namespace {

using namespace machine::test;
using machine::FakeAssembler;
using testing::HasSubstr;

// Line 6 is `code`, line 7 the next statement, ...
std::string kernel(const std::string& code) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n"
         "{ .reg .f32 %f<9>; .reg .b64 %rd<9>;\n" +
         code + "\nret;\n}\n";
}

// Why the second text may not stand for the first, given the machine code of each: one instruction
// for each line from 6 on.
std::string verdict(const std::string& before, const Words& was, const std::string& after,
                    const Words& is, unsigned sm = 90) {
  const auto lines = [](const Words& words) {
    std::vector<unsigned> result;
    for (unsigned n = 0; n < words.size(); ++n)
      result.push_back(6 + n);
    return result;
  };
  unsigned asked = 0; // the original comes first
  FakeAssembler assembler([&](const AssemblyRequest& request) {
    EXPECT_TRUE(request.line_info);
    const Words& words = asked++ == 0 ? was : is;
    return Assembled{cubin(words, lines(words), sm), ""};
  });
  const auto refused = judge(ptx::parse(kernel(before), "k.ptx"), kernel(after), {"k"}, assembler);
  return refused.contains("k") ? refused.at("k") : "";
}

const std::string sum = "add.rn.f32 %f1, %f2, %f3;", product = "mul.f32 %f4, %f1, %f1;",
                  fused = "fma.rn.f32 %f5, %f1, %f2, %f3;", sine = "sin.approx.ftz.f32 %f6, %f1;";
const auto add = three(fadd, 1, 2, 3), mul = three(fmul, 4, 1, 1), fma = three(ffma, 5, 1, 2, 3),
           sin = three(mufu, 6, 0, 1, 0x0400), cos = three(mufu, 6, 0, 1, 0);

TEST(Judgement, CopiesOfTheSameOperationsMayStand) {
  EXPECT_EQ(verdict(sum + "\n" + fused, {add, fma, stop},
                    sum + "\n" + sum + "\n" + fused + "\n" + fused, {add, add, fma, fma, stop}),
            "");
}

TEST(Judgement, RoundedSumsAndProductsMustNotBeFused) {
  EXPECT_THAT(verdict(sum, {add, stop}, sum, {fma, stop}), HasSubstr("add.rn.f32 becomes"));
  EXPECT_THAT(verdict(product, {mul, stop}, product, {fma, stop}), HasSubstr("mul.f32 becomes"));
}

TEST(Judgement, FusedOnesMayBecomeSimpler) {
  EXPECT_EQ(verdict(fused, {fma, stop}, fused, {mul, stop}), "") << "plus -0";
}

TEST(Judgement, FunctionsAreComputedInBothOrInNeither) {
  EXPECT_EQ(verdict(sine, {sin, stop}, sine + "\n" + sine, {sin, sin, stop}), "");
  EXPECT_THAT(verdict(sine, {sin, stop}, sine, {stop}), HasSubstr("does not become"));
  EXPECT_THAT(verdict(sine, {stop}, sine, {sin, stop}), HasSubstr("becomes"));
  EXPECT_THAT(verdict(sine, {sin, stop}, sine, {cos, stop}), HasSubstr("becomes"));
}

TEST(Judgement, OtherFormsBecomeWhatTheyWere) {
  const std::string division = "div.full.f32 %f1, %f2, %f3;";
  EXPECT_EQ(verdict(division, {mul, stop}, division, {mul, stop}), "");
  EXPECT_THAT(verdict(division, {mul, stop}, division, {fma, stop}), HasSubstr("div.full.f32"));
}

TEST(Judgement, WhatCannotBeReadIsOnlyRefusedWhereItMatters) {
  EXPECT_EQ(verdict(sum, {add, stop}, sum, {fma, stop}, 130), "")
      << "no freedom is left at the level of PTX";
  EXPECT_THAT(verdict(sine, {sin, stop}, sine, {sin, stop}, 130), HasSubstr("not known"));
}

TEST(Judgement, KernelsWithoutArithmeticAreNotAssembled) {
  FakeAssembler assembler([](const AssemblyRequest&) -> std::optional<Assembled> { return {}; });
  const std::string text = kernel("mov.u64 %rd1, %rd2;");
  EXPECT_TRUE(judge(ptx::parse(text, "k.ptx"), text, {"k"}, assembler).empty());
  EXPECT_TRUE(assembler.asked.empty());
}

} // namespace
} // namespace ptxasw::pipeline
