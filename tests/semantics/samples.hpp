// Operand values that find faults: the corners of integers and of every floating-point format,
// small numbers, and plain random bits.
#pragma once

#include "semantics/forms.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace ptxasw::samples {

__extension__ using Bits = unsigned __int128;

inline constexpr std::array<std::uint64_t, 25> corners64{
    0,
    1,
    2,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xffffffffffffffff,
    0x00000000ffffffff,
    0x0000000080000000,
    0xffffffff80000000,
    0x3ff0000000000000, // 1
    0xbff8000000000000, // -1.5
    0x4004000000000000, // 2.5
    0x7ff0000000000000, // infinity
    0xfff0000000000000,
    0x7ff8000000000000, // NaN
    0xfff0000000000001,
    0x0010000000000000, // smallest normal
    0x000fffffffffffff, // largest subnormal
    0x8000000000000001,
    0x7fefffffffffffff, // largest finite
    0x41dfffffffe00000, // 2^31 - 0.5
    0xc1e0000000200000, // -2^31 - 1
    0x43e0000000000000, // 2^63
    0x3810000000000000, // smallest normal f32
    0x380fffffffffffff, // just below
};
inline constexpr std::array<std::uint32_t, 26> corners32{
    0,          1,          2,          0x7fffffff, 0x80000000, 0xffffffff, 31,
    32,         0x0000ffff, 0xffff8000, 0x3f800000, 0xbfc00000, 0x40200000, 0x7f800000,
    0xff800000, 0x7fc00000, 0xff800001, 0x00800000, 0x007fffff, 0x80000001, 0x7f7fffff,
    0x4f000000, 0xcf000001, 0x3effffff, 0x3f7fffff, 0x3f800001};
inline constexpr std::array<std::uint16_t, 22> corners16{
    0,      1,      0x7fff, 0x8000, 0xffff, 0x3c00, 0xbe00, 0x4100, 0x7c00, 0xfc00, 0x7e00,
    0xfc01, 0x0400, 0x03ff, 0x8001, 0x7bff, 0x3f80, 0x7f80, 0x7fc0, 0x007f, 0x3bff, 0x3f7f};

// Some NaN, signalling or quiet; of 16 bits in either half-precision format.
inline std::uint64_t nan(unsigned width, std::uint64_t bits) {
  if (width >= 64) return bits | 0x7ff0000000000001;
  if (width == 32) return bits >> 8 | 0x7f800001;
  return bits >> 8 | ((bits & 16U) != 0 ? 0x7c01 : 0x7f81);
}

inline std::uint64_t draw_one(unsigned width, std::mt19937_64& random) {
  const std::uint64_t bits = random(), choice = random() % 8;
  const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (choice < 3) {
    if (width == 16) return corners16[bits % corners16.size()];
    if (width == 32) return corners32[bits % corners32.size()];
    if (width >= 64) return corners64[bits % corners64.size()];
  }
  if (choice == 3) return bits % 70 & mask;       // a shift amount, a position
  if (choice == 4) return (0 - bits % 70) & mask; // a small negative number
  if (choice == 5 && width == 32) return 0x3f000000 + (bits & 0x80ffffff); // around one
  if (choice == 5 && width >= 64) return 0x3fe0000000000000 + (bits & 0x801fffffffffffff);
  if (choice == 6 && bits % 4 == 0) return nan(width, bits) & mask;
  return bits & mask;
}

// One value for each letter of `operands`.
inline std::vector<Bits> draw(std::string_view operands, std::mt19937_64& random) {
  std::vector<Bits> values;
  for (const char letter : operands)
    values.emplace_back(draw_one(forms::width_of(letter), random));
  return values;
}

} // namespace ptxasw::samples
