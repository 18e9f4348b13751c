// The polynomial normal form: sums, differences and products modulo 2^width.
//
// A polynomial node has at least a constant and a monomial, or two monomials, or one monomial that
// is not just a term; everything smaller collapses. Sums of more than 256 monomials, products of
// more than 64 and monomials of more than 16 factors stop expanding: the operand then becomes an
// opaque factor (an extract of the full width), which is sound and only costs precision.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <algorithm>
#include <compare>

namespace ptxasw::sym {

namespace {

constexpr Bits one = 1;
constexpr std::uint32_t first_end = 1;

std::strong_ordering compare(std::span<const Term> a, std::span<const Term> b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

} // namespace

void Sum::clear() {
  constant = 0;
  coefficients.clear();
  ends.clear();
  factors.clear();
}

void Sum::push(Bits coefficient, std::span<const Term> monomial) {
  coefficients.push_back(coefficient);
  factors.insert(factors.end(), monomial.begin(), monomial.end());
  ends.push_back(static_cast<std::uint32_t>(factors.size()));
}

PolyView Context::view(Term t) const {
  const Node& n = node(t);
  if (n.kind == Kind::constant) return {n.numbers[0], {}, {}, nullptr};
  if (n.kind == Kind::poly)
    return {n.numbers[0], {n.numbers + 1, n.aux}, {n.ends, n.aux}, n.operands};
  return {0, {&one, 1}, {&first_end, 1}, &n.self};
}

Term Context::finish(unsigned w, const Sum& sum) {
  if (sum.coefficients.empty()) return constant(w, sum.constant);
  if (sum.constant == 0 && sum.coefficients.size() == 1 && sum.coefficients[0] == 1 &&
      sum.factors.size() == 1)
    return sum.factors[0];
  Bits small[17]; // NOLINT(cppcoreguidelines-avoid-c-arrays): no allocation for usual sizes
  std::vector<Bits> large;
  std::span<Bits> numbers;
  const std::size_t count = sum.coefficients.size() + 1;
  if (count <= std::size(small)) {
    numbers = std::span(small, count);
  } else {
    large.resize(count);
    numbers = large;
  }
  numbers[0] = sum.constant;
  std::ranges::copy(sum.coefficients, numbers.begin() + 1);
  return intern(NodeKey{Kind::poly, w, static_cast<std::uint32_t>(count - 1), sum.factors, numbers,
                        sum.ends});
}

Term Context::opaque(Term t) {
  return is(t, Kind::poly) ? intern(Kind::extract, width(t), {t}) : t;
}

void Context::merge(Sum& result, PolyView a, PolyView b, Bits k, unsigned w) const {
  spend(1 + (a.size() + b.size()) / 2);
  const Bits mask = low_mask(w);
  result.clear();
  result.constant = (a.constant + k * b.constant) & mask;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const auto order = i == a.size()   ? std::strong_ordering::greater
                       : j == b.size() ? std::strong_ordering::less
                                       : compare(a.factors(i), b.factors(j));
    Bits coefficient = 0;
    if (std::is_lteq(order)) coefficient += a.coefficients[i];
    if (std::is_gteq(order)) coefficient += k * b.coefficients[j];
    coefficient &= mask;
    if (coefficient != 0)
      result.push(coefficient, std::is_lteq(order) ? a.factors(i) : b.factors(j));
    if (std::is_lteq(order)) ++i;
    if (std::is_gteq(order)) ++j;
  }
}

Term Context::add(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return xor_(a, b);
  if (is_value(a, 0)) return b;
  if (is_value(b, 0)) return a;
  if (view(a).size() + view(b).size() > max_monomials) {
    if (view(a).size() > 1) a = opaque(a);
    if (view(b).size() > 1) b = opaque(b);
  }
  merge(scratch_, view(a), view(b), 1, w);
  return finish(w, scratch_);
}

Term Context::sub(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return xor_(a, b);
  if (is_value(b, 0)) return a;
  if (view(a).size() + view(b).size() > max_monomials && a != b) {
    if (view(a).size() > 1) a = opaque(a);
    if (view(b).size() > 1) b = opaque(b);
  }
  merge(scratch_, view(a), view(b), ~Bits{0}, w);
  return finish(w, scratch_);
}

Term Context::scale(Term a, Bits factor) {
  const unsigned w = width(a);
  if (w == 1) return (factor & 1) != 0 ? a : constant(1, 0);
  merge(scratch_, PolyView{}, view(a), factor, w);
  return finish(w, scratch_);
}

Term Context::mul(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (w == 1) return and_(a, b);
  if (const Bits* v = numeral(a)) return scale(b, *v);
  if (const Bits* v = numeral(b)) return scale(a, *v);
  return product(a, b);
}

Term Context::product(Term a, Term b) {
  const unsigned w = width(a);
  const auto terms = [&](Term t) { return view(t).size() + (view(t).constant != 0 ? 1 : 0); };
  const auto degree = [&](Term t) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < view(t).size(); ++i)
      most = std::max(most, view(t).factors(i).size());
    return most;
  };
  if (terms(a) * terms(b) > max_product) {
    Term& larger = terms(a) >= terms(b) ? a : b;
    larger = opaque(larger);
  }
  if (terms(a) * terms(b) > max_product || degree(a) + degree(b) > max_degree) {
    a = opaque(a);
    b = opaque(b);
  }
  const PolyView p = view(a);
  const PolyView q = view(b);
  auto& pieces = product_pieces_;
  auto& factors = product_factors_;
  pieces.clear();
  factors.clear();
  const auto push = [&](Bits coefficient, std::span<const Term> x, std::span<const Term> y) {
    const auto first = static_cast<std::uint32_t>(factors.size());
    std::ranges::merge(x, y, std::back_inserter(factors));
    pieces.push_back({coefficient, first, static_cast<std::uint32_t>(factors.size())});
  };
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < q.size(); ++j)
      push(p.coefficients[i] * q.coefficients[j], p.factors(i), q.factors(j));
    push(p.coefficients[i] * q.constant, p.factors(i), {});
  }
  for (std::size_t j = 0; j < q.size(); ++j)
    push(p.constant * q.coefficients[j], {}, q.factors(j));
  const auto monomial = [&](const Piece& piece) {
    return std::span<const Term>(factors).subspan(piece.first, piece.last - piece.first);
  };
  std::ranges::sort(pieces, [&](const Piece& x, const Piece& y) {
    return std::is_lt(compare(monomial(x), monomial(y)));
  });
  scratch_.clear();
  scratch_.constant = p.constant * q.constant & low_mask(w);
  for (std::size_t i = 0; i < pieces.size();) {
    Bits coefficient = 0;
    const std::size_t first = i;
    for (; i < pieces.size() && std::is_eq(compare(monomial(pieces[i]), monomial(pieces[first])));
         ++i)
      coefficient += pieces[i].coefficient;
    coefficient &= low_mask(w);
    if (coefficient != 0) scratch_.push(coefficient, monomial(pieces[first]));
  }
  return finish(w, scratch_);
}

bool Context::same_monomials(PolyView a, PolyView b, bool with_opposite_sign, unsigned w) const {
  if (a.size() != b.size() || !std::ranges::equal(a.ends, b.ends)) return false;
  if (a.size() != 0 && !std::equal(a.all_factors, a.all_factors + a.ends.back(), b.all_factors))
    return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Bits wanted =
        with_opposite_sign ? (0 - b.coefficients[i]) & low_mask(w) : b.coefficients[i];
    if (a.coefficients[i] != wanted) return false;
  }
  return true;
}

} // namespace ptxasw::sym
