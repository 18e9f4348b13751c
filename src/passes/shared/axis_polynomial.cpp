// Structural recursion with a memo; whatever is not a sum, product or change of width is a leaf.
#include "passes/shared/axis_polynomial.hpp"

#include <algorithm>

namespace ptxasw::passes {

using sym::Bits;
using sym::Kind;
using sym::Term;

namespace {

// The two's complement number that `bits` of `width` stand for, in 64 bits.
std::uint64_t sign_extended(Bits bits, unsigned width) {
  const auto low = static_cast<std::uint64_t>(bits);
  if (width >= 64) return low;
  const unsigned shift = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(low << shift) >> shift);
}

} // namespace

AxisPolynomial::AxisPolynomial(sym::Context& context, Term axis) : c_(context), axis_(axis) {
  // A block of one column: nothing moves along the axis.
  if (axis_.valid() && c_.kind(axis_) != Kind::atom) axis_ = {};
}

Term AxisPolynomial::widen(Term leaf) {
  const unsigned width = c_.width(leaf);
  if (width == 64) return leaf;
  return width < 64 ? c_.zext(leaf, 64) : c_.extract(leaf, 0, 64);
}

Term AxisPolynomial::of(Term t) {
  if (const auto found = memo_.find(t.id); found != memo_.end()) return found->second;
  Term result;
  switch (c_.kind(t)) {
  case Kind::constant: result = c_.constant(64, sign_extended(*c_.value(t), c_.width(t))); break;
  case Kind::zext:
  case Kind::sext: result = of(c_.args(t)[0]); break;
  case Kind::extract: result = c_.low(t) == 0 ? of(c_.args(t)[0]) : widen(t); break;
  case Kind::poly: {
    const unsigned width = c_.width(t);
    const sym::Poly poly = c_.poly(t);
    result = c_.constant(64, sign_extended(poly.constant, width));
    for (const sym::Monomial& monomial : poly.terms) {
      Term product = c_.constant(64, sign_extended(monomial.coefficient, width));
      for (const Term factor : monomial.factors)
        product = c_.mul(product, of(factor));
      result = c_.add(result, product);
    }
    break;
  }
  default: result = widen(t);
  }
  memo_.emplace(t.id, result);
  return result;
}

Stride AxisPolynomial::stride(Term t, Term variable) {
  if (!variable.valid())
    return {.kind = Stride::Kind::constant, .bytes = 0, .term = c_.constant(64, 0)};
  const std::uint64_t key = (std::uint64_t{t.id} << 32) | variable.id;
  if (const auto found = strides_.find(key); found != strides_.end()) return found->second;
  return strides_.emplace(key, find_stride(t, variable)).first->second;
}

Stride AxisPolynomial::find_stride(Term t, Term variable) {
  Stride result{.kind = Stride::Kind::constant, .bytes = 0, .term = c_.constant(64, 0)};
  const Term wide = widen(variable);
  for (const sym::Monomial& monomial : c_.poly(of(t)).terms) {
    const auto linear = std::ranges::find(monomial.factors, wide);
    for (auto factor = monomial.factors.begin(); factor != monomial.factors.end(); ++factor)
      if (factor != linear && c_.depends_on(*factor, variable)) return {};
    if (linear == monomial.factors.end()) continue;
    Term coefficient = c_.constant(64, monomial.coefficient);
    for (auto factor = monomial.factors.begin(); factor != monomial.factors.end(); ++factor)
      if (factor != linear) coefficient = c_.mul(coefficient, *factor);
    result.term = c_.add(result.term, coefficient);
  }
  if (const auto bytes = c_.value(result.term)) {
    result.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(*bytes));
  } else {
    result.kind = c_.uniformity(result.term) <= sym::Uniformity::warp ? Stride::Kind::parametric
                                                                      : Stride::Kind::unknown;
  }
  return result;
}

// Takes as many whole strides out of the address as its leading monomial holds: for a constant
// stride of 4 the constant 9 becomes 1 and two steps; for a stride of 4*nx so does 8*nx.
AxisPosition AxisPolynomial::position(Term t) {
  const Term relaxed = of(t);
  const Stride step = stride(t);
  if (step.kind == Stride::Kind::unknown || c_.value(step.term) == Bits{0}) return {relaxed, 0};
  const sym::Poly address = c_.poly(relaxed), unit = c_.poly(step.term);
  Bits of_address = address.constant, of_unit = unit.constant;
  if (!unit.terms.empty()) {
    const sym::Monomial& leading = unit.terms.front();
    of_unit = leading.coefficient;
    of_address = 0;
    for (const sym::Monomial& monomial : address.terms) {
      if (monomial.factors == leading.factors) of_address = monomial.coefficient;
    }
  }
  const auto whole = static_cast<std::int64_t>(static_cast<std::uint64_t>(of_address));
  const auto part = static_cast<std::int64_t>(static_cast<std::uint64_t>(of_unit));
  if (part == -1 || part == 0) return {relaxed, 0}; // -1: byte-wise backwards; not worth a case
  const std::int64_t steps =
      whole / part - (whole % part != 0 && (whole < 0) != (part < 0) ? 1 : 0);
  const Term taken = c_.mul(step.term, c_.constant(64, static_cast<std::uint64_t>(steps)));
  return {c_.sub(relaxed, taken), steps};
}

} // namespace ptxasw::passes
