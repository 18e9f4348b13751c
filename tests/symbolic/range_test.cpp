// Ranges that address reasoning counts on: exact where the comment says so, sound everywhere (that
// is a property in random_test.cpp).
#include "expression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ptxasw::sym::test {
namespace {

struct RangeCase {
  const char* text;
  E (*build)(V);
  std::int64_t lo, hi; // signed
};
#define RANGE(expression, lo, hi)                                                                  \
  RangeCase {                                                                                      \
#expression, [](V v) { return expression; }, lo, hi                                            \
  }

constexpr std::int64_t least = -(std::int64_t{1} << 31);
constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;

E smaller(E a, E b) {
  return ite(slt(a, b), a, b);
}
E larger(E a, E b) {
  return ite(slt(a, b), b, a);
}

TEST(Range, signedBounds) { // i is 0..1023, j 0..7, k 1..1024, b a byte, x anything
  const RangeCase cases[] = {
      RANGE(v.x, least, most),
      RANGE(v.i, 0, 1023),
      RANGE(v.i * 3 - 5, -5, 3064),
      RANGE(v.i - v.j, -7, 1023),
      RANGE(v.i * v.k, 0, 1023 * 1024),
      RANGE(v.i << 20, 0, 0x3FF00000),
      RANGE(v.i << 22, least, most), // wraps
      RANGE(v.x + 1, least, most),
      RANGE(zext(v.b, 32) * 4 + 1, 1, 1021),
      RANGE(sext(v.b, 32) * 4 + 1, -511, 509),
      RANGE(v.x & 31, 0, 31),
      RANGE(v.x >> 28, 0, 15),
      RANGE(ashr(v.x, 28), -8, 7),
      RANGE(v.x >> v.k, 0, most),
      RANGE(v.i >> v.j, 0, 1023),
      RANGE(v.i & v.x, 0, 1023),
      RANGE(v.i | v.j, 0, 1023),
      RANGE(v.i ^ v.j, 0, 1023),
      RANGE(v.i / v.k, 0, 1023),
      RANGE(v.x % v.k, 0, 1023),
      RANGE(v.i % v.x, 0, 1023),
      RANGE(srem(v.x, v.k), -1023, 1023),
      RANGE(sdiv(v.x, v.x.number(16)), least / 16, most / 16),
      RANGE(ite(v.c, v.i, v.j - 3), -3, 1023),
      RANGE(smaller(v.x, v.i), least, 1023),
      RANGE(larger(v.x, v.i), 0, most),
      RANGE(larger(smaller(v.x, v.i), v.x.number(0)), 0, 1023), // a clamp
      RANGE(ite(slt(v.x, 0), v.x.number(0), v.x), 0, most),
      RANGE(ite(slt(v.i, v.x), v.i, v.x), least, 1023),
      RANGE(ite(ult(v.i, v.x), v.i, v.x), 0, 1023),
      RANGE(ite(ult(v.x, v.i), v.i, v.x + 0), least, most),
      RANGE(ite(sle(v.x, 100), v.x, 100), least, 100),
      RANGE(ite(~slt(v.x, -50), v.x, -50), -50, most),
      RANGE(zext(v.c, 32), 0, 1),
      RANGE(sext(v.c, 32), -1, 0),
  };
  for (const RangeCase& c : cases) {
    Terms terms;
    const SignedRange r = terms.context.signed_range(c.build(V(terms)).term());
    EXPECT_EQ(
        fmt::format("{}..{}", static_cast<std::int64_t>(r.lo), static_cast<std::int64_t>(r.hi)),
        fmt::format("{}..{}", c.lo, c.hi))
        << c.text;
  }
}

TEST(Range, unsignedBounds) {
  Terms terms;
  const V v(terms);
  const auto range = [&](E e) {
    const Range r = terms.context.range(e.term());
    return fmt::format("{:#x}..{:#x}", static_cast<std::uint64_t>(r.lo),
                       static_cast<std::uint64_t>(r.hi));
  };
  EXPECT_EQ(range(v.i - 1024), "0xfffffc00..0xffffffff");
  EXPECT_EQ(range(v.i - 1), "0x0..0xffffffff");
  EXPECT_EQ(range(ite(ult(v.x, v.i), v.x, v.i)), "0x0..0x3ff");
  EXPECT_EQ(range(ite(ult(v.x, v.k), v.k, v.x)), "0x1..0xffffffff");
  EXPECT_EQ(range(v.i | 64), "0x40..0x3ff");
  EXPECT_EQ(range(zext(v.x) * 4), "0x0..0x3fffffffc");
}

TEST(Range, boundsOfAtomsAreClipped) {
  Context c;
  const Term byte = c.atom({.name = "b", .width = 8});
  const Term nonsense = c.atom({.name = "n", .width = 8, .lo = 9, .hi = 3});
  EXPECT_TRUE(c.range(byte).hi == 255);
  EXPECT_TRUE(c.atom_info(byte).hi == 255);
  EXPECT_TRUE(c.range(nonsense).lo == 0 && c.range(nonsense).hi == 255);
}

} // namespace
} // namespace ptxasw::sym::test
