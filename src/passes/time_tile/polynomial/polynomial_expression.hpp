// Polynomials as expressions of a contract, which are evaluated for each launch.
#pragma once

#include "contract/contract.hpp"
#include "passes/time_tile/polynomial/integer_polynomial.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::passes {

contract::Token::Type type_of(unsigned width, bool is_signed);
contract::Expression expression_of(const Quantity& quantity);
contract::Expression number(Number value);
contract::Expression threads(unsigned axis);
contract::Expression combine(contract::Token::Kind kind, contract::Expression a,
                             const contract::Expression& b);
inline contract::Expression plus(contract::Expression a, const contract::Expression& b) {
  return combine(contract::Token::Kind::add, std::move(a), b);
}
inline contract::Expression minus(contract::Expression a, const contract::Expression& b) {
  return combine(contract::Token::Kind::subtract, std::move(a), b);
}
inline contract::Expression times(contract::Expression a, const contract::Expression& b) {
  return combine(contract::Token::Kind::multiply, std::move(a), b);
}
inline contract::Expression smaller(contract::Expression a, const contract::Expression& b) {
  return combine(contract::Token::Kind::least, std::move(a), b);
}
inline contract::Expression larger(contract::Expression a, const contract::Expression& b) {
  return combine(contract::Token::Kind::most, std::move(a), b);
}
// Of a polynomial without coordinates.
contract::Expression expression_of(const IntegerPolynomial& whole);

// Of a condition: there is no launch of which the value is negative.
bool always_holds(const contract::Expression& value);
void add_once(std::vector<contract::Condition>& conditions, contract::Condition condition);
void add_equal(std::vector<contract::Condition>& conditions, const contract::Expression& a,
               const contract::Expression& b, std::string_view otherwise);

// Coordinates from `first` up to, not including, `end`.
struct Span {
  contract::Expression first, end;
};
using Box = std::array<Span, 3>;
Box whole_launch(); // a place for each thread

// The least or the largest value that a linear polynomial has in a box that is not empty.
contract::Expression least_in(const Box& box, const IntegerPolynomial& whole);
contract::Expression most_in(const Box& box, const IntegerPolynomial& whole);
// That it is from `least` to `most` at all places of the box: conditions, but for those that always
// hold. False: it is no sum of coordinates.
bool add_in_range(std::vector<contract::Condition>& conditions, const Box& box,
                  const IntegerPolynomial& whole, std::pair<Number, Number> least_and_most,
                  std::string_view otherwise);

} // namespace ptxasw::passes
