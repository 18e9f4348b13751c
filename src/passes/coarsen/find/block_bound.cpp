// Follows the structure of AxisPolynomial::of: every widening on the way is one index to be
// bounded.
#include "passes/coarsen/find/block_bound.hpp"

#include "passes/coarsen/find/block_iterations.hpp"

#include <algorithm>

namespace ptxasw::passes {

using sym::Bits;
using sym::Kind;
using sym::Term;

namespace {

// No check that holds comes near.
sym::SBits clamped(sym::SBits coefficient) {
  return std::min(coefficient, sym::SBits{1} << 40);
}

} // namespace

void IndexBound::include(const PolynomialBound::Terms& other) {
  for (const auto& [factors, coefficient] : other) {
    sym::SBits& most = products[factors];
    most = std::max(most, clamped(coefficient));
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

bool Bounds::widened(Term inner, bool is_signed, IndexBound& bound) {
  const Term ideal = relaxed_.of(inner);
  const bool plain_leaf = c_.kind(ideal) == Kind::zext && c_.args(ideal)[0] == inner;
  if (plain_leaf && !is_signed) return true; // its relaxed form is the same widening
  if (c_.width(inner) != 32) return false;
  const auto size = magnitude(ideal, is_signed, bound);
  if (!size) return false;
  bound.include(size->terms());
  return true;
}

// An upper limit for |ideal|, and for ideal >= 0 where it may not be negative.
std::optional<PolynomialBound> Bounds::magnitude(Term ideal, bool may_be_negative,
                                                 IndexBound& bound) {
  const sym::Poly poly = c_.poly(ideal);
  const auto absolute = [&](Bits bits) -> std::optional<std::uint64_t> {
    const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits));
    if (value < 0 && !may_be_negative) return std::nullopt;
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  };
  const auto constant = absolute(poly.constant);
  if (!constant) return std::nullopt;
  PolynomialBound sum(*constant);
  for (const sym::Monomial& monomial : poly.terms) {
    const auto coefficient = absolute(monomial.coefficient);
    if (!coefficient) return std::nullopt;
    PolynomialBound product(*coefficient);
    for (const Term factor : monomial.factors) {
      const auto size = of_factor(factor, bound);
      if (!size) return std::nullopt;
      product = product * *size;
    }
    sum = sum + product;
  }
  return sum;
}

// The atom behind a leaf of a relaxed polynomial.
std::optional<PolynomialBound> Bounds::of_factor(Term factor, IndexBound& bound) {
  if (c_.kind(factor) == Kind::zext) factor = c_.args(factor)[0];
  if (c_.kind(factor) != Kind::atom) return std::nullopt;
  const sym::Atom& info = c_.atom_info(factor);
  if (info.kind == static_cast<std::uint32_t>(emulator::AtomKind::iteration)) {
    return iterations(info.tag, bound);
  }
  if ((info.width != 32 && info.width != 64) || !known_(factor)) return std::nullopt;
  return PolynomialBound(factor);
}

// |last - first| / step + 1, with both ends and a step beyond the last known not to wrap.
std::optional<PolynomialBound> Bounds::iterations(std::uint32_t loop, IndexBound& bound) {
  constexpr unsigned deepest = 8;
  const auto limit = trip_count_limit(k_, loop);
  if (!limit || depth_ == deepest) return std::nullopt;
  const Term step = c_.constant(32, limit->step);
  const Term beyond = limit->up ? c_.add(limit->last, step) : c_.sub(limit->last, step);
  ++depth_;
  const bool fits = widened(limit->first, limit->is_signed, bound) &&
                    widened(limit->last, limit->is_signed, bound) &&
                    widened(beyond, limit->is_signed, bound);
  const auto first = fits ? magnitude(relaxed_.of(limit->first), true, bound) : std::nullopt;
  const auto last = fits ? magnitude(relaxed_.of(limit->last), true, bound) : std::nullopt;
  --depth_;
  if (!first || !last) return std::nullopt;
  const PolynomialBound sum = *first + *last;
  PolynomialBound most(1);
  for (const auto& [factors, coefficient] : sum.terms())
    most.add(factors, (clamped(coefficient) + limit->step - 1) / limit->step);
  return most;
}

} // namespace ptxasw::passes
