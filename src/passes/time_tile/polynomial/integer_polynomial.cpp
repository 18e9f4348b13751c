// The parts of a polynomial by coordinates.
#include "passes/time_tile/polynomial/integer_polynomial.hpp"

#include <algorithm>

namespace ptxasw::passes {

bool IntegerPolynomial::is_linear() const {
  return std::ranges::all_of(terms(), [](const auto& term) {
    return std::ranges::count(term.first, true, &Quantity::is_axis) <= 1 &&
           std::ranges::all_of(term.first, [](const Quantity& q) {
             return q.of == Quantity::Of::launch || q.of == Quantity::Of::threads;
           });
  });
}

IntegerPolynomial IntegerPolynomial::along(unsigned axis) const {
  IntegerPolynomial result;
  result.too_large_ = too_large_;
  for (const auto& [product, coefficient] : terms()) {
    Product rest = product;
    if (std::erase_if(rest, [&](const Quantity& q) { return q.is_axis && q.number == axis; }) != 0)
      result.add(rest, coefficient);
  }
  return result;
}

IntegerPolynomial IntegerPolynomial::elsewhere() const {
  IntegerPolynomial result;
  result.too_large_ = too_large_;
  for (const auto& [product, coefficient] : terms())
    if (std::ranges::none_of(product, &Quantity::is_axis)) result.add(product, coefficient);
  return result;
}

Number floored(Number n, Number by) {
  return n >= 0 ? n / by : -((by - 1 - n) / by);
}

Number factor_of(const IntegerPolynomial& whole) {
  Number least = 0;
  for (const auto& [product, coefficient] : whole.terms()) {
    const Number size = coefficient < 0 ? -coefficient : coefficient;
    least = least == 0 ? size : std::min(least, size);
  }
  return least != 0 && quotient(whole, IntegerPolynomial(least)) ? least : 1;
}

} // namespace ptxasw::passes
