// Floating point on integers: exact intermediate results, one rounding, any format, any direction.
//
// A finite number is significand * 2^exponent. The operations return an exact result, or one whose
// lowest bit is sticky (it stands for everything below) with at least ten spare bits above it, so
// that round() rounds correctly. No floating-point environment of the host is involved.
#pragma once

#include "semantics/domain.hpp"

#include <cstdint>

namespace ptxasw::sem::soft {

struct Format {
  unsigned exponent_bits = 8, fraction_bits = 23;
  unsigned padding = 0; // unused low bits: tf32 is kept in the upper part of 32 bits
  // Formats without infinities: the largest exponent is of finite numbers too, and the largest
  // magnitude is a NaN or one of them. infinity() is then the code that follows largest().
  enum class Top : std::uint8_t { ieee, one_nan, finite } top = Top::ieee;
  [[nodiscard]] unsigned width() const { return 1 + exponent_bits + fraction_bits + padding; }
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (width() - 1); }
  [[nodiscard]] std::uint64_t infinity() const; // positive
  [[nodiscard]] std::uint64_t largest() const;  // finite
  [[nodiscard]] std::uint64_t one() const;
  [[nodiscard]] std::uint64_t canonical_nan() const;
};
// f16, bf16, tf32, f32 or f64; for a pair of narrow numbers one of them.
Format format_of(ptx::Type type);

struct Number {
  enum class Class : std::uint8_t { zero, finite, infinite, nan };
  Class kind = Class::zero;
  bool negative = false;
  int exponent = 0;
  Bits significand = 0; // below 2^127; of finite numbers not 0
};

Number unpack(const Format& format, std::uint64_t bits);
Number from_integer(bool negative, std::uint64_t magnitude);

// Rounding::none rounds to nearest even. Overflow gives infinity or the largest finite number, as
// the direction says.
std::uint64_t round(const Format& format, ptx::Rounding rounding, const Number& number);
// Is a number below the normal ones after rounding to the format's precision with any exponent?
bool is_tiny(const Format& format, ptx::Rounding rounding, const Number& number);
// To an integral value; Rounding::none truncates.
Number round_to_integral(ptx::Rounding rounding, Number number);
// The rounding direction decides the sign of an exact zero sum.
Number add(const Number& a, const Number& b, ptx::Rounding rounding);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
inline Number negate(Number a) {
  a.negative = !a.negative;
  return a;
}

} // namespace ptxasw::sem::soft
