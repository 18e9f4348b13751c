// Divides by the stride of rows, then by that within a row.
#include "passes/time_tile/sequence/element_place.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace ptxasw::passes {
namespace {

using Product = IntegerPolynomial::Product;

constexpr unsigned most_terms = 16;
constexpr Number usual_size = 100;

// With all quantities alike.
Number usual_value(const IntegerPolynomial& whole) {
  Number sum = 0;
  for (const auto& [product, coefficient] : whole.terms()) {
    Number value = coefficient;
    for (std::size_t n = 0; n < product.size() && n < 4; ++n)
      value *= usual_size;
    sum += value;
  }
  return sum;
}

const std::pair<const Product, Number>& leading(const IntegerPolynomial& whole) {
  return *std::ranges::max_element(whole.terms(), {},
                                   [](const auto& term) { return term.first.size(); });
}

// A term of `what` by the leading one of `by`; none: it does not divide any.
std::optional<IntegerPolynomial> one_quotient(const IntegerPolynomial& what,
                                              const IntegerPolynomial& by) {
  const auto& [lead, divisor] = leading(by);
  for (const auto& [product, coefficient] : what.terms()) {
    if (!std::ranges::includes(product, lead) || coefficient % divisor != 0) continue;
    Product left;
    std::ranges::set_difference(product, lead, std::back_inserter(left));
    IntegerPolynomial made;
    made.add(left, coefficient / divisor);
    return made;
  }
  return std::nullopt;
}

std::pair<IntegerPolynomial, IntegerPolynomial> divided(const IntegerPolynomial& what,
                                                        const IntegerPolynomial& by) {
  IntegerPolynomial quotient, rest = what;
  for (unsigned n = 0; n < most_terms; ++n) {
    const auto one = one_quotient(rest, by);
    if (!one) break;
    quotient = quotient + *one;
    rest = rest - *one * by;
  }
  return {std::move(quotient), std::move(rest)};
}

} // namespace

std::optional<std::array<IntegerPolynomial, 2>> place_of(const IntegerPolynomial& far,
                                                         const IntegerPolynomial& element) {
  std::array<IntegerPolynomial, 2> place;
  const std::array strides{element.along(0), element.along(1)};
  const bool along_x = usual_value(strides[0]) >= usual_value(strides[1]);
  const unsigned row = along_x ? 0 : 1, within = 1 - row; // the longer stride
  if (strides.at(row).is_zero()) return std::nullopt;
  IntegerPolynomial rest;
  std::tie(place.at(row), rest) = divided(far, strides.at(row));
  if (!strides.at(within).is_zero()) {
    const IntegerPolynomial length = divided(strides.at(row), strides.at(within)).first;
    std::tie(place.at(within), rest) = divided(rest, strides.at(within));
    for (unsigned n = 0; n < most_terms && usual_value(place.at(within)) < 0; ++n) {
      place.at(within) = place.at(within) + length;
      place.at(row) = place.at(row) - IntegerPolynomial(1);
    }
  }
  // However these were found.
  if (strides[0] * place[0] + strides[1] * place[1] != far) return std::nullopt;
  return place;
}

} // namespace ptxasw::passes
