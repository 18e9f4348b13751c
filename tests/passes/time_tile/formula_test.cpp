// Which conditions exclude each other.
#include "passes/time_tile/formula.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ptxasw::passes {
namespace {

const IntegerPolynomial x = IntegerPolynomial::coordinate(0), y = IntegerPolynomial::coordinate(1),
                        n(Quantity{.number = 2});

// a < b
Formula less(const IntegerPolynomial& a, const IntegerPolynomial& b) {
  return not_negative(b - a - IntegerPolynomial(1));
}

bool exclude(const std::vector<Formula>& all, unsigned steps = 1000) {
  return is_contradiction(all, steps);
}

TEST(Formula, BoundsExclude) {
  const IntegerPolynomial one(1), two(2), three(3);
  EXPECT_TRUE(exclude({less(x, n - one), not_(less(x + one, n))}));
  EXPECT_FALSE(exclude({less(x, n), not_(less(x + one, n))}));
  EXPECT_FALSE(exclude({less(x, n), less(two, x), not_negative(three - x)})); // 3
  EXPECT_TRUE(exclude({less(two, x), less(x, three)}));
  EXPECT_FALSE(exclude({less(x, n), less(n, y), less(y, x)})); // no sum is bounded twice
  EXPECT_TRUE(exclude({is_zero(x - y), less(y, x)}));
  EXPECT_TRUE(exclude({always(false)}));
  EXPECT_FALSE(exclude({always(true)}));
}

TEST(Formula, MultiplesOfASum) {
  const IntegerPolynomial sixteen(16), one(1);
  EXPECT_TRUE(
      exclude({less(IntegerPolynomial(0), sixteen * x), not_negative(IntegerPolynomial(0) - x)}));
  EXPECT_TRUE(exclude({is_zero(sixteen * x - one)}));
  EXPECT_FALSE(exclude({is_zero(sixteen * x - sixteen)}));
  EXPECT_FALSE(exclude({not_negative(sixteen * x + one), less(x, one)})); // 0
}

TEST(Formula, EachSideOfAChoice) {
  const IntegerPolynomial zero(0), five(5);
  const Formula either = any_of({less(x, zero), less(five, x)});
  EXPECT_TRUE(exclude({either, not_negative(x), less(x, five)}));
  EXPECT_FALSE(exclude({either, not_negative(x)}));
  EXPECT_FALSE(exclude({either, less(x, five)}));
  EXPECT_TRUE(exclude({either, not_(either)}));
  EXPECT_FALSE(exclude({either, not_negative(x), less(x, five)}, 2)); // not in so few steps
}

TEST(Formula, MovesCoordinates) {
  const Formula inside = less(x, n);
  EXPECT_TRUE(exclude({moved_by(inside, {1, 0, 0}), not_(less(x + IntegerPolynomial(1), n))}));
  EXPECT_FALSE(exclude({moved_by(inside, {0, 1, 0}), not_(less(x + IntegerPolynomial(1), n))}));
}

} // namespace
} // namespace ptxasw::passes
