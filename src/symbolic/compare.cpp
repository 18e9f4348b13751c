// Comparisons and selection. An equation is brought to one side, divided by the power of two that
// all coefficients share, and written back with positive coefficients left and the constant right,
// so that equations with the same solutions by arithmetic are the same term. Inequalities keep
// their constant on the right: c < x is not (x < c + 1).
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <algorithm>

namespace ptxasw::sym {

Term Context::eq(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return boolean(true);
  if (w == 1) return not_(xor_(a, b));
  if (numeral(a) != nullptr && numeral(b) != nullptr) return boolean(false);
  Sum difference;
  merge(difference, view(a), view(b), ~Bits{0}, w);
  return eq_zero(w, std::move(difference));
}

Term Context::eq_zero(unsigned w, Sum d) {
  if (d.coefficients.empty()) return boolean(d.constant == 0);
  const Bits mask = low_mask(w);
  const Exact bounds = exact(d.view(), w);
  if (bounds.bounded && w < 126) { // is a multiple of 2^w among the possible values?
    const SBits floor_of_hi = (bounds.hi >> w) << w;
    if (floor_of_hi < bounds.lo) return boolean(false);
  }
  unsigned shared = w;
  for (const Bits c : d.coefficients)
    shared = std::min(shared, trailing_zeros(c));
  if (shared > 0) {
    if ((d.constant & low_mask(shared)) != 0) return boolean(false);
    const unsigned narrow = w - shared;
    const Term reduced = map_poly(
        d.view(), narrow, d.constant >> shared, [&](Bits c) { return c >> shared; },
        [&](Term f) { return extract(f, 0, narrow); });
    return eq(reduced, constant(narrow, 0));
  }
  Bits factor = 1;
  if (d.coefficients.size() == 1) {
    factor = inverse_of_odd(d.coefficients[0]);
  } else { // the sign of the first coefficient that has one
    const auto signed_one =
        std::ranges::find_if(d.coefficients, [&](Bits c) { return c != ((0 - c) & mask); });
    if (sign_bit(*signed_one, w)) factor = mask;
  }
  Sum left;
  Sum right;
  right.constant = (0 - factor * d.constant) & mask;
  const PolyView p = d.view();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Bits c = factor * p.coefficients[i] & mask;
    if (sign_bit(c, w)) {
      right.push((0 - c) & mask, p.factors(i));
    } else {
      left.push(c, p.factors(i));
    }
  }
  return eq_sides(finish(w, left), finish(w, right));
}

// Equations of extended terms are equations of the terms.
std::optional<Term> Context::eq_extended(Term left, Term right) {
  const Node& l = node(left);
  const Node& r = node(right);
  if (l.kind != Kind::zext && l.kind != Kind::sext) return std::nullopt;
  const bool is_signed = l.kind == Kind::sext;
  const Term inner = l.args()[0];
  const unsigned narrow = width(inner);
  if (const Bits* v = numeral(right)) {
    const Term low = constant(narrow, *v);
    const Term back = is_signed ? sext(low, l.width) : zext(low, l.width);
    return back == right ? eq(inner, low) : boolean(false);
  }
  if (r.kind != l.kind) return std::nullopt;
  const unsigned common = std::max(narrow, width(r.args()[0]));
  const auto widen = [&](Term t) { return is_signed ? sext(t, common) : zext(t, common); };
  return eq(widen(inner), widen(r.args()[0]));
}

Term Context::eq_sides(Term left, Term right) {
  const Node& l = node(left);
  if (const auto result = eq_extended(left, right)) return *result;
  if (const Bits* v = numeral(right)) {
    if (l.kind == Kind::ite) {
      const Bits* then = numeral(l.args()[1]);
      const Bits* otherwise = numeral(l.args()[2]);
      if (then != nullptr && otherwise != nullptr) {
        if (*then == *v) return l.args()[0]; // the branches differ
        return *otherwise == *v ? not_(l.args()[0]) : boolean(false);
      }
    }
    if (l.kind == Kind::xor_)
      if (const Bits* c = numeral(l.args()[0]))
        return eq(nary(Kind::xor_, l.width, l.args().subspan(1), 0, 0), constant(l.width, *v ^ *c));
  }
  return intern(Kind::eq, 1, {left, right});
}

// a < b for two sums that differ by a constant and cannot wrap around.
std::optional<bool> Context::ordered_by_constant(Term a, Term b, bool is_signed) {
  const unsigned w = width(a);
  const PolyView p = view(a);
  const PolyView q = view(b);
  if (!same_monomials(p, q, false, w)) return std::nullopt;
  for (const PolyView& side : {p, q}) {
    const Exact bounds = exact(side, w);
    if (is_signed ? !bounds.fits_signed(w) : !bounds.fits_unsigned(w)) return std::nullopt;
  }
  return as_signed(p.constant, w) < as_signed(q.constant, w);
}

// Extensions keep the order; a sign extension keeps the unsigned one, too.
std::optional<Term> Context::order_extended(Term a, Term b, bool is_signed) {
  const Node& l = node(a);
  const Node& r = node(b);
  const auto compare = [&](Term x, Term y) { return is_signed ? slt(x, y) : ult(x, y); };
  if (l.kind == Kind::zext && r.kind == Kind::zext) {
    const unsigned common = std::max(width(l.args()[0]), width(r.args()[0]));
    return ult(zext(l.args()[0], common), zext(r.args()[0], common));
  }
  if (l.kind == Kind::sext && r.kind == Kind::sext) {
    const unsigned common = std::max(width(l.args()[0]), width(r.args()[0]));
    return compare(sext(l.args()[0], common), sext(r.args()[0], common));
  }
  const Bits* limit = numeral(b);
  if (limit == nullptr) return std::nullopt;
  if (l.kind == Kind::zext && !is_signed)
    return ult(l.args()[0], constant(width(l.args()[0]), *limit)); // in reach, or decided before
  if (l.kind == Kind::sext && is_signed)
    return slt(l.args()[0], constant(width(l.args()[0]), *limit));
  return std::nullopt;
}

Term Context::ult(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return boolean(false);
  if (w == 1) return and_(not_(a), b);
  const Known& x = known(a);
  const Known& y = known(b);
  if (x.hi < y.lo) return boolean(true);
  if (x.lo >= y.hi) return boolean(false);
  if (is_value(a, 0)) return not_(eq(b, a));
  if (const Bits* c = numeral(a)) return not_(ult(b, constant(w, *c + 1))); // c is not the maximum
  if (is_value(b, 1)) return eq(a, constant(w, 0));
  if (is_value(b, low_mask(w))) return not_(eq(a, b));
  if (const auto order = ordered_by_constant(a, b, false)) return boolean(*order);
  if (const auto result = order_extended(a, b, false)) return *result;
  return intern(Kind::ult, 1, {a, b});
}

Term Context::slt(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return boolean(false);
  if (w == 1) return and_(a, not_(b));
  const Known& x = known(a);
  const Known& y = known(b);
  if (x.shi < y.slo) return boolean(true);
  if (x.slo >= y.shi) return boolean(false);
  if (x.slo >= 0 && y.slo >= 0) return ult(a, b);
  const Bits lowest = Bits{1} << (w - 1);
  if (is_value(a, lowest)) return not_(eq(b, a));
  if (const Bits* c = numeral(a)) return not_(slt(b, constant(w, *c + 1)));
  if (is_value(b, lowest + 1)) return eq(a, constant(w, lowest));
  if (is_value(b, lowest - 1)) return not_(eq(a, b));
  if (const auto order = ordered_by_constant(a, b, true)) return boolean(*order);
  if (const auto result = order_extended(a, b, true)) return *result;
  return intern(Kind::slt, 1, {a, b});
}

Term Context::boolean_ite(Term c, Term a, Term b) {
  if (numeral(a) != nullptr) return is_value(a, 1) ? or_(c, b) : and_(not_(c), b);
  if (numeral(b) != nullptr) return is_value(b, 1) ? or_(not_(c), a) : and_(c, a);
  if (a == c) return or_(c, b);
  if (b == c) return and_(c, a);
  if (a == not_(c)) return and_(a, b);
  if (b == not_(c)) return or_(b, a);
  if (a == not_(b)) return xor_(c, b);
  if (const auto inner = negated(a)) return not_(ite(c, *inner, not_(b)));
  return intern(Kind::ite, 1, {c, a, b});
}

Term Context::ite(Term c, Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b) && width(c) == 1);
  if (const Bits* v = numeral(c)) return *v != 0 ? a : b;
  if (a == b) return a;
  if (const auto inner = negated(c)) return ite(*inner, b, a);
  if (is(a, Kind::ite) && node(a).args()[0] == c) return ite(c, node(a).args()[1], b);
  if (is(b, Kind::ite) && node(b).args()[0] == c) return ite(c, a, node(b).args()[2]);
  if (w == 1) return boolean_ite(c, a, b);
  if (is(c, Kind::eq) && eq(a, b) == c) return b;
  if (numeral(a) != nullptr && numeral(b) != nullptr) {
    if (is_value(b, 0) && is_value(a, 1)) return zext(c, w);
    if (is_value(b, 0) && is_value(a, low_mask(w))) return neg(zext(c, w));
    if (is_value(a, 0) && (is_value(b, 1) || is_value(b, low_mask(w))))
      return mul(b, zext(not_(c), w));
  } else if (same_monomials(view(a), view(b), false, w)) { // p + k or p: p + (k or 0)
    return add(b, ite(c, sub(a, b), constant(w, 0)));
  }
  return intern(Kind::ite, w, {c, a, b});
}

} // namespace ptxasw::sym
