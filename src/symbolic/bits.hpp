// Arithmetic on concrete values of 1 to 128 bits: what an operator means, once, for constant
// folding and for evaluation. Values are kept in the low bits of a Bits with the rest zero.
#pragma once

#include "symbolic/node.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace ptxasw::sym {

constexpr Bits low_mask(unsigned width) {
  return width >= 128 ? ~Bits{0} : (Bits{1} << width) - 1;
}
constexpr Bits as_bits(SBits value) {
  return static_cast<Bits>(value);
}
constexpr SBits as_signed(Bits value, unsigned width) {
  return static_cast<SBits>(value << (128 - width)) >> (128 - width);
}
constexpr bool sign_bit(Bits value, unsigned width) {
  return ((value >> (width - 1)) & 1) != 0;
}

constexpr unsigned trailing_zeros(Bits value) { // 128 for 0
  const auto low = static_cast<std::uint64_t>(value);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return static_cast<unsigned>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high));
}
constexpr unsigned bit_length(Bits value) { // 0 for 0
  const auto low = static_cast<std::uint64_t>(value);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}
constexpr bool is_power_of_two(Bits value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// The inverse of an odd number modulo 2^128: Newton's iteration doubles the right bits each time.
constexpr Bits inverse_of_odd(Bits value) {
  Bits inverse = value;
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - value * inverse;
  return inverse;
}

inline std::string decimal(Bits value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(digits);
  return digits;
}

// Operators of two operands of the given width, as SMT-LIB defines them.
constexpr Bits fold_binary(Kind kind, unsigned width, Bits a, Bits b) {
  const Bits mask = low_mask(width);
  const bool negative_a = sign_bit(a, width);
  const bool negative_b = sign_bit(b, width);
  const Bits magnitude_a = negative_a ? (0 - a) & mask : a;
  const Bits magnitude_b = negative_b ? (0 - b) & mask : b;
  switch (kind) {
  case Kind::and_: return a & b;
  case Kind::or_: return a | b;
  case Kind::xor_: return a ^ b;
  case Kind::shl: return b >= width ? 0 : (a << static_cast<unsigned>(b)) & mask;
  case Kind::lshr: return b >= width ? 0 : a >> static_cast<unsigned>(b);
  case Kind::ashr: {
    const unsigned amount = b >= width ? width - 1 : static_cast<unsigned>(b);
    return as_bits(as_signed(a, width) >> amount) & mask;
  }
  case Kind::udiv: return b == 0 ? mask : a / b;
  case Kind::urem: return b == 0 ? a : a % b;
  case Kind::sdiv: {
    const Bits quotient = magnitude_b == 0 ? mask : magnitude_a / magnitude_b;
    return (negative_a != negative_b ? 0 - quotient : quotient) & mask;
  }
  case Kind::srem: {
    const Bits remainder = magnitude_b == 0 ? magnitude_a : magnitude_a % magnitude_b;
    return (negative_a ? 0 - remainder : remainder) & mask;
  }
  case Kind::eq: return a == b ? 1 : 0;
  case Kind::ult: return a < b ? 1 : 0;
  case Kind::slt: return as_signed(a, width) < as_signed(b, width) ? 1 : 0;
  default: return 0;
  }
}

} // namespace ptxasw::sym
