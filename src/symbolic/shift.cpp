// Shifts and divisions. A shift by a constant is a multiplication or an extended extract; a shift
// by a variable s to the left is a multiplication by 1 << s. Divisions by a constant take out the
// multiples of the divisor when no wrap-around is possible.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

namespace ptxasw::sym {

Term Context::shl(Term a, Term amount) {
  const unsigned w = width(a);
  assert(w == width(amount));
  if (w == 1) return and_(a, not_(amount));
  if (const Bits* k = numeral(amount))
    return *k >= w ? constant(w, 0) : scale(a, Bits{1} << static_cast<unsigned>(*k));
  if (known(amount).lo >= w) return constant(w, 0);
  return mul(a, intern(Kind::shl, w, {constant(w, 1), amount}));
}

Term Context::lshr(Term a, Term amount) {
  const unsigned w = width(a);
  assert(w == width(amount));
  if (w == 1) return and_(a, not_(amount));
  if (const Bits* k = numeral(amount)) {
    if (*k >= w) return constant(w, 0);
    const auto low = static_cast<unsigned>(*k);
    return zext(extract(a, low, w - low), w);
  }
  if (is_value(a, 0) || known(amount).lo >= w) return constant(w, 0);
  return intern(Kind::lshr, w, {a, amount});
}

Term Context::ashr(Term a, Term amount) {
  const unsigned w = width(a);
  assert(w == width(amount));
  if (w == 1) return a;
  if (known(a).slo >= 0) return lshr(a, amount);
  if (const Bits* k = numeral(amount)) {
    const unsigned low = *k >= w ? w - 1 : static_cast<unsigned>(*k);
    return sext(extract(a, low, w - low), w);
  }
  if (known(amount).lo >= w) return ashr(a, constant(w, w - 1));
  if (is_value(a, ~Bits{0} & low_mask(w))) return a;
  return intern(Kind::ashr, w, {a, amount});
}

// a = divisor * quotient + rest, in the integers and without wrap-around.
std::optional<Context::Division> Context::split_multiples(Term a, Bits divisor) {
  const unsigned w = width(a);
  if (divisor >= (Bits{1} << 126) || !is(a, Kind::poly) || !exact(view(a), w).fits_unsigned(w))
    return std::nullopt;
  const PolyView p = view(a);
  const auto d = static_cast<SBits>(divisor);
  Sum quotient;
  Sum rest;
  SBits constant_rest = as_signed(p.constant, w) % d;
  if (constant_rest < 0) constant_rest += d;
  rest.constant = as_bits(constant_rest);
  quotient.constant = as_bits((as_signed(p.constant, w) - constant_rest) / d) & low_mask(w);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const SBits c = as_signed(p.coefficients[i], w);
    if (c % d == 0) {
      quotient.push(as_bits(c / d) & low_mask(w), p.factors(i));
    } else {
      rest.push(p.coefficients[i], p.factors(i));
    }
  }
  // The constant of the rest must read the same as a signed number for the bounds to be its own.
  if (sign_bit(rest.constant, w)) return std::nullopt;
  const Exact bounds = exact(rest.view(), w);
  if (!bounds.fits_unsigned(w)) return std::nullopt;
  return Division{finish(w, quotient), finish(w, rest), bounds.hi < d};
}

Term Context::udiv(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return or_(a, not_(b));
  const Bits* d = numeral(b);
  if (d != nullptr) {
    if (*d == 0) return constant(w, ~Bits{0});
    if (is_power_of_two(*d)) return lshr(a, constant(w, trailing_zeros(*d)));
    if (const Bits* v = numeral(a)) return constant(w, *v / *d);
  }
  if (known(a).hi < known(b).lo) return constant(w, 0);
  if (a == b && known(a).lo > 0) return constant(w, 1);
  if (d == nullptr) return intern(Kind::udiv, w, {a, b});
  if (const auto parts = split_multiples(a, *d)) {
    if (parts->rest_is_remainder) return parts->quotient;
    if (!is_value(parts->quotient, 0)) return add(parts->quotient, udiv(parts->rest, b));
  }
  const Node& n = node(a);
  if (n.kind == Kind::udiv)
    if (const Bits* inner = numeral(n.args()[1]); inner != nullptr && *inner <= low_mask(w) / *d)
      return udiv(n.args()[0], constant(w, *inner * *d));
  return intern(Kind::udiv, w, {a, b});
}

Term Context::urem(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return and_(a, not_(b));
  if (a == b) return constant(w, 0); // also for 0 % 0
  const Bits* d = numeral(b);
  if (d != nullptr) {
    if (*d == 0) return a;
    if (is_power_of_two(*d)) return and_(a, constant(w, *d - 1));
    if (const Bits* v = numeral(a)) return constant(w, *v % *d);
  }
  if (known(a).hi < known(b).lo) return a;
  if (d != nullptr)
    if (const auto parts = split_multiples(a, *d)) {
      if (parts->rest_is_remainder) return parts->rest;
      if (parts->rest != a) return urem(parts->rest, b);
    }
  return intern(Kind::urem, w, {a, b});
}

Term Context::sdiv(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return udiv(a, b); // -1 / -1 = 1 = -1, and by zero: all ones either way
  if (const Bits* x = numeral(a), *y = numeral(b); x != nullptr && y != nullptr)
    return constant(w, fold_binary(Kind::sdiv, w, *x, *y));
  if (is_value(b, 1)) return a;
  if (is_value(b, low_mask(w))) return neg(a);
  if (known(a).slo >= 0 && known(b).slo >= 0) return udiv(a, b);
  return intern(Kind::sdiv, w, {a, b});
}

Term Context::srem(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return urem(a, b);
  if (const Bits* x = numeral(a), *y = numeral(b); x != nullptr && y != nullptr)
    return constant(w, fold_binary(Kind::srem, w, *x, *y));
  if (a == b || is_value(b, 1) || is_value(b, low_mask(w))) return constant(w, 0);
  if (known(a).slo >= 0 && known(b).slo >= 0) return urem(a, b);
  return intern(Kind::srem, w, {a, b});
}

} // namespace ptxasw::sym
