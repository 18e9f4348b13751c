// Exact arithmetic on unpacked numbers, and the one place where rounding happens.
#include "semantics/softfloat.hpp"

#include <algorithm>
#include <bit>

namespace ptxasw::sem::soft {

namespace {

using Class = Number::Class;
using ptx::Rounding;

unsigned top_bit(Bits v) { // position of the most significant one; v is not 0
  const auto high = static_cast<std::uint64_t>(v >> 64);
  if (high != 0) return 127 - static_cast<unsigned>(std::countl_zero(high));
  return 63 - static_cast<unsigned>(std::countl_zero(static_cast<std::uint64_t>(v)));
}

// Moves the significand's top bit to `place`, upward only.
Number normalized(Number n, unsigned place) {
  const unsigned up = place - top_bit(n.significand);
  n.significand <<= up;
  n.exponent -= static_cast<int>(up);
  return n;
}

Bits shift_right_sticky(Bits v, unsigned by) {
  if (by == 0) return v;
  if (by >= 128) return v != 0 ? 1 : 0;
  const Bits lost = v & ((Bits{1} << by) - 1);
  return v >> by | (lost != 0 ? 1 : 0);
}

bool rounds_up(Rounding rounding, bool negative, bool odd, Bits rest, Bits half) {
  switch (rounding) {
  case Rounding::rz:
  case Rounding::rzi: return false;
  case Rounding::rm:
  case Rounding::rmi: return negative && rest != 0;
  case Rounding::rp:
  case Rounding::rpi: return !negative && rest != 0;
  case Rounding::rna: return rest >= half;
  default: return rest > half || (rest == half && odd);
  }
}

// The significand in units of 2^unit.
Bits to_grid(const Number& n, int unit, Rounding rounding) {
  const int down = unit - n.exponent;
  if (down <= 0) return n.significand << -down;
  Bits kept = 0, rest = n.significand, half = Bits{1} << 127;
  if (down < 128) {
    kept = n.significand >> down;
    rest = n.significand & ((Bits{1} << down) - 1);
    half = Bits{1} << (down - 1);
  }
  return kept + (rounds_up(rounding, n.negative, (kept & 1) != 0, rest, half) ? 1 : 0);
}

std::uint64_t overflow(const Format& f, Rounding rounding, bool negative) {
  switch (rounding) {
  case Rounding::rz: return f.largest();
  case Rounding::rm: return negative ? f.infinity() : f.largest();
  case Rounding::rp: return negative ? f.largest() : f.infinity();
  default: return f.infinity();
  }
}

// Of the most significant bit: floor(log2(|n|)).
int leading_exponent(const Number& n) {
  return n.exponent + static_cast<int>(top_bit(n.significand));
}

Number make(Class kind, bool negative) {
  return {.kind = kind, .negative = negative};
}

} // namespace

std::uint64_t Format::infinity() const {
  if (top == Top::one_nan) return sign_bit() - 1;
  if (top == Top::finite) return sign_bit();
  return ((std::uint64_t{1} << exponent_bits) - 1) << (fraction_bits + padding);
}
std::uint64_t Format::largest() const {
  return infinity() - (std::uint64_t{1} << padding);
}
std::uint64_t Format::one() const {
  return static_cast<std::uint64_t>(bias()) << (fraction_bits + padding);
}
// All ones below the sign, but f64: sign and quiet bit. What has no NaN has its largest number.
std::uint64_t Format::canonical_nan() const {
  if (width() == 64) return 0xfff8'0000'0000'0000;
  if (top == Top::finite) return largest();
  return sign_bit() - (std::uint64_t{1} << padding);
}

Format format_of(ptx::Type type) {
  switch (type) {
  case ptx::Type::f16: return {.exponent_bits = 5, .fraction_bits = 10};
  case ptx::Type::bf16: return {.exponent_bits = 8, .fraction_bits = 7};
  case ptx::Type::tf32: return {.exponent_bits = 8, .fraction_bits = 10, .padding = 13};
  case ptx::Type::f64: return {.exponent_bits = 11, .fraction_bits = 52};
  case ptx::Type::e5m2x2: return {.exponent_bits = 5, .fraction_bits = 2};
  case ptx::Type::e4m3x2:
    return {.exponent_bits = 4, .fraction_bits = 3, .top = Format::Top::one_nan};
  case ptx::Type::e2m3x2:
    return {.exponent_bits = 2, .fraction_bits = 3, .top = Format::Top::finite};
  case ptx::Type::e3m2x2:
    return {.exponent_bits = 3, .fraction_bits = 2, .top = Format::Top::finite};
  default: return {};
  }
}

Number unpack(const Format& f, std::uint64_t bits) {
  const bool negative = (bits & f.sign_bit()) != 0;
  const std::uint64_t magnitude = (bits & (f.sign_bit() - 1)) >> f.padding;
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << f.fraction_bits) - 1);
  const auto biased = static_cast<int>(magnitude >> f.fraction_bits);
  if (f.top == Format::Top::one_nan && magnitude == f.infinity()) return make(Class::nan, negative);
  if (f.top == Format::Top::ieee && biased == (1 << f.exponent_bits) - 1)
    return make(fraction != 0 ? Class::nan : Class::infinite, negative);
  if (magnitude == 0) return make(Class::zero, negative);
  const Bits hidden = biased != 0 ? Bits{1} << f.fraction_bits : 0;
  return {.kind = Class::finite,
          .negative = negative,
          .exponent = std::max(biased, 1) - f.bias() - static_cast<int>(f.fraction_bits),
          .significand = fraction | hidden};
}

Number from_integer(bool negative, std::uint64_t magnitude) {
  if (magnitude == 0) return {};
  return {.kind = Class::finite, .negative = negative, .significand = magnitude};
}

std::uint64_t round(const Format& f, Rounding rounding, const Number& n) {
  const std::uint64_t sign = n.negative ? f.sign_bit() : 0;
  switch (n.kind) {
  case Class::zero: return sign;
  case Class::infinite: return sign | f.infinity();
  case Class::nan: return f.canonical_nan();
  case Class::finite: break;
  }
  const int leading = leading_exponent(n);
  const int greatest = f.bias() + (f.top == Format::Top::ieee ? 0 : 1);
  if (leading > greatest) return sign | overflow(f, rounding, n.negative);
  const int lowest = 1 - f.bias(); // exponent of the smallest normal number
  const int exponent = std::max(leading, lowest);
  const auto fraction = static_cast<int>(f.fraction_bits);
  // The hidden bit of `kept`, and a carry out of it, add themselves to the exponent field.
  const auto kept = static_cast<std::uint64_t>(to_grid(n, exponent - fraction, rounding));
  const auto field = static_cast<std::uint64_t>(exponent - lowest) << f.fraction_bits;
  const std::uint64_t packed = (field + kept) << f.padding;
  return sign | (packed >= f.infinity() ? overflow(f, rounding, n.negative) : packed);
}

bool is_tiny(const Format& f, Rounding rounding, const Number& n) {
  if (n.kind != Class::finite) return false;
  const int leading = leading_exponent(n), lowest = 1 - f.bias();
  if (leading != lowest - 1) return leading < lowest;
  const Bits kept = to_grid(n, leading - static_cast<int>(f.fraction_bits), rounding);
  return kept >> (f.fraction_bits + 1) == 0;
}

Number round_to_integral(Rounding rounding, Number n) {
  if (n.kind != Class::finite || n.exponent >= 0) return n;
  n.significand = to_grid(n, 0, rounding == Rounding::none ? Rounding::rzi : rounding);
  n.exponent = 0;
  if (n.significand == 0) n.kind = Class::zero;
  return n;
}

Number add(const Number& a, const Number& b, Rounding rounding) {
  if (a.kind == Class::nan || b.kind == Class::nan) return make(Class::nan, false);
  if (a.kind == Class::infinite)
    return b.kind == Class::infinite && a.negative != b.negative ? make(Class::nan, false) : a;
  if (b.kind == Class::infinite) return b;
  const bool zero_sign = a.negative == b.negative ? a.negative : rounding == Rounding::rm;
  if (a.kind == Class::zero && b.kind == Class::zero) return make(Class::zero, zero_sign);
  if (a.kind == Class::zero) return b;
  if (b.kind == Class::zero) return a;

  // Products have at most 106 bits, so below a top bit at 125 the lowest 20 are free: whenever bits
  // are lost to the sticky one, the numbers are too far apart to cancel.
  Number x = normalized(a, 125), y = normalized(b, 125);
  if (x.exponent < y.exponent) std::swap(x, y);
  y.significand = shift_right_sticky(y.significand, static_cast<unsigned>(x.exponent - y.exponent));
  if (x.negative == y.negative) {
    x.significand += y.significand;
  } else if (x.significand >= y.significand) {
    x.significand -= y.significand;
  } else {
    x.significand = y.significand - x.significand;
    x.negative = y.negative;
  }
  if (x.significand == 0) return make(Class::zero, rounding == Rounding::rm);
  return x;
}

Number multiply(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Class::nan || b.kind == Class::nan) return make(Class::nan, false);
  if (a.kind == Class::infinite || b.kind == Class::infinite)
    return make(a.kind == Class::zero || b.kind == Class::zero ? Class::nan : Class::infinite,
                negative);
  if (a.kind == Class::zero || b.kind == Class::zero) return make(Class::zero, negative);
  return {.kind = Class::finite,
          .negative = negative,
          .exponent = a.exponent + b.exponent,
          .significand = a.significand * b.significand};
}

Number divide(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Class::nan || b.kind == Class::nan || (a.kind == b.kind && a.kind != Class::finite))
    return make(Class::nan, false);
  if (a.kind == Class::infinite || b.kind == Class::zero) return make(Class::infinite, negative);
  if (a.kind == Class::zero || b.kind == Class::infinite) return make(Class::zero, negative);
  const Number x = normalized(a, 126);
  const Bits quotient = x.significand / b.significand;
  const bool inexact = quotient * b.significand != x.significand;
  return {.kind = Class::finite,
          .negative = negative,
          .exponent = x.exponent - b.exponent,
          .significand = quotient | (inexact ? 1 : 0)};
}

Number square_root(const Number& a) {
  if (a.kind == Class::nan || a.kind == Class::zero) return a;
  if (a.negative) return make(Class::nan, false);
  if (a.kind == Class::infinite) return a;
  Number x = normalized(a, 125);
  if (x.exponent % 2 != 0) {
    x.significand <<= 1;
    --x.exponent;
  }
  Bits root = 0;
  for (Bits bit = Bits{1} << 63; bit != 0; bit >>= 1) {
    const Bits next = root | bit;
    if (next * next <= x.significand) root = next;
  }
  const bool inexact = root * root != x.significand;
  return {.kind = Class::finite,
          .exponent = x.exponent / 2 - 1,
          .significand = root << 1 | (inexact ? 1 : 0)};
}

} // namespace ptxasw::sem::soft
