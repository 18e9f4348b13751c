// Pinned multiply-adds: what is written for each choice.
#include "rewrite/contraction.hpp"

#include "rewrite/float_freedom.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Pinned {
  unsigned fusable;
  std::string text;
};

Pinned pin(const std::string& body, Contraction choice) {
  const ptx::Module module = ptx::parse(test::kernel_text(body + "\nret;"), "test.ptx");
  const ptx::Body resolved = ptx::resolve(module, module.functions.at(0));
  EXPECT_TRUE(resolved.usable);
  const auto edits = rewrite::pin(resolved, choice);
  const std::string text = ptx::print(module, edits);
  const ptx::Module again = ptx::parse(text, "again.ptx");
  EXPECT_TRUE(again.diagnostics.empty());
  EXPECT_EQ(rewrite::count_freedom(ptx::resolve(again, again.functions.at(0))).fusable, 0U);
  return {rewrite::count_freedom(resolved).fusable, text};
}

constexpr const char* difference_of_products = R"(
    mul.f32 %f3, %f1, %f2;
    mul.f32 %f6, %f4, %f5;
    sub.f32 %f7, %f3, %f6;)";

TEST(Contraction, SumsOfProductsAreFree) {
  EXPECT_EQ(pin(difference_of_products, Contraction::none).fusable, 1U);
  EXPECT_EQ(pin("add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f3;", Contraction::none).fusable, 0U);
  EXPECT_EQ(pin("mul.rn.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f3;", Contraction::none).fusable,
            0U);
  EXPECT_EQ(pin("mul.f32 %f3, %f1, %f2;\nadd.rn.f32 %f4, %f3, %f3;", Contraction::none).fusable,
            0U);
  EXPECT_EQ(pin("mul.f64 %fd3, %fd1, %fd2;\nadd.f64 %fd4, %fd3, %fd1;", Contraction::none).fusable,
            1U);
  EXPECT_EQ(pin("mul.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f3;", Contraction::none).fusable, 1U);
  EXPECT_EQ(pin("mul.f32 %f3, %f1, %f2;\n@%p1 mov.f32 %f3, %f2;\nadd.f32 %f4, %f3, %f1;",
                Contraction::none)
                .fusable,
            1U); // a product on some path
  EXPECT_EQ(pin("mul.lo.s32 %r5, %r1, %r2;\nadd.s32 %r6, %r5, %r1;", Contraction::none).fusable,
            0U);
}

TEST(Contraction, NoneRoundsEverything) {
  const std::string text = pin(difference_of_products, Contraction::none).text;
  EXPECT_THAT(text, HasSubstr("mul.rn.f32 %f3, %f1, %f2;"));
  EXPECT_THAT(text, HasSubstr("sub.rn.f32 %f7, %f3, %f6;"));
}

TEST(Contraction, FusesTheChosenProduct) {
  EXPECT_THAT(pin(difference_of_products, Contraction::first).text,
              HasSubstr("neg.f32 %ptxasw_n, %f6; fma.rn.f32 %f7, %f1, %f2, %ptxasw_n; }"));
  EXPECT_THAT(pin(difference_of_products, Contraction::second).text,
              HasSubstr("neg.f32 %ptxasw_n, %f4; fma.rn.f32 %f7, %ptxasw_n, %f5, %f3; }"));
}

TEST(Contraction, OnlyProductAndModifiersAndGuard) {
  const std::string text = pin(R"(
    mul.ftz.f32 %f3, %f1, %f2;
    @%p1 add.ftz.sat.f32 %f4, %f5, %f3;)",
                               Contraction::first)
                               .text;
  EXPECT_THAT(text, HasSubstr("@%p1 fma.rn.ftz.sat.f32 %f4, %f1, %f2, %f5;"));
}

TEST(Contraction, FactorsThatChangedAreNotFused) {
  const Pinned result = pin(R"(
    mul.f32 %f3, %f1, %f2;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f1, 0f3F800000;
    add.f32 %f4, %f3, %f5;)",
                            Contraction::first);
  EXPECT_EQ(result.fusable, 1U);
  EXPECT_THAT(result.text, Not(HasSubstr("fma")));
}

} // namespace
} // namespace ptxasw
