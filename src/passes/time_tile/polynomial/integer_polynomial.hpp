// Whole numbers of a launch: polynomials of a thread's coordinates and a kernel's parameters.
#pragma once

#include "contract/expression.hpp"
#include "symbolic/sum_of_products.hpp"

#include <compare>
#include <cstdint>

namespace ptxasw::passes {

using contract::Number;

// A coordinate of the thread in the grid, or (a part of) a parameter read as a number. Or what a
// launch says of blocks, which has to cancel out: a thread is at  place - %ctaid * %ntid  in its
// block.
struct Quantity {
  bool is_axis = false;
  unsigned number = 0; // of the axis, or the part of a parameter
  contract::Token::Type as = contract::Token::Type::s64;
  // `iteration`: of the loop `number`.
  enum class Of : std::uint8_t {
    launch,
    block_number,
    block_size,
    blocks,
    iteration,
    threads // along the axis `number`: the same for all, as what is of the launch
  } of = Of::launch;
  friend auto operator<=>(const Quantity&, const Quantity&) = default;
};

// A sum of products of quantities.
class IntegerPolynomial : public sym::SumOfProducts<IntegerPolynomial, Quantity> {
public:
  using SumOfProducts::SumOfProducts;
  static IntegerPolynomial coordinate(unsigned axis) {
    return IntegerPolynomial(Quantity{.is_axis = true, .number = axis});
  }

  // No product has two coordinates, none has what is to cancel out.
  [[nodiscard]] bool is_linear() const;
  // What the coordinate is multiplied with, and what is left without any.
  [[nodiscard]] IntegerPolynomial along(unsigned axis) const;
  [[nodiscard]] IntegerPolynomial elsewhere() const;
};

// The largest whole number that is not above n / by.
Number floored(Number n, Number by);
// The smallest coefficient, if it divides all of them; or else 1.
Number factor_of(const IntegerPolynomial& whole);

} // namespace ptxasw::passes
