// How terms read.
#include "expression.hpp"

#include <gtest/gtest.h>

namespace ptxasw::sym::test {
namespace {

struct PrintCase {
  E (*build)(V);
  const char* text;
};
#define READS(expression, text)                                                                    \
  PrintCase {                                                                                      \
    [](V v) { return expression; }, text                                                           \
  }

TEST(Print, termsAsPeopleWriteThem) {
  const PrintCase cases[] = {
      // polynomials
      READS(v.x + 4, "x + 4"),
      READS(v.x - 4, "x - 4"),
      READS(v.x - v.y, "x - y"),
      READS(v.y - v.x, "y - x"),
      READS(-v.x, "-x"),
      READS(~v.x, "-x - 1"),
      READS(4 - v.x * 3, "-3*x + 4"),
      READS(v.x * v.y * 2 - v.x + 1, "2*x*y - x + 1"),
      READS((v.x + v.y) * v.z, "x*z + y*z"),
      READS(v.x + 0x80000000LL, "x + 0x80000000"),
      READS(v.p + (sext(v.x + v.y * v.z - 1) << 2) + 8, "p + 4*sext(x + y*z - 1) + 8"),
      READS(v.p + zext(v.x) * 4, "p + 4*zext(x)"),
      // constants
      READS(v.x.number(-1), "-1"),
      READS(v.x.number(1000), "1000"),
      READS(v.x.number(0x7FFFFFFF), "0x7fffffff"),
      READS(v.x.number(0x80000000LL), "0x80000000"),
      READS(v.c.number(1), "true"),
      // bits
      READS(v.x & v.y, "x & y"),
      READS((v.x & v.y) | v.z, "z | x & y"),
      READS((v.x | v.y) & v.z, "z & (x | y)"),
      READS((v.x ^ v.y) ^ 3, "x ^ y ^ 3"),
      READS((v.x + 1) & v.y, "y & x + 1"),
      READS(v.x & 0xF0F, "x & 3855"),
      READS(v.x & 31, "x & 31"),
      READS(v.x >> 5, "x >> 5"),
      READS((v.x >> 5) & 7, "x >> 5 & 7"),
      READS(ashr(v.x, 5), "x >>s 5"),
      READS((v.x >> 5) + 1, "(x >> 5) + 1"),
      READS((v.x & 31) * 4, "4*(x & 31)"),
      READS(v.x >> v.y, "x >> y"),
      READS(v.x << v.y, "x*(1 << y)"),
      READS(v.x / v.y, "x / y"),
      READS(v.x % 10 + 2, "x % 10 + 2"),
      READS(sdiv(v.x, v.y), "x /s y"),
      READS(srem(v.x + 1, v.y), "(x + 1) %s y"),
      // widths
      READS(bits(v.p, 31, 0), "p[31:0]"),
      READS(bits(v.p, 7, 7), "p[7]"),
      READS(zext(v.b, 32), "zext32(b)"),
      READS(sext(v.b), "sext(b)"),
      READS(zext(v.x & 31), "zext(x[4:0])"),
      // conditions
      READS(v.x == v.y, "x == y"),
      READS(~(v.x == 4), "x != 4"),
      READS(ult(v.x, v.y), "x < y"),
      READS(slt(v.x + 1, v.y), "x + 1 <s y"),
      READS(ule(v.x, v.y), "y >= x"),
      READS(sle(v.x, v.y), "y >=s x"),
      READS(~(v.c & v.d), "!c || !d"),
      READS(~v.c, "!c"),
      READS(v.c ^ v.d, "c ^ d"),
      READS(~(v.c ^ v.d), "!(c ^ d)"),
      READS(ite(v.c, v.x, v.y), "c ? x : y"),
      READS(ite(v.x == v.y, v.x + 1, v.z) * 2, "2*(x == y ? x + 1 : z)"),
  };
  for (const PrintCase& c : cases) {
    Terms terms;
    EXPECT_EQ(terms.context.to_string(c.build(V(terms)).term()), c.text);
  }
}

TEST(Print, connectivesInOrderOfCreation) {
  Terms t;
  const V v(t);
  const E first = slt(v.x, v.y);
  const E second = ult(v.y, 7);
  const auto text = [&](E e) { return t.context.to_string(e.term()); };
  EXPECT_EQ(text(first & second), "x <s y && y < 7");
  EXPECT_EQ(text(second & first), "x <s y && y < 7");
  EXPECT_EQ(text(~first | ~second), "x >=s y || y >= 7");
  EXPECT_EQ(text((~first | ~second) & v.e), "e && (x >=s y || y >= 7)");
}

TEST(Print, functionsAreCalls) {
  Terms t;
  const std::vector<Term> args{t.context.add(t.x, t.y), t.b};
  EXPECT_EQ(t.context.to_string(t.context.apply(1, "popc", 32, args)), "popc(x + y, b)");
}

TEST(Print, paperStyleAddress) {
  Context c;
  const Term in = c.atom({.name = "in", .width = 64});
  const Term tid = c.atom({.name = "%tid.x"});
  const Term ctaid = c.atom({.name = "%ctaid.x"});
  const Term ntid = c.atom({.name = "%ntid.x"});
  const Term n = c.atom({.name = "n"});
  const Term index = c.sub(c.add(c.mul(ctaid, ntid), tid), n);
  const Term address =
      c.add(c.add(in, c.mul(c.constant(64, 4), c.sext(index, 64))), c.constant(64, 8));
  EXPECT_EQ(c.to_string(address), "in + 4*sext(%tid.x + %ctaid.x*%ntid.x - n) + 8");
}

TEST(Print, printingBuildsNothing) {
  Terms t;
  const V v(t);
  const Term term = (~(v.c & (v.d ^ v.e)) & ~(v.c ^ v.e)).term();
  const std::size_t before = t.context.node_count();
  EXPECT_FALSE(t.context.to_string(term).empty());
  EXPECT_EQ(t.context.node_count(), before);
}

} // namespace
} // namespace ptxasw::sym::test
