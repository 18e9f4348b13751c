// Which conditions exclude each other.
#include "passes/time_tile/polynomial/formula.hpp"

#include "passes/time_tile/polynomial/cases.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ptxasw::passes {
namespace {

const IntegerPolynomial column = IntegerPolynomial::coordinate(0),
                        line = IntegerPolynomial::coordinate(1), extent(Quantity{.number = 2});

// a < b
Formula less(const IntegerPolynomial& a, const IntegerPolynomial& b) {
  return not_negative(b - a - IntegerPolynomial(1));
}

bool exclude(const std::vector<Formula>& all, unsigned steps = 1000) {
  std::vector<const Formula*> each;
  for (const Formula& formula : all)
    each.push_back(&formula);
  return is_contradiction(std::move(each), steps);
}

TEST(Formula, BoundsExclude) {
  const IntegerPolynomial one(1), two(2), three(3);
  EXPECT_TRUE(exclude({less(column, extent - one), not_(less(column + one, extent))}));
  EXPECT_FALSE(exclude({less(column, extent), not_(less(column + one, extent))}));
  EXPECT_FALSE(
      exclude({less(column, extent), less(two, column), not_negative(three - column)})); // 3
  EXPECT_TRUE(exclude({less(two, column), less(column, three)}));
  EXPECT_FALSE(exclude(
      {less(column, extent), less(extent, line), less(line, column)})); // no sum is bounded twice
  EXPECT_TRUE(exclude({is_zero(column - line), less(line, column)}));
  EXPECT_TRUE(exclude({always(false)}));
  EXPECT_FALSE(exclude({always(true)}));
}

TEST(Formula, MultiplesOfASum) {
  const IntegerPolynomial sixteen(16), one(1);
  EXPECT_TRUE(exclude(
      {less(IntegerPolynomial(0), sixteen * column), not_negative(IntegerPolynomial(0) - column)}));
  EXPECT_TRUE(exclude({is_zero(sixteen * column - one)}));
  EXPECT_FALSE(exclude({is_zero(sixteen * column - sixteen)}));
  EXPECT_FALSE(exclude({not_negative(sixteen * column + one), less(column, one)})); // 0
}

TEST(Formula, EachSideOfAChoice) {
  const IntegerPolynomial zero(0), five(5);
  const Formula either = any_of({less(column, zero), less(five, column)});
  EXPECT_TRUE(exclude({either, not_negative(column), less(column, five)}));
  EXPECT_FALSE(exclude({either, not_negative(column)}));
  EXPECT_FALSE(exclude({either, less(column, five)}));
  EXPECT_TRUE(exclude({either, not_(either)}));
  EXPECT_FALSE(
      exclude({either, not_negative(column), less(column, five)}, 2)); // not in so few steps
}

TEST(Formula, MovesCoordinates) {
  const Formula inside = less(column, extent);
  EXPECT_TRUE(
      exclude({moved_by(inside, {1, 0, 0}), not_(less(column + IntegerPolynomial(1), extent))}));
  EXPECT_FALSE(
      exclude({moved_by(inside, {0, 1, 0}), not_(less(column + IntegerPolynomial(1), extent))}));
}

// The signs of a | b and a & b are those of a and b; nothing else is.
TEST(Formula, TakesSignsApart) {
  sym::Context c;
  const sym::Term a = c.atom({.name = "a"}), b = c.atom({.name = "b"}), zero = c.constant(32, 0);
  EXPECT_EQ(signs_apart(c, c.slt(c.or_(a, b), zero)), c.or_(c.slt(a, zero), c.slt(b, zero)));
  EXPECT_EQ(signs_apart(c, c.slt(c.and_(a, b), zero)), c.and_(c.slt(a, zero), c.slt(b, zero)));
  for (const sym::Term other :
       {c.slt(c.or_(a, b), c.constant(32, 4)), c.slt(c.or_(a, b), b), c.ult(c.or_(a, b), a),
        c.slt(c.xor_(a, b), zero), c.slt(a, zero), c.eq(c.or_(a, b), zero)})
    EXPECT_FALSE(signs_apart(c, other)) << c.to_string(other);
}

} // namespace
} // namespace ptxasw::passes
