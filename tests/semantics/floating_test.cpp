// Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5): corners by hand, rounding against the host.
#include "semantics/cases.hpp"
#include "semantics/samples.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

namespace ptxasw {
namespace {

using harness::expect;

constexpr std::uint64_t one = 0x3f800000, two = 0x40000000, inf = 0x7f800000;
constexpr std::uint64_t canonical = 0x7fffffff, minus_zero = 0x80000000;

TEST(Float, NaNsZerosAndInfinities) {
  expect({
      {"add.f32 r, r, r", {inf, inf | minus_zero}, {canonical}},
      {"add.f32 r, r, r", {0xffc01234, one}, {canonical}},
      {"mul.f32 r, r, r", {inf, 0}, {canonical}},
      {"sqrt.rn.f32 r, r", {0xbf800000}, {canonical}},
      {"sqrt.rn.f32 r, r", {minus_zero}, {minus_zero}},
      {"div.rn.f32 r, r, r", {one, minus_zero}, {inf | minus_zero}},
      {"rcp.rn.f32 r, r", {inf | minus_zero}, {minus_zero}},
      {"sub.rn.f32 r, r, r", {one, one}, {0}},
      {"sub.rm.f32 r, r, r", {one, one}, {minus_zero}},
      {"add.rm.f32 r, r, r", {0, 0}, {0}},
      {"add.f64 d, d, d", {0x7ff0000000000000, 0xfff0000000000000}, {0xfff8000000000000}},
      {"add.f64 d, d, d", {0x7ff0000000000123, 0}, {0x7ff8000000000123}},
      {"mul.f64 d, d, d", {0x7ff8000000000001, 0xfff8000000000002}, {0xfff8000000000002}},
      {"fma.rn.f64 d, d, d, d", {0x7ff8000000000001, 0, 0x7ff8000000000003}, {0x7ff8000000000003}},
      {"add.f16 h, h, h", {0x7e01, 0}, {0x7fff}},
      {"neg.f32 r, r", {0}, {minus_zero}},
      {"abs.f32 r, r", {minus_zero}, {0}},
  });
}

TEST(Float, FlushAndSaturate) {
  expect({
      {"add.ftz.f32 r, r, r", {0x80000001, minus_zero}, {minus_zero}},
      {"mul.ftz.f32 r, r, r", {0x00800000, 0x3f000000}, {0}},
      {"mul.f32 r, r, r", {0x00800000, 0x3f000000}, {0x00400000}},
      // (1 - 2^-24) * 2^-126 fits 24 bits and is flushed though it rounds to a normal number; a
      // hair below 2^-126 is 2^-126 in 24 bits, and stays.
      {"mul.ftz.f32 r, r, r", {0x3f7fffff, 0x00800000}, {0}},
      {"fma.rn.ftz.f32 r, r, r, r", {0x00800000, 0x936a8a3d, 0x00800000}, {0x00800000}},
      {"add.sat.f32 r, r, r", {one, one}, {one}},
      {"add.sat.f32 r, r, r", {0xbf800000, 0}, {0}},
      {"mul.sat.f32 r, r, r", {inf, 0}, {0}},
      {"fma.rn.relu.f16 h, h, h, h", {0xbc00, 0x3c00, 0}, {0}},
      {"fma.rn.sat.f16x2 r, r, r, r", {0x3c00bc00, 0x40004000, 0}, {0x3c000000}},
      {"add.sat.f16 h, h, h", {0x7e00, 0}, {0}},
  });
}

TEST(Float, MinimumAndMaximum) {
  expect({
      {"min.f32 r, r, r", {canonical, one}, {one}},
      {"max.f32 r, r, r", {one, canonical}, {one}},
      {"min.f32 r, r, r", {0xffc00000, 0xffc00000}, {canonical}},
      {"min.NaN.f32 r, r, r", {canonical, one}, {canonical}},
      {"min.f32 r, r, r", {0, minus_zero}, {minus_zero}},
      {"max.f32 r, r, r", {minus_zero, 0}, {0}},
      {"min.xorsign.abs.f32 r, r, r", {0xc0000000, one}, {0xbf800000}},
      {"max.xorsign.abs.f32 r, r, r", {0xc0000000, 0xbf800000}, {two}},
      {"max.ftz.f32 r, r, r", {1, minus_zero}, {0}},
      {"min.f64 d, d, d", {0x7ff8000000000001, 0xfff8000000000002}, {0xfff8000000000002}},
      {"max.bf16x2 r, r, r", {0x3f80bf80, 0x40004000}, {0x40004000}},
      {"min.f32 r, r, r, r", {two, canonical, one}, {one}},
  });
}

TEST(Float, ClassesAndSigns) {
  expect({
      {"testp.normal.f32 p, r", {0}, {1}}, // zero counts as normal
      {"testp.normal.f32 p, r", {1}, {0}},
      {"testp.subnormal.f32 p, r", {1}, {1}},
      {"testp.subnormal.f32 p, r", {0}, {0}},
      {"testp.finite.f64 p, d", {0x7ff0000000000000}, {0}},
      {"testp.infinite.f64 p, d", {0xfff0000000000000}, {1}},
      {"testp.number.f32 p, r", {inf}, {1}},
      {"testp.notanumber.f32 p, r", {0xff800001}, {1}},
      {"copysign.f32 r, r, r", {minus_zero, one}, {0xbf800000}},
      {"copysign.f64 d, d, d", {0, 0xfff8000000000001}, {0x7ff8000000000001}},
  });
}

TEST(Float, LiteralsTakeTheFormatOfTheInstruction) {
  expect({
      {"add.f32 r, r, 1.5", {one}, {0x40200000}},
      {"add.f32 r, r, 0d3FF8000000000000", {one}, {0x40200000}},
      {"add.f64 d, d, 0f3F800000", {0x3ff0000000000000}, {0x4000000000000000}},
      {"fma.rn.f32 r, r, 0f40000000, 0.1", {one}, {0x40066666}},
  });
}

TEST(Float, F32x2ComputesBothHalves) {
  expect({
      {"add.rn.f32x2 d, d, d", {one << 32 | two, one << 32 | one}, {two << 32 | 0x40400000}},
      {"fma.rn.ftz.f32x2 d, d, d, d", {one << 32 | 1, one << 32 | one, 0}, {one << 32}},
  });
}

// The host in another rounding direction; the barriers keep the arithmetic between the switches.
template <class Real> Real on_host(int direction, char op, Real a, Real b, Real c) {
  volatile Real x = a, y = b, z = c, result = 0;
  std::fesetround(direction);
  switch (op) {
  case '+': result = x + y; break;
  case '-': result = x - y; break;
  case '*': result = x * y; break;
  case '/': result = x / y; break;
  case 'q': result = std::sqrt(x); break;
  default: result = std::fma(x, y, z); break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

struct Operation {
  char op;
  sem::Fn fn;
  unsigned operands;
};
constexpr Operation operations[] = {{'+', sem::Fn::fadd, 2},  {'-', sem::Fn::fsub, 2},
                                    {'*', sem::Fn::fmul, 2},  {'/', sem::Fn::fdiv, 2},
                                    {'q', sem::Fn::fsqrt, 1}, {'f', sem::Fn::ffma, 3}};
struct Direction {
  ptx::Rounding rounding;
  int host;
};
constexpr Direction directions[] = {{ptx::Rounding::rn, FE_TONEAREST},
                                    {ptx::Rounding::rz, FE_TOWARDZERO},
                                    {ptx::Rounding::rm, FE_DOWNWARD},
                                    {ptx::Rounding::rp, FE_UPWARD}};

template <class Real, class Raw> void compare_with_host(ptx::Type type, unsigned rounds) {
  std::mt19937_64 random(7);
  const char letter = sizeof(Real) == 4 ? 'r' : 'd';
  for (unsigned i = 0; i < rounds; ++i) {
    const auto v = samples::draw(std::string(3, letter), random);
    const auto real = [&](int n) { return std::bit_cast<Real>(static_cast<Raw>(v[n])); };
    for (const Operation& op : operations)
      for (const Direction& d : directions) {
        const Real expected = on_host(d.host, op.op, real(0), real(1), real(2));
        if (std::isnan(expected)) continue;
        const sem::Function f{.fn = op.fn, .to = type, .from = type, .rounding = d.rounding};
        const auto got =
            static_cast<Raw>(sem::compute(f, 8 * sizeof(Real), std::span(v).first(op.operands)));
        ASSERT_EQ(got, std::bit_cast<Raw>(expected))
            << f.name() << " " << real(0) << " " << real(1) << " " << real(2);
      }
  }
}
TEST(SoftFloat, SingleAgreesWithTheHostInEveryDirection) {
  compare_with_host<float, std::uint32_t>(ptx::Type::f32, 20000);
}
TEST(SoftFloat, DoubleAgreesWithTheHostInEveryDirection) {
  compare_with_host<double, std::uint64_t>(ptx::Type::f64, 20000);
}

// Half precision by brute force: the exact sum or product of two f16 is a double, and its nearest
// f16 is found among all of them.
double value_of_f16(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}
unsigned nearest_f16(double x) {
  const double a = std::fabs(x);
  unsigned low = 0, high = 0x7c00; // value(low) <= a; infinity stands for 2^16
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (value_of_f16(middle) <= a ? low : high) = middle;
  }
  const double below = a - value_of_f16(low), above = value_of_f16(high) - a;
  const bool up = above < below || (above == below && low % 2 == 1);
  return (up ? high : low) | (std::signbit(x) ? 0x8000U : 0U);
}
TEST(SoftFloat, HalfAgreesWithTheNearestValue) {
  std::mt19937_64 random(11);
  const sem::Function add{.fn = sem::Fn::fadd, .to = ptx::Type::f16, .from = ptx::Type::f16};
  const sem::Function mul{.fn = sem::Fn::fmul, .to = ptx::Type::f16, .from = ptx::Type::f16};
  for (int i = 0; i < 100000; ++i) {
    const std::vector<sem::Bits> v = samples::draw("hh", random);
    const auto a = static_cast<unsigned>(v[0]), b = static_cast<unsigned>(v[1]);
    if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00) continue;
    const double x = value_of_f16(a), y = value_of_f16(b);
    ASSERT_EQ(static_cast<unsigned>(sem::compute(add, 16, v)), nearest_f16(x + y)) << a << " " << b;
    ASSERT_EQ(static_cast<unsigned>(sem::compute(mul, 16, v)), nearest_f16(x * y)) << a << " " << b;
  }
}

} // namespace
} // namespace ptxasw
