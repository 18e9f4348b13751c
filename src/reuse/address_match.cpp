// The proof that two addresses agree, and the minimum it has to assume about index arithmetic.
//
// sext(e + 1) = sext(e) + 1 is false at e = 2^31 - 1. So where the two addresses differ only in
// where a constant stands (inside or outside a widening), the widened index of lane x is named as a
// fact that lane x has to check; everything else is equality of normal forms or a query to Z3.
#include "reuse/address_match.hpp"

#include "emulator/emulate.hpp"

#include <algorithm>

namespace ptxasw::reuse {

using emulator::AtomKind;
using sym::Bits;
using sym::Kind;
using sym::Term;

LaneShift::LaneShift(emulator::Kernel& kernel)
    : c_(*kernel.context), tid_x_(kernel.trace.special(ptx::Special::tid_x)),
      laneid_(kernel.trace.special(ptx::Special::laneid)) {
  if (tid_x_.valid() && c_.kind(tid_x_) != Kind::atom) tid_x_ = {}; // block of one column
}

// Varies by lane in a way that x + N does not tell. %tid.y and %tid.z are the same in a row.
bool LaneShift::lane_private(Term atom) const {
  const sym::Atom& info = c_.atom_info(atom);
  if (info.uniformity != sym::Uniformity::lane || atom == tid_x_ || atom == laneid_) return false;
  if (info.kind != static_cast<std::uint32_t>(AtomKind::special)) return true;
  const auto special = static_cast<ptx::Special>(info.tag);
  return special != ptx::Special::tid_y && special != ptx::Special::tid_z;
}

std::optional<Term> LaneShift::shifted(Term t, int delta) {
  if (delta == 0) return t;
  for (const Term atom : c_.atoms(t)) {
    if (lane_private(atom)) return std::nullopt;
  }
  const auto moved = [&](Term atom) {
    return c_.add(atom, c_.constant(c_.width(atom), static_cast<Bits>(sym::SBits{delta})));
  };
  sym::Context::Substitution map;
  if (tid_x_.valid()) map.emplace(tid_x_.id, moved(tid_x_));
  if (laneid_.valid()) map.emplace(laneid_.id, moved(laneid_));
  if (map.empty()) return t;
  // %tid.x + delta lies inside the row (checked at run time), so its widening does not wrap.
  const Term wide = tid_x_.valid() ? c_.zext(tid_x_, 64) : Term{};
  sym::Poly poly = c_.poly(t);
  const unsigned width = c_.width(t);
  Term result = c_.constant(width, poly.constant);
  for (const sym::Monomial& monomial : poly.terms) {
    Term product = c_.constant(width, monomial.coefficient);
    for (const Term factor : monomial.factors) {
      product = c_.mul(product, factor == wide ? moved(wide) : c_.substitute(factor, map));
    }
    result = c_.add(result, product);
  }
  return result;
}

namespace {

bool is_extension(const sym::Context& c, Term t) {
  return c.kind(t) == Kind::sext || c.kind(t) == Kind::zext;
}

std::vector<Term> extensions(const sym::Context& c, const sym::Poly& poly) {
  std::vector<Term> result;
  for (const sym::Monomial& monomial : poly.terms) {
    for (const Term factor : monomial.factors) {
      if (is_extension(c, factor) && std::ranges::find(result, factor) == result.end()) {
        result.push_back(factor);
      }
    }
  }
  return result;
}

// Rewrites the widenings of `there` that differ from one of `here` by a constant inside.
class Aligner {
public:
  Aligner(sym::Context& context, Term here)
      : c_(context), anchors_(extensions(context, context.poly(here))) {}

  Term align(Term there) {
    const unsigned width = c_.width(there);
    const sym::Poly poly = c_.poly(there);
    Term result = c_.constant(width, poly.constant);
    for (const sym::Monomial& monomial : poly.terms) {
      Term product = c_.constant(width, monomial.coefficient);
      for (const Term factor : monomial.factors)
        product = c_.mul(product, aligned(factor));
      result = c_.add(result, product);
    }
    return result;
  }
  std::vector<IndexFact> take_facts() { return std::move(facts_); }

private:
  Term aligned(Term factor) {
    if (!is_extension(c_, factor) || std::ranges::find(anchors_, factor) != anchors_.end()) {
      return factor;
    }
    const Term inner = c_.args(factor)[0];
    std::optional<std::int64_t> best;
    Term anchor;
    for (const Term candidate : anchors_) {
      const Term index = c_.args(candidate)[0];
      if (c_.kind(candidate) != c_.kind(factor) || c_.width(index) != c_.width(inner)) continue;
      const auto k = c_.difference(inner, index);
      if (k && (!best || std::abs(*k) < std::abs(*best))) {
        best = k;
        anchor = candidate;
      }
    }
    constexpr std::int64_t far = std::int64_t{1} << 20; // no neighbour is that many elements away
    if (!best || std::abs(*best) > far || c_.width(inner) < 32) return factor;
    record({c_.args(anchor)[0], c_.kind(anchor) == Kind::sext,
            static_cast<std::uint64_t>(std::abs(*best))});
    return c_.add(anchor, c_.constant(c_.width(anchor), static_cast<Bits>(sym::SBits{*best})));
  }

  void record(const IndexFact& fact) {
    for (IndexFact& known : facts_) {
      if (known.index == fact.index && known.is_signed == fact.is_signed) {
        known.margin = std::max(known.margin, fact.margin);
        return;
      }
    }
    facts_.push_back(fact);
  }

  sym::Context& c_;
  std::vector<Term> anchors_;
  std::vector<IndexFact> facts_;
};

// The run-time check as a term, for Z3.
Term as_term(sym::Context& c, const IndexFact& fact) {
  const unsigned width = c.width(fact.index);
  const Term margin = c.constant(width, fact.margin);
  const Bits half = Bits{1} << (width - 1);
  if (fact.is_signed) {
    const Term lowest = c.add(c.constant(width, half), margin);
    const Term highest = c.sub(c.constant(width, half - 1), margin);
    return c.and_(c.sle(lowest, fact.index), c.sle(fact.index, highest));
  }
  return c.and_(c.ule(margin, fact.index),
                c.ule(fact.index, c.sub(c.constant(width, ~Bits{0}), margin)));
}

} // namespace

std::optional<AddressMatch> match_addresses(sym::Context& c, sym::Solver& solver,
                                            std::span<const Term> facts, Term there, Term here,
                                            bool paranoid) {
  AddressMatch match;
  match.proof = sym::ProofKind::normal_form;
  if (there != here) {
    Aligner aligner(c, here);
    const Term aligned = aligner.align(there);
    match.facts = aligner.take_facts();
    if (aligned == here && !paranoid) return match;
    if (aligned != here) match.proof = sym::ProofKind::z3;
  }
  if (match.proof == sym::ProofKind::normal_form && !paranoid) return match;
  std::vector<Term> assumed(facts.begin(), facts.end());
  for (const IndexFact& fact : match.facts)
    assumed.push_back(as_term(c, fact));
  const sym::Answer answer = solver.prove_equal(assumed, there, here);
  if (answer.verdict != sym::Verdict::proved) return std::nullopt;
  if (match.proof == sym::ProofKind::normal_form) match.proof = answer.by;
  return match;
}

} // namespace ptxasw::reuse
