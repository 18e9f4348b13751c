// Pinned multiply-adds: what is written for each choice, and for which sums.
#include "passes/pin_fma/contraction.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/shared/contraction_latitude.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Fuse = FuseChoice::Fuse;

struct Pinned {
  std::size_t sites = 0;
  bool first = false, second = false; // whether the products of the first site can be written
  std::string text;
};

// Every site gets the same choice, where it can be written.
Pinned pin(const std::string& code, Fuse fuse, int negated_factor = -1) {
  const ptx::Module module = ptx::parse(test::kernel_text(code + "\nret;"), "test.ptx");
  const ptx::Body body = ptx::resolve(module, module.functions.at(0));
  EXPECT_TRUE(body.usable);
  const Reaching reaching(body);
  const auto sites = find_sites(body, reaching);
  FuseChoices choices;
  for (const Site& site : sites) {
    const bool writable = fuse != Fuse::none && site.product[fuse == Fuse::first ? 0 : 1];
    choices[site.sum] = {writable ? fuse : Fuse::none, negated_factor};
  }
  Pinned result{sites.size()};
  if (!sites.empty()) {
    result.first = sites[0].product[0].has_value();
    result.second = sites[0].product[1].has_value();
  }
  result.text = ptx::print(module, passes::pin(body, reaching, sites, choices));
  const ptx::Module again = ptx::parse(result.text, "again.ptx");
  EXPECT_TRUE(again.diagnostics.empty()) << result.text;
  const ptx::Body pinned = ptx::resolve(again, again.functions.at(0));
  EXPECT_TRUE(pinned.usable) << result.text;
  EXPECT_EQ(count_latitude(pinned).fusable, 0U) << result.text;
  EXPECT_EQ(std::ranges::count(result.text, '\n'), std::ranges::count(*module.text, '\n'));
  return result;
}

constexpr const char* difference_of_products = R"(
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    mul.f32 %f3, %f1, %f2;
    mul.f32 %f6, %f4, %f5;
    sub.f32 %f7, %f3, %f6;)";

TEST(Contraction, SumsAreRoundedAndProductsStay) {
  const std::string text = pin(difference_of_products, Fuse::none).text;
  EXPECT_THAT(text, HasSubstr("mul.f32 %f3, %f1, %f2;"));
  EXPECT_THAT(text, HasSubstr("sub.rn.f32 %f7, %f3, %f6;"));
}

TEST(Contraction, SumsOfOtherThingsAreLeftAlone) {
  const Pinned result = pin("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;", Fuse::first);
  EXPECT_EQ(result.sites, 0U);
  EXPECT_THAT(result.text, HasSubstr("add.f32 %f2, %f1, %f1;"));
}

TEST(Contraction, FusesTheChosenProduct) {
  EXPECT_THAT(pin(difference_of_products, Fuse::first).text,
              HasSubstr("fma.rn.f32 %f7, %f1, %f2, %ptxasw_s_m; }"));
  EXPECT_THAT(pin(difference_of_products, Fuse::second).text,
              HasSubstr("neg.f32 %ptxasw_s_n, %f4; fma.rn.f32 %f7, %ptxasw_s_n, %f5, %f3; }"));
  EXPECT_THAT(pin(difference_of_products, Fuse::second, 1).text,
              HasSubstr("neg.f32 %ptxasw_s_n, %f5; fma.rn.f32 %f7, %f4, %ptxasw_s_n, %f3; }"))
      << "where the machine code has the sign";
}

TEST(Contraction, SignsGoIntoLiterals) {
  const std::string text =
      pin("mul.f32 %f3, %f1, 0f40000000;\nsub.f32 %f7, %f2, %f3;", Fuse::second).text;
  EXPECT_THAT(text, HasSubstr("fma.rn.f32 %f7, %f1, 0fC0000000, %f2;"));
  const std::string wide =
      pin("mul.f64 %fd3, %fd1, %fd2;\nsub.f64 %fd7, %fd3, 0d3FF0000000000000;", Fuse::first).text;
  EXPECT_THAT(wide, HasSubstr("fma.rn.f64 %fd7, %fd1, %fd2, 0dBFF0000000000000;"));
}

TEST(Contraction, OnlyProductAndModifiersAndGuard) {
  const std::string text = pin(R"(
    mul.ftz.f32 %f3, %f1, %f2;
    @%p1 add.ftz.sat.f32 %f4, %f5, %f3;)",
                               Fuse::second)
                               .text;
  EXPECT_THAT(text, HasSubstr("@%p1 fma.rn.ftz.sat.f32 %f4, %f1, %f2, %f5;"));
}

TEST(Contraction, ThroughMovAndNeg) {
  const std::string text = pin("mul.f32 %f3, %f1, %f2;\nneg.f32 %f5, %f3;\nmov.f32 %f6, %f5;\n"
                               "add.f32 %f7, %f6, %f4;",
                               Fuse::first)
                               .text;
  EXPECT_THAT(text, HasSubstr("neg.f32 %ptxasw_s_n, %f1; "
                              "fma.rn.f32 %f7, %ptxasw_s_n, %f2, %f4; }"));
}

TEST(Contraction, FactorsThatChangeAreKept) {
  const std::string text = pin(R"(
    mul.f32 %f3, %f1, %f2;
    mov.f32 %f1, 0f00000000;
    add.f32 %f4, %f3, %f5;)",
                               Fuse::first)
                               .text;
  EXPECT_THAT(text, HasSubstr("mov.f32 %ptxasw_fp_f32_0, %f1; mul.f32 %f3, %f1, %f2;"));
  EXPECT_THAT(text, HasSubstr("fma.rn.f32 %f4, %ptxasw_fp_f32_0, %f2, %f5;"));
}

// The product of this trip is not the one of the last.
TEST(Contraction, ProductsOfOtherTripsCannotBeWritten) {
  const Pinned result = pin(R"(
    mov.f32 %f3, 0f00000000;
$L: add.f32 %f4, %f3, %f5;
    mul.f32 %f3, %f1, %f2;
    @%p1 bra $L;)",
                            Fuse::first);
  EXPECT_EQ(result.sites, 1U);
  EXPECT_FALSE(result.first);
  EXPECT_THAT(result.text, Not(HasSubstr("fma")));
}

TEST(Contraction, OtherModifiersCannotBeWritten) {
  EXPECT_FALSE(pin("mul.ftz.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f5;", Fuse::first).first);
  EXPECT_FALSE(pin("mul.sat.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f5;", Fuse::first).first);
  EXPECT_FALSE(pin("mul.f32 %f3, %f1, %f2;\n@%p1 mul.f32 %f3, %f2, %f2;\nadd.f32 %f4, %f3, %f5;",
                   Fuse::first)
                   .first)
      << "which of the two?";
}

TEST(Contraction, DivisionsAreSpelledOut) {
  const std::string fast = pin(R"(
    div.approx.ftz.f32 %f3, %f1, %f2;
    sub.ftz.f32 %f4, %f5, %f3;)",
                               Fuse::second)
                               .text;
  EXPECT_THAT(fast, HasSubstr("rcp.approx.ftz.f32 %ptxasw_fp_f32_1, %f2; "
                              "mul.ftz.f32 %f3, %ptxasw_fp_f32_0, %ptxasw_fp_f32_1;"));
  EXPECT_THAT(fast, HasSubstr("fma.rn.ftz.f32 %f4, %ptxasw_s_n, %ptxasw_fp_f32_1, %f5;"));
  const std::string full = pin(R"(
    div.full.f32 %f3, %f1, %f2;
    add.f32 %f4, %f3, %f5;)",
                               Fuse::first)
                               .text;
  EXPECT_THAT(full, HasSubstr("fma.rn.f32 %f4, %ptxasw_fp_f32_0, %ptxasw_fp_f32_1, %f5;"));
}

} // namespace
} // namespace ptxasw::passes
