// The documented normalisations as tables: pairs that must be the same term, pairs that must not.
#include "expression.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace ptxasw::sym::test {
namespace {

struct Case {
  const char* law;
  std::function<E(V)> left, right;
};

#define SAME(left, right)                                                                          \
  Case {                                                                                           \
#left "  =  " #right, [](V v) { return left; }, [](V v) { return right; }                      \
  }

void expect_same(std::initializer_list<Case> cases) {
  for (const Case& law : cases) {
    // Either side first: the normal form does not depend on what was built before.
    for (const bool left_first : {true, false}) {
      Terms terms;
      const V v(terms);
      const Term first = (left_first ? law.left : law.right)(v).term();
      const Term second = (left_first ? law.right : law.left)(v).term();
      EXPECT_EQ(first.id, second.id) << law.law << "\n  " << terms.context.to_string(first)
                                     << "\n  " << terms.context.to_string(second);
    }
  }
}
void expect_different(std::initializer_list<Case> cases) {
  for (const Case& law : cases) {
    Terms terms;
    const V v(terms);
    EXPECT_NE(law.left(v).term().id, law.right(v).term().id) << law.law;
  }
}

TEST(NormalForm, arithmetic) {
  expect_same({
      SAME(v.x + v.y, v.y + v.x),
      SAME((v.x + v.y) - v.x, v.y),
      SAME(v.x - v.x, v.x.number(0)),
      SAME(v.x * (v.y + 1), v.x * v.y + v.x),
      SAME((v.x + v.y) * (v.x - v.y), v.x * v.x - v.y * v.y),
      SAME(v.x << 3, v.x * 8),
      SAME(v.x << 32, v.x.number(0)),
      SAME(v.x << (v.y + 0), v.x * (v.x.number(1) << v.y)),
      SAME((v.x + v.z) << v.y, (v.x << v.y) + (v.z << v.y)),
      SAME(~v.x, -1 - v.x),
      SAME(~~v.x, v.x),
      SAME(-(-v.x), v.x),
      SAME(v.x * (std::int64_t{1} << 32), v.x.number(0)),
      SAME(v.x + v.x, v.x << 1),
      SAME((v.x << 31) + (v.x << 31), v.x.number(0)),
      SAME(v.x + (std::int64_t{1} << 32), v.x),
  });
  expect_different({
      SAME(v.x * v.x, v.x),
      SAME(v.x + 1, v.x - 1),
      SAME((v.x << 4) >> 4, v.x),
  });
}

TEST(NormalForm, bitwiseLogic) {
  expect_same({
      SAME(v.x & v.y, v.y & v.x),
      SAME((v.x & v.y) & v.z, v.x & (v.z & v.y)),
      SAME((v.x | v.y) | v.z, v.x | (v.z | v.y)),
      SAME((v.x ^ v.y) ^ v.z, v.x ^ (v.z ^ v.y)),
      SAME(v.x & v.x, v.x),
      SAME(v.x & 0, v.x.number(0)),
      SAME(v.x & -1, v.x),
      SAME(v.x | 0, v.x),
      SAME(v.x | -1, v.x.number(-1)),
      SAME(v.x ^ v.x, v.x.number(0)),
      SAME(v.x ^ -1, ~v.x),
      SAME(v.x & ~v.x, v.x.number(0)),
      SAME(v.x | ~v.x, v.x.number(-1)),
      SAME(v.x ^ ~v.x, v.x.number(-1)),
      SAME(~v.x ^ v.y, ~(v.x ^ v.y)),
      SAME((v.x ^ v.y) ^ v.y, v.x),
      SAME(~(v.x ^ 5), v.x ^ ~v.x.number(5)),
      SAME(v.x ^ 0x80000000LL, v.x + 0x80000000LL),
      SAME((v.x ^ 0x80000000LL) ^ v.y, (v.x ^ v.y) + 0x80000000LL),
      SAME(v.x & (v.x | v.y), v.x),
      SAME(v.x | (v.x & v.y), v.x),
      SAME((v.x & 0xFF) & 0xF0F, v.x & 0xF),
      SAME(v.i & 1023, v.i),
      SAME(v.i & 0xFFF, v.i),
      SAME((v.x << 5) | v.j, v.x * 32 + v.j),
      SAME((v.x << 5) ^ v.j, v.x * 32 + v.j),
      SAME((v.x << 5) & v.j, v.x.number(0)),
      SAME((v.x * 32 + v.j) & 31, v.j),
      SAME((v.x * 32 + v.y) & 31, v.y & 31),
      SAME(v.x & 31, v.x % 32),
      SAME(v.x & -32, (v.x >> 5) << 5),
      SAME(v.x & 0xFF0, ((v.x >> 4) & 0xFF) << 4),
  });
  expect_different({
      SAME((v.x << 2) | v.j, v.x * 4 + v.j),
      SAME(v.x | v.y, v.x + v.y),
      SAME(v.i & 511, v.i),
      SAME(v.x & 31, v.x & 63),
  });
}

TEST(NormalForm, conditions) {
  expect_same({
      SAME(~(v.c & v.d), ~v.c | ~v.d),
      SAME(~(v.c | v.d), ~v.c & ~v.d),
      SAME(~~v.c, v.c),
      SAME(v.c & ~v.c, v.c.number(0)),
      SAME(v.c | ~v.c, v.c.number(1)),
      SAME(v.c & (v.c | v.d), v.c),
      SAME(v.c | (v.c & v.d), v.c),
      SAME(v.c & (~v.c | v.d), v.c & v.d),
      SAME(v.c | (~v.c & v.d), v.c | v.d),
      SAME((v.c & v.d) & (v.d & v.e), (v.e & v.c) & v.d),
      SAME(v.c & ((~v.c | v.d) & (~v.d | v.e)), v.c & (v.d & v.e)),
      SAME(~v.c ^ ~v.d, v.c ^ v.d),
      SAME(~v.c ^ v.d, ~(v.c ^ v.d)),
      SAME(v.c == v.d, ~(v.c ^ v.d)),
      SAME(v.c + v.d, v.c ^ v.d),
      SAME(v.c * v.d, v.c & v.d),
      SAME(ite(v.c, v.d, v.e.number(0)), v.c & v.d),
      SAME(ite(v.c, v.d, v.e.number(1)), ~v.c | v.d),
      SAME(ite(v.c, v.d.number(1), v.d), v.c | v.d),
      SAME(ite(v.c, v.d, ~v.d), ~(v.c ^ v.d)),
      SAME(ite(v.c, ~v.d, ~v.e), ~ite(v.c, v.d, v.e)),
      SAME(ite(v.c, v.c, v.d), v.c | v.d),
  });
  expect_different({
      SAME(v.c & v.d, v.c | v.d),
      SAME(ite(v.c, v.d, v.e), ite(v.c, v.e, v.d)),
  });
}

TEST(NormalForm, shiftsAndDivisions) {
  expect_same({
      SAME((v.x >> 3) >> 4, v.x >> 7),
      SAME(ashr(ashr(v.x, 3), 4), ashr(v.x, 7)),
      SAME(ashr(ashr(v.x, 30), 4), ashr(v.x, 31)),
      SAME(ashr(v.x, 40), ashr(v.x, 31)),
      SAME(v.x >> 32, v.x.number(0)),
      SAME(v.x >> 0, v.x),
      SAME(ashr(v.i, 2), v.i >> 2),
      SAME(v.x / 8, v.x >> 3),
      SAME((v.i * 8 + v.j) / 8, v.i),
      SAME((v.i * 8 + v.j) >> 3, v.i),
      SAME((v.i * 8 + v.j + 16) >> 3, v.i + 2),
      SAME((v.i * 8 + v.j) % 8, v.j),
      SAME((v.i * 7 + v.j + 21) / 7, v.i + 3 + v.j / 7),
      SAME((v.i * 9 + v.j) / 9, v.i),
      SAME((v.i * 9 + v.j) % 9, v.j),
      SAME((v.x / 3) / 5, v.x / 15),
      SAME(v.j / 8, v.x.number(0)),
      SAME(v.j % 8, v.j),
      SAME(v.i / 2000, v.x.number(0)),
      SAME(v.j / v.j.number(0), v.x.number(-1)),
      SAME(v.x % v.x.number(0), v.x),
      SAME(v.x / 1, v.x),
      SAME(v.k / v.k, v.k.number(1)),
      SAME(v.x % v.x, v.x.number(0)),
      SAME(sdiv(v.i, v.k), v.i / v.k),
      SAME(srem(v.i, v.k), v.i % v.k),
      SAME(sdiv(v.x, -1), -v.x),
      SAME(srem(v.x, -1), v.x.number(0)),
      SAME((v.i * 4) >> 2, v.i),
  });
  expect_different({
      SAME(ashr(v.x, 3), v.x >> 3), SAME(sdiv(v.x, 4), v.x / 4), SAME(srem(v.x, 4), v.x % 4),
      SAME((v.x * 4) >> 2, v.x), SAME((v.x * 9 + v.j) / 9, v.x), SAME((v.x * 9 + v.j) % 9, v.j),
      SAME(v.x / v.x, v.x.number(1)), // 0 / 0
  });
}

TEST(NormalForm, widths) {
  expect_same({
      SAME(bits(v.x, 31, 0), v.x),
      SAME(bits(bits(v.x, 23, 8), 11, 4), bits(v.x, 19, 12)),
      SAME(bits(cat(v.x, v.y), 31, 0), v.y),
      SAME(bits(cat(v.x, v.y), 63, 32), v.x),
      SAME(bits(cat(v.x, v.y), 55, 40), bits(v.x, 23, 8)),
      SAME(cat(bits(v.p, 63, 32), bits(v.p, 31, 0)), v.p),
      SAME(cat(bits(v.p, 47, 32), bits(v.p, 31, 0)), bits(v.p, 47, 0)),
      SAME(cat(bits(v.p + v.q * 5, 63, 32), bits(v.p + v.q * 5, 31, 0)), v.p + v.q * 5),
      SAME(cat(bits(v.p + (v.q << 32), 63, 32), bits(v.p + (v.q << 32), 31, 0)), v.p + (v.q << 32)),
      SAME(cat(v.x.number(0), v.y), zext(v.y)),
      SAME(bits(zext(v.x), 31, 0), v.x),
      SAME(bits(sext(v.x), 31, 0), v.x),
      SAME(bits(zext(v.x), 63, 32), v.x.number(0)),
      SAME(bits(sext(v.x), 63, 32), ashr(v.x, 31)),
      SAME(zext(zext(v.b, 16)), zext(v.b)),
      SAME(sext(sext(v.b, 16)), sext(v.b)),
      SAME(sext(zext(v.b, 16)), zext(v.b)),
      SAME(sext(v.i), zext(v.i)),
      SAME(bits(v.p + v.q * 3, 31, 0), bits(v.p, 31, 0) + bits(v.q, 31, 0) * 3),
      SAME(bits(v.p * v.q, 31, 0), bits(v.p, 31, 0) * bits(v.q, 31, 0)),
      SAME(bits(v.p ^ v.q, 40, 3), bits(v.p, 40, 3) ^ bits(v.q, 40, 3)),
      SAME(bits(ite(v.c, v.p, v.q), 31, 0), ite(v.c, bits(v.p, 31, 0), bits(v.q, 31, 0))),
      SAME(zext(bits(v.x, 9, 0), 32), v.x & 1023),
      SAME(zext(bits(v.i, 9, 0), 32), v.i),
      SAME(zext(bits(v.i, 9, 4)), zext(v.i >> 4)),
      SAME(sext(bits(v.j, 3, 0), 32), v.j),
      SAME(ite(v.c, v.x.number(1), 0), zext(v.c, 32)),
      SAME(ite(v.c, v.x.number(-1), 0), sext(v.c, 32)),
      SAME(sext(v.c, 32), -zext(v.c, 32)),
      SAME(bits(v.x, 31, 31), slt(v.x, 0)),
      SAME(zext(v.x >> 5), zext(v.x) >> 5),
  });
  expect_different({
      SAME(zext(v.x), sext(v.x)),
      SAME(zext(sext(v.b, 16)), sext(v.b)),
      SAME(sext(bits(v.i, 9, 0), 32), v.i),
      SAME(sext(bits(v.k, 10, 0), 32), v.k), // k = 1024 has the sign bit set
      SAME(cat(bits(v.p, 63, 40), bits(v.p, 31, 0)), bits(v.p, 55, 0)),
      SAME(bits(v.x, 15, 0), bits(v.x, 16, 1)),
      SAME(cat(bits(v.p, 63, 32), bits(v.q, 31, 0)), v.p),
  });
}

TEST(NormalForm, extensionsPassThroughSumsThatFit) {
  expect_same({
      SAME(zext(v.i * 4), zext(v.i) * 4),
      SAME(sext(v.i * 4 - 7), zext(v.i) * 4 - 7),
      SAME(zext(v.i + v.j * 100 + 3), zext(v.i) + zext(v.j) * 100 + 3),
      SAME(sext(v.i - v.j), zext(v.i) - zext(v.j)),
      SAME(sext(v.i * v.k), zext(v.i) * zext(v.k)),
      SAME(sext(sext(v.h, 32) * 3 - 1), sext(v.h) * 3 - 1),
      SAME(sext(v.x - 0x80000000LL), zext(v.x) - 0x80000000LL),
      SAME(sext(ite(v.c, v.i - 1, 0)), ite(v.c, zext(v.i) - 1, 0)),
      SAME(sext((v.x >> 1) + (v.y & 1023)), sext((v.y & 1023) + (v.x >> 1))),
      SAME(zext(1023 - v.i), 1023 - zext(v.i)),
  });
  expect_different({
      SAME(sext(v.x + 1), sext(v.x) + 1), // wraps at 2^31 - 1
      SAME(zext(v.x + 1), zext(v.x) + 1),
      SAME(sext(v.x * 4), sext(v.x) * 4),
      SAME(sext(v.i * v.x), sext(v.i) * sext(v.x)),
      SAME(zext(v.i - 1), zext(v.i) - 1), // wraps at i = 0
      SAME(zext(v.i - v.j), zext(v.i) - zext(v.j)),
      SAME(sext(v.k * (1 << 21)), zext(v.k) * (1 << 21)), // 1024 * 2^21 = 2^31
      SAME(zext(1022 - v.i), 1022 - zext(v.i)),
      SAME(sext(v.x - 0x7FFFFFFFLL), zext(v.x) - 0x7FFFFFFFLL),
  });
}

TEST(NormalForm, comparisons) {
  expect_same({
      SAME(v.x == v.y, v.y == v.x),
      SAME(v.x + 1 == v.y + 3, v.x == v.y + 2),
      SAME(v.x - v.y == 0, v.x == v.y),
      SAME(v.x * 3 == 6, v.x == 2),
      SAME(-v.x == 6, v.x == -6),
      SAME(v.x * 4 == v.y * 4, bits(v.x, 29, 0) == bits(v.y, 29, 0)),
      SAME(v.x * 4 == v.y * 4 + 2, v.c.number(0)),
      SAME(v.i == 1024, v.c.number(0)),
      SAME(v.i + 1 == 0, v.c.number(0)),
      SAME(v.i == v.j + 2000, v.c.number(0)),
      SAME(zext(v.x) == zext(v.y), v.x == v.y),
      SAME(sext(v.x) == sext(v.y), v.x == v.y),
      SAME(zext(v.h, 32) == zext(v.b, 32), v.h == zext(v.b, 16)),
      SAME(zext(v.x) == (std::int64_t{1} << 32), v.c.number(0)),
      SAME(sext(v.x) == -5, v.x == -5),
      SAME(zext(v.c, 32) == 0, ~v.c),
      SAME(ite(v.c, v.x.number(5), 9) == 5, v.c),
      SAME(ite(v.c, v.x.number(5), 9) == 9, ~v.c),
      SAME(ite(v.c, v.x.number(5), 9) == 7, v.c.number(0)),
      SAME(ite(v.c, v.x.number(1), 0) == 1, v.c),
      SAME((v.x ^ 5) == 6, v.x == 3),
      SAME(ult(v.i, 1024), v.c.number(1)),
      SAME(slt(v.i, 0), v.c.number(0)),
      SAME(ult(v.x, 1), v.x == 0),
      SAME(ult(0, v.x), ~(v.x == 0)),
      SAME(ult(4, v.x), ~ult(v.x, 5)),
      SAME(slt(4, v.x), ~slt(v.x, 5)),
      SAME(ule(v.x, 4), ult(v.x, 5)),
      SAME(sle(v.x, 4), slt(v.x, 5)),
      SAME(ule(v.x, v.y), ~ult(v.y, v.x)),
      SAME(slt(v.i, v.k), ult(v.i, v.k)),
      SAME(slt(zext(v.x), zext(v.y)), ult(v.x, v.y)),
      SAME(slt(sext(v.x), sext(v.y)), slt(v.x, v.y)),
      SAME(slt(sext(v.x), -3), slt(v.x, -3)),
      SAME(ult(zext(v.x), 77), ult(v.x, 77)),
      SAME(slt(v.i + 1, v.i + 2), v.c.number(1)),
      SAME(ult(v.i * v.k + 1, v.i * v.k), v.c.number(0)),
      SAME(ult(v.x, -1), ~(v.x == -1)),
      SAME(slt(v.x, v.x), v.c.number(0)),
  });
  expect_different({
      SAME(ult(v.x, v.y), slt(v.x, v.y)),
      SAME(ult(v.x, v.y), ult(v.y, v.x)),
      SAME(slt(v.x, v.x + 1), v.c.number(1)), // wraps
      SAME(ult(v.x, v.x + 1), v.c.number(1)),
      SAME(v.x * 4 == v.y * 4, v.x == v.y),
      SAME(v.x * v.y == 0, v.x == 0),
      SAME(zext(v.x) == sext(v.y), v.x == v.y),
      SAME(slt(v.x + 1, v.y + 1), slt(v.x, v.y)),
  });
}

TEST(NormalForm, selection) {
  expect_same({
      SAME(ite(v.c, v.x, v.x), v.x),
      SAME(ite(v.c.number(1), v.x, v.y), v.x),
      SAME(ite(v.c.number(0), v.x, v.y), v.y),
      SAME(ite(~v.c, v.x, v.y), ite(v.c, v.y, v.x)),
      SAME(ite(v.c, ite(v.c, v.x, v.y), v.z), ite(v.c, v.x, v.z)),
      SAME(ite(v.c, v.x, ite(v.c, v.y, v.z)), ite(v.c, v.x, v.z)),
      SAME(ite(v.x == v.y, v.x, v.y), v.y),
      SAME(ite(v.x == v.y, v.y, v.x), v.x),
      SAME(ite(v.c, v.x + 4, v.x), v.x + ite(v.c, v.x.number(4), 0)),
      SAME(ite(v.c, v.x + 1, v.x), v.x + zext(v.c, 32)),
  });
  expect_different({
      SAME(ite(v.c, v.x, v.y), ite(v.d, v.x, v.y)),
      SAME(ite(v.c, v.x, v.y), ite(v.c, v.y, v.x)),
  });
}

// --- named traps ---------------------------------------------------------------------------------

TEST(NormalForm, addressesFourGigabytesApartAreNotTheSame) {
  expect_different({
      SAME(v.p + (std::int64_t{1} << 32), v.p),
      SAME(v.p + zext(v.x), v.p + sext(v.x)),
  });
  expect_same({SAME(bits(v.p + (std::int64_t{1} << 32), 31, 0), bits(v.p, 31, 0))});
}

TEST(NormalForm, theSameSumAtAnotherWidthIsAnotherTerm) {
  Terms t;
  EXPECT_NE(t.context.constant(32, 5), t.context.constant(64, 5));
  EXPECT_NE(t.context.zext(t.b, 16), t.context.zext(t.b, 32));
}

// --- limits --------------------------------------------------------------------------------------

TEST(NormalForm, hugeExpressionsStayBoundedAndRight) {
  Context c;
  std::vector<Term> atoms;
  for (int i = 0; i < 40; ++i)
    atoms.push_back(c.atom({.name = std::to_string(i)}));
  Term sum = atoms[0];
  for (const Term a : atoms)
    sum = c.add(sum, a);
  Term product = sum; // (2 a0 + a1 + ... + a39)^33 would have 10^20 monomials
  for (int i = 0; i < 5; ++i)
    product = c.mul(product, product);
  product = c.mul(product, sum);
  EXPECT_LT(c.node_count(), 2000U);
  const auto one = [](const Atom&, Term) { return Bits{1}; };
  std::uint32_t expected = 1;
  for (int i = 0; i < 33; ++i)
    expected *= 41;
  EXPECT_EQ(static_cast<std::uint64_t>(c.evaluate(product, one, {})), expected);
}

TEST(NormalForm, longSumsAndConjunctionsStayLinear) {
  Context c;
  Term sum = c.constant(32, 0);
  Term parity = c.constant(32, 0);
  Term all = c.boolean(true);
  for (unsigned i = 0; i < 1000; ++i) {
    const Term a = c.atom({.name = "a"});
    sum = c.add(sum, a);
    parity = c.xor_(parity, a);
    all = c.and_(all, c.ult(a, c.constant(32, 2 + i)));
  }
  EXPECT_LT(c.memory_bytes(), 20'000'000U);
  const auto three = [](const Atom&, Term) { return Bits{3}; };
  const auto one = [](const Atom&, Term) { return Bits{1}; };
  EXPECT_EQ(static_cast<unsigned>(c.evaluate(sum, three, {})), 3000U);
  EXPECT_EQ(static_cast<unsigned>(c.evaluate(parity, three, {})), 0U);
  EXPECT_EQ(static_cast<unsigned>(c.evaluate(all, three, {})), 0U);
  EXPECT_EQ(static_cast<unsigned>(c.evaluate(all, one, {})), 1U);
}

TEST(NormalForm, deepTermsDoNotOverflowTheStack) {
  Context c;
  const Term x = c.atom({.name = "x", .width = 64});
  const Term flag = c.atom({.name = "flag", .width = 1});
  Term t = x;
  for (unsigned i = 0; i < 30000; ++i) {
    t = c.xor_(c.mul(t, c.constant(64, 3)), c.lshr(t, c.constant(64, 1 + i % 5)));
    if (i % 3 == 0) t = c.ite(c.ult(t, x), c.add(t, c.constant(64, 7)), x);
    if (i % 100 == 0) t = c.zext(c.extract(t, 0, 40), 64);
  }
  EXPECT_EQ(c.atoms(t), std::vector{x});
  EXPECT_TRUE(c.depends_on(t, x));
  EXPECT_LE(c.range(t).lo, c.range(t).hi);
  EXPECT_FALSE(c.depends_on(t, flag));
  const Term replaced = c.substitute(t, {{x.id, c.constant(64, 12)}});
  ASSERT_TRUE(c.value(replaced));
  const auto twelve = [](const Atom&, Term) { return Bits{12}; };
  EXPECT_TRUE(*c.value(replaced) == c.evaluate(t, twelve, {}));
  EXPECT_LT(c.to_string(t).size(), 100'000U);
}

TEST(NormalForm, sharedTermsCostOnce) {
  Context c;
  const Term flag = c.atom({.name = "flag", .width = 1});
  Term a = c.atom({.name = "a", .width = 32});
  Term b = c.atom({.name = "b", .width = 32});
  for (int i = 0; i < 150; ++i) { // a tree of 2^150 leaves
    const Term x = c.ite(flag, c.and_(a, b), c.or_(a, b));
    b = c.xor_(b, x);
    a = x;
  }
  (void)c.sext(a, 64);
  (void)c.extract(a, 3, 20);
  EXPECT_LT(c.node_count(), 100'000U);
}

TEST(NormalForm, theNodeBudgetIsReportedNotEnforced) {
  Context c(100);
  Term t = c.atom({.name = "x"});
  for (int i = 0; i < 60; ++i)
    t = c.mul(c.xor_(t, c.constant(32, 3)), t);
  EXPECT_TRUE(c.exhausted());
  EXPECT_GT(c.memory_bytes(), 100U);
  EXPECT_FALSE(Context().exhausted());
}

} // namespace
} // namespace ptxasw::sym::test
