// Follows the structure of Relaxed::of: every widening on the way is one index to be bounded.
#include "reuse/block_bound.hpp"

#include <algorithm>

namespace ptxasw::reuse {

using sym::Bits;
using sym::Kind;
using sym::Term;

void IndexBound::include(const IndexBound& other) {
  for (const auto& [factors, coefficient] : other.products) {
    std::uint64_t& most = products[factors];
    most = std::max(most, coefficient);
  }
}

const std::optional<IndexBound>& Bounds::of(Term address) {
  const auto [place, missing] = memo_.try_emplace(address.id);
  if (missing) {
    IndexBound bound;
    if (collect(address, bound)) place->second = std::move(bound);
  }
  return place->second;
}

bool Bounds::collect(Term t, IndexBound& bound) {
  switch (c_.kind(t)) {
  case Kind::constant: return true;
  case Kind::zext: return widened(c_.args(t)[0], false, bound) && collect(c_.args(t)[0], bound);
  case Kind::sext: return widened(c_.args(t)[0], true, bound) && collect(c_.args(t)[0], bound);
  // A truncation keeps the value modulo its width, which is all that the index around it needs.
  case Kind::extract: return c_.low(t) != 0 || collect(c_.args(t)[0], bound);
  case Kind::poly:
    return std::ranges::all_of(c_.args(t), [&](Term factor) { return collect(factor, bound); });
  default: return true; // a leaf
  }
}

// The atom behind a leaf of a relaxed polynomial.
std::optional<Term> Bounds::leaf(Term factor) const {
  if (c_.kind(factor) == Kind::zext) factor = c_.args(factor)[0];
  const unsigned width = c_.kind(factor) == Kind::atom ? c_.width(factor) : 0;
  if ((width != 32 && width != 64) || !known_(factor)) return std::nullopt;
  return factor;
}

bool Bounds::widened(Term inner, bool is_signed, IndexBound& bound) {
  const Term ideal = relaxed_.of(inner);
  const bool plain_leaf = c_.kind(ideal) == Kind::zext && c_.args(ideal)[0] == inner;
  if (plain_leaf && !is_signed) return true; // its relaxed form is the same widening
  if (c_.width(inner) != 32) return false;
  const auto as_signed = [](Bits bits) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits));
  };
  const sym::Poly poly = c_.poly(ideal);
  IndexBound sum;
  const auto add = [&](std::vector<Term> factors, std::int64_t coefficient) {
    if (coefficient < (is_signed ? INT64_MIN + 1 : 0)) return false; // zext: must not be negative
    sum.products[std::move(factors)] = static_cast<std::uint64_t>(std::abs(coefficient));
    return true;
  };
  if (poly.constant != 0 && !add({}, as_signed(poly.constant))) return false;
  for (const sym::Monomial& monomial : poly.terms) {
    std::vector<Term> factors;
    for (const Term factor : monomial.factors) {
      const auto atom = leaf(factor);
      if (!atom) return false;
      factors.push_back(*atom);
    }
    std::ranges::sort(factors);
    if (!add(std::move(factors), as_signed(monomial.coefficient))) return false;
  }
  bound.include(sum);
  return true;
}

} // namespace ptxasw::reuse
