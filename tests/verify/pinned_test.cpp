// Which pinned sums the original may mean, and that the comparison is with the original so pinned.
#include "verify/pinned.hpp"

#include "ptx/parse.hpp"
#include "simt/verify.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace ptxasw::verify {
namespace {

// out[i] = what the lines make of %f1 = in[i], %f2 = in[i + 1], %f3 = in[i + 2] in %f9.
std::string kernel(std::string_view lines) {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;
ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4]; ld.global.f32 %f3, [%rd3+8];
{}
st.global.f32 [%rd5], %f9;
ret;
}}
)",
                     lines);
}

struct Case {
  const char* name;
  const char *original, *second;
  bool legal;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

constexpr const char* add = "mul.f32 %f4, %f1, %f2;\nadd.f32 %f9, %f4, %f3;\n";
constexpr const char* sub = "mul.f32 %f4, %f1, %f2;\nsub.f32 %f9, %f4, %f3;\n";
constexpr const char* from = "mul.f32 %f4, %f1, %f2;\nsub.f32 %f9, %f3, %f4;\n";
constexpr const char* scaled = "mul.f32 %f4, %f1, 0f40400000;\nsub.f32 %f9, %f3, %f4;\n";
constexpr const char* two =
    "mul.f32 %f4, %f1, %f2;\nmul.f32 %f5, %f3, %f3;\nadd.f32 %f9, %f4, %f5;\n";

const Case cases[] = {
    {"Rounded", add, "mul.rn.f32 %f4, %f1, %f2;\nadd.rn.f32 %f9, %f4, %f3;\n", true},
    {"Fused", add, "mul.rn.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f1, %f2, %f3;\n", true},
    {"FactorsSwapped", add, "mul.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f2, %f1, %f3;\n", true},
    {"FirstOfTwo", two,
     "mul.f32 %f4, %f1, %f2;\nmul.f32 %f5, %f3, %f3;\nfma.rn.f32 %f9, %f1, %f2, %f5;\n", true},
    {"SecondOfTwo", two,
     "mul.f32 %f4, %f1, %f2;\nmul.f32 %f5, %f3, %f3;\nfma.rn.f32 %f9, %f3, %f3, %f4;\n", true},
    {"AddendNegated", sub,
     "mul.f32 %f4, %f1, %f2;\n{ .reg .f32 %n; neg.f32 %n, %f3; fma.rn.f32 %f9, %f1, %f2, %n; }\n",
     true},
    {"FactorNegated", from,
     "mul.f32 %f4, %f1, %f2;\n{ .reg .f32 %n; neg.f32 %n, %f2; fma.rn.f32 %f9, %f1, %n, %f3; }\n",
     true},
    {"LiteralNegated", scaled,
     "mul.f32 %f4, %f1, 0f40400000;\nfma.rn.f32 %f9, %f1, 0fC0400000, %f3;\n", true},
    {"SignForgotten", from, "mul.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f1, %f2, %f3;\n", false},
    {"LiteralSignForgotten", scaled,
     "mul.f32 %f4, %f1, 0f40400000;\nfma.rn.f32 %f9, %f1, 0f40400000, %f3;\n", false},
    {"OtherFactor", add, "mul.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f1, %f3, %f3;\n", false},
    {"OtherAddend", add, "mul.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f1, %f2, %f2;\n", false},
    {"OtherOperation", add, "mul.f32 %f4, %f1, %f2;\nsub.rn.f32 %f9, %f4, %f3;\n", false},
    {"OtherSource", add, "mul.f32 %f4, %f1, %f2;\nadd.rn.f32 %f9, %f4, %f1;\n", false},
    {"OtherRounding", add, "mul.f32 %f4, %f1, %f2;\nfma.rz.f32 %f9, %f1, %f2, %f3;\n", false},
    {"Flushed", add, "mul.f32 %f4, %f1, %f2;\nfma.rn.ftz.f32 %f9, %f1, %f2, %f3;\n", false},
    {"RoundedProduct", "mul.rn.f32 %f4, %f1, %f2;\nadd.f32 %f9, %f4, %f3;\n",
     "mul.rn.f32 %f4, %f1, %f2;\nfma.rn.f32 %f9, %f1, %f2, %f3;\n", false},
    {"OtherTrip",
     "mov.f32 %f4, %f1;\nagain: add.f32 %f9, %f4, %f3;\nmul.f32 %f5, %f1, %f2;\nsetp.gt.f32 %p1, "
     "%f5, 0f40000000;\n@%p1 bra again;\n",
     "mov.f32 %f4, %f1;\nagain: fma.rn.f32 %f9, %f1, %f2, %f3;\nmul.f32 %f5, %f1, "
     "%f2;\nsetp.gt.f32 %p1, %f5, 0f40000000;\n@%p1 bra again;\n",
     false},
    {"OtherBlock", "mul.f32 %f4, %f1, %f2;\nnext: add.f32 %f9, %f4, %f3;\n@%p1 bra next;\n",
     "mul.f32 %f4, %f1, %f2;\nnext: fma.rn.f32 %f9, %f1, %f2, %f3;\n@%p1 bra next;\n", false},
    {"ChangedFactor", "mul.f32 %f4, %f1, %f2;\nmov.f32 %f1, %f2;\nadd.f32 %f9, %f4, %f3;\n",
     "mul.f32 %f4, %f1, %f2;\nmov.f32 %f1, %f2;\nfma.rn.f32 %f9, %f1, %f2, %f3;\n", false},
};

class Pins : public testing::TestWithParam<Case> {};

TEST_P(Pins, AreLegalOrNot) {
  const std::string first = kernel(GetParam().original), other = kernel(GetParam().second);
  const ptx::Module a = ptx::parse(first), b = ptx::parse(other);
  const Pinned pinned = pin_like(a, b, "k");
  EXPECT_NE(pinned.changed, 0U);
  EXPECT_EQ(pinned.unclear == 0, GetParam().legal);
  const auto module = [](const std::string& text) {
    return std::make_shared<const ptx::Module>(ptx::parse(text));
  };
  EXPECT_FALSE(simt::verify(module(pinned.text), module(other), "k", {.launches = 20}).failure);
}
INSTANTIATE_TEST_SUITE_P(All, Pins, testing::ValuesIn(cases),
                         [](const auto& pin) { return pin.param.name; });

} // namespace
} // namespace ptxasw::verify
