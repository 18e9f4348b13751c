// Conditions over whole numbers: `value >= 0`, and what `and` and `or` make of such. Negations are
// pushed down to where they are comparisons again.
//
// That conditions exclude each other is seen where they bound one sum of quantities from both
// sides: x + 1 < n follows from x < n - 1. Nothing else is known of quantities, so what is found to
// be excluded is, over all whole numbers; what is not found may be, too.
#pragma once

#include "passes/time_tile/polynomial/integer_polynomial.hpp"

#include <array>
#include <vector>

namespace ptxasw::passes {

struct Formula {
  enum class Kind : std::uint8_t { always, never, not_negative, all, any } kind = Kind::always;
  IntegerPolynomial value;    // not_negative
  std::vector<Formula> parts; // all, any
};

Formula always(bool holds);
Formula not_negative(IntegerPolynomial value);
Formula is_zero(const IntegerPolynomial& value);
Formula all_of(std::vector<Formula> parts);
Formula any_of(std::vector<Formula> parts);
Formula not_(const Formula& formula);

// The coordinates are replaced by so much larger ones.
IntegerPolynomial moved_by(const IntegerPolynomial& value, const std::array<Number, 3>& by);
Formula moved_by(const Formula& formula, const std::array<Number, 3>& by);

// No whole numbers satisfy all of them. Costs `steps`; false where these do not suffice.
bool is_contradiction(std::vector<const Formula*> all, unsigned& steps);

} // namespace ptxasw::passes
