// Rewritten kernels by their machine code: what may change, and what may not.
#include "oracle/validation.hpp"

#include "oracle/fake.hpp"
#include "sass/cubins.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::oracle {
namespace {

using namespace sass::test;
using oracle::FakeAssembler;
using testing::HasSubstr;

// Line 6 is `code`, line 7 the next statement, ...
std::string kernel(const std::string& code) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n"
         "{ .reg .f32 %f<9>; .reg .b64 %rd<9>;\n" +
         code + "\nret;\n}\n";
}

// Each line of `after` is a copy of the equal one of `before`.
passes::Rewritten copied(const std::string& before, const std::string& after) {
  passes::Rewritten made{after, {}};
  for (std::size_t at = 0, end = 0; at < after.size(); at = end) {
    end = after.find('\n', at) + 1;
    const auto from = before.find(after.substr(at, end - at));
    if (from != std::string::npos)
      made.origins.keep(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at),
                        static_cast<std::uint32_t>(from));
  }
  return made;
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
  const auto refused = validate(ptx::parse(kernel(before), "k.ptx"),
                                copied(kernel(before), kernel(after)), {"k"}, assembler);
  return refused.contains("k") ? refused.at("k").text : "";
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

TEST(Judgement, WhatOneLineBecomesIsNoExcuseForAnother) {
  const std::string other = "add.rn.f32 %f4, %f2, %f6;", both = sum + "\n" + other;
  const auto as_sum = three(fadd, 4, 2, 6), as_fma = three(ffma, 4, 2, 6, 3);
  EXPECT_EQ(verdict(both, {fma, as_sum, stop}, both, {fma, as_sum, stop}), "");
  EXPECT_THAT(verdict(both, {fma, as_sum, stop}, both, {fma, as_fma, stop}),
              HasSubstr("becomes \"fma"));
}

TEST(Judgement, FusedSumsFuseTheSameProducts) {
  const std::string text = product + "\n" + sine + "\nadd.rn.f32 %f7, %f4, %f6;";
  const auto of_sine = three(ffma, 7, 1, 1, 6), of_product = three(ffma, 7, 1, 1, 4);
  EXPECT_EQ(verdict(text, {mul, sin, of_sine, stop}, text, {mul, sin, of_sine, stop}), "");
  EXPECT_THAT(verdict(text, {mul, sin, of_sine, stop}, text, {mul, sin, of_product, stop}),
              HasSubstr("becomes \"fma"));
}

TEST(Judgement, ArithmeticThatIsNobodysCopyIsRefused) {
  EXPECT_THAT(verdict(sum, {add, stop}, sum + "\n" + product, {add, mul, stop}),
              HasSubstr("a copy of none"));
  EXPECT_EQ(verdict(sum, {add, stop}, sum + "\nadd.rp.f32 %f4, %f1, %f3;", {add, add, stop}), "")
      << "which leaves nothing to choose";
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

TEST(Judgement, NoCopyOfAFunctionIsFoldedAlone) {
  const std::string first = "sin.approx.f32 %f6, %f1;", second = "sin.approx.f32 %f7, %f2;";
  passes::Rewritten both{kernel(first + "\n" + second), {}};
  const auto body = static_cast<std::uint32_t>(kernel("").find("\n\nret") + 1);
  both.origins.keep(0, body, 0);
  both.origins.copy(body, body);
  both.origins.copy(body + static_cast<std::uint32_t>(first.size()) + 1, body);
  const auto validated = [&](const Words& is, const std::vector<unsigned>& lines) {
    unsigned asked = 0;
    FakeAssembler assembler([&](const AssemblyRequest&) {
      return asked++ == 0 ? Assembled{cubin({sin, stop}, {6, 7}), ""}
                          : Assembled{cubin(is, lines), ""};
    });
    return validate(ptx::parse(kernel(first), "k.ptx"), both, {"k"}, assembler);
  };
  EXPECT_TRUE(validated({sin, three(mufu, 7, 0, 2, 0x0400), stop}, {6, 7, 8}).empty());
  EXPECT_FALSE(validated({sin, stop}, {6, 8}).empty());
}

// The sine of a sine: the machine code of the second text takes it of the first one's argument.
TEST(Judgement, ChainsOfFunctionsStayAsTheyWere) {
  const std::string chain = sine + "\nabs.f32 %f7, %f6;\nsin.approx.ftz.f32 %f8, %f7;";
  const auto last = three(mufu, 8, 0, 6, 0x0400), other = three(mufu, 8, 0, 1, 0x0400),
             nothing = three(fadd, 7, 2, 3);
  EXPECT_EQ(verdict(chain, {sin, nothing, last, stop}, chain, {sin, nothing, last, stop}), "");
  EXPECT_THAT(verdict(chain, {sin, nothing, last, stop}, chain, {sin, nothing, other, stop}),
              HasSubstr("sin.approx.ftz.f32 becomes"));
}

// What hands the first one on may be a sum that adds nothing, or memory of the thread alone.
TEST(Judgement, ChainsAreFoundThroughWhateverMayHandAValueOn) {
  const auto last = three(mufu, 8, 0, 6, 0x0400), other = three(mufu, 8, 0, 1, 0x0400),
             nothing = three(fadd, 7, 2, 3);
  for (const char* link : {"add.rn.f32 %f7, %f6, 0f80000000;", "mul.rn.f32 %f7, %f6, 0f3F800000;",
                           "div.rn.f32 %f7, %f6, 0f3F800000;"}) {
    const std::string chain = sine + "\n" + link + "\nsin.approx.ftz.f32 %f8, %f7;";
    EXPECT_EQ(verdict(chain, {sin, nothing, last, stop}, chain, {sin, nothing, last, stop}), "");
    EXPECT_THAT(verdict(chain, {sin, nothing, last, stop}, chain, {sin, nothing, other, stop}),
                HasSubstr("sin.approx.ftz.f32 becomes"))
        << link;
  }
}

// Bits 84 to 86 of FMUL: 4 is none, 5 a factor of two.
TEST(Judgement, ProductsAreScaledInEachCopyOrInNone) {
  const std::string twice = "mul.f32 %f7, %f4, 0f40000000;", both = product + "\n" + twice;
  const std::uint64_t one = 4 << 20, two = 5 << 20, four = 6 << 20;
  const auto first = three(fmul, 4, 1, 1, one), apart = three(fmul, 7, 4, 2, one),
             scaled = three(fmul, 7, 1, 1, two), more = three(fmul, 7, 1, 1, four),
             of_first = three(fmul, 7, 4, 4, two);
  EXPECT_EQ(verdict(both, {first, apart, stop}, both, {first, apart, stop}), "");
  EXPECT_EQ(verdict(both, {first, scaled, stop}, both, {first, scaled, stop}), "");
  const auto differs = HasSubstr("mul.f32 #40000000 is not made one");
  EXPECT_THAT(verdict(both, {first, apart, stop}, both, {first, scaled, stop}), differs);
  EXPECT_THAT(verdict(both, {first, scaled, stop}, both, {first, apart, stop}), differs);
  EXPECT_THAT(verdict(both, {first, scaled, stop}, both, {first, more, stop}), differs);
  EXPECT_THAT(verdict(both, {first, scaled, stop}, both, {first, of_first, stop}), differs)
      << "of another product";
  EXPECT_THAT(verdict(both, {first, scaled, stop}, both, {first, add, stop}), differs) << "gone";
}

// In a loop that is unrolled some trips have a scale: which is not known.
TEST(Judgement, ProductsWithAndWithoutScaleAreRefused) {
  const std::uint64_t one = 4 << 20, two = 5 << 20;
  const Words words{three(fmul, 4, 1, 1, one), three(fmul, 7, 2, 2, two), stop};
  FakeAssembler assembler([&](const AssemblyRequest&) {
    return Assembled{cubin(words, {6, 6, 7}), ""};
  });
  const auto refused = validate(ptx::parse(kernel(product), "k.ptx"),
                                copied(kernel(product), kernel(product)), {"k"}, assembler);
  EXPECT_EQ(refused.size(), 1U);
}

TEST(Judgement, EqualValuesAreComputedOnce) {
  const std::string again = "sin.approx.ftz.f32 %f7, %f1;", two = sine + "\n" + again;
  EXPECT_EQ(verdict(two, {sin, sin, stop}, two, {sin, three(mov, 7, 0, 6), stop}), "");
}

TEST(Judgement, OtherFormsBecomeWhatTheyWere) {
  const std::string division = "div.rn.f32 %f1, %f2, %f3;", quick = "div.full.f32 %f1, %f2, %f3;";
  for (const std::string& text : {division, quick}) {
    EXPECT_EQ(verdict(text, {mul, stop}, text, {mul, stop}), "");
    EXPECT_THAT(verdict(text, {mul, stop}, text, {fma, stop}), HasSubstr("div."));
  }
}

TEST(Judgement, WhatCannotBeReadIsOnlyRefusedWhereItMatters) {
  EXPECT_EQ(verdict(sum, {add, stop}, sum, {fma, stop}, 130), "")
      << "no freedom is left at the level of PTX";
  EXPECT_THAT(verdict(sine, {sin, stop}, sine, {sin, stop}, 130), HasSubstr("not known"));
}

TEST(Judgement, TextsThatWereWrittenAnewAreHeldAgainstTheirForms) {
  const auto validated = [&](const std::string& text, const Words& is) {
    unsigned asked = 0;
    FakeAssembler assembler([&](const AssemblyRequest&) {
      return Assembled{cubin(asked++ == 0 ? Words{sin, stop} : is, {6, 7}), ""};
    });
    return validate(ptx::parse(kernel(sine), "k.ptx"), ptx::parse(kernel(text), "k.ptx"), {"k"},
                    assembler);
  };
  EXPECT_TRUE(validated(sine, {sin, stop}).empty());
  EXPECT_FALSE(validated(sine, {cos, stop}).empty());
  EXPECT_FALSE(validated(sine, {stop, stop}).empty());
  EXPECT_FALSE(validated("add.rn.f32 %f1, %f2, %f3;", {fma, stop}).empty());
}

// Either version may have the freedom: a rewrite that brings a product to a sum makes one.
TEST(Judgement, IsPassedOnlyByKernelsWithAChoice) {
  const auto choices = [](const std::string& before, const std::string& after) {
    const ptx::Module original = ptx::parse(kernel(before), "k.ptx");
    passes::Rewritten made{kernel(after), {}, ptx::parse(kernel(after), "k.ptx")};
    return kernels_with_choice(original, made, {"k"}).size();
  };
  const std::string apart = product + "\nld.global.f32 %f7, [%rd1];\nadd.f32 %f8, %f7, %f2;",
                    together = product + "\nmov.f32 %f7, %f4;\nadd.f32 %f8, %f7, %f2;";
  EXPECT_EQ(choices(sum, sum + "\n" + fused), 0U);
  EXPECT_EQ(choices(apart, apart), 0U);
  EXPECT_EQ(choices(apart, together), 1U);
  EXPECT_EQ(choices(together, apart), 1U);
  EXPECT_EQ(choices(sum, sine), 1U);
}

TEST(Judgement, KernelsWithoutArithmeticAreNotAssembled) {
  FakeAssembler assembler([](const AssemblyRequest&) -> std::optional<Assembled> { return {}; });
  const ptx::Module module = ptx::parse(kernel("mov.u64 %rd1, %rd2;"), "k.ptx");
  EXPECT_TRUE(validate(module, module, {"k"}, assembler).empty());
  EXPECT_TRUE(assembler.asked.empty());
}

} // namespace
} // namespace ptxasw::oracle
