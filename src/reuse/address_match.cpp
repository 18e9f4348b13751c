// The proof that two addresses agree, and the minimum it has to assume about index arithmetic.
//
// sext(e + 1) = sext(e) + 1 is false at e = 2^31 - 1. So where the two addresses differ only in
// where a summand stands (inside or outside a widening), the widened index of lane x is named as a
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
  struct Offset {
    Term unit;
    std::int64_t count = 0;
  };

  // difference = count * unit, with a unit that is 1 or a uniform term.
  std::optional<Offset> as_offset(Term difference) {
    const unsigned width = c_.width(difference);
    if (const auto constant = c_.value(difference)) {
      return Offset{c_.constant(width, 1), to_signed(*constant, width)};
    }
    if (c_.uniformity(difference) > sym::Uniformity::warp) return std::nullopt;
    sym::Poly poly = c_.poly(difference);
    const std::int64_t count = to_signed(poly.terms.front().coefficient, width);
    if (poly.constant != 0 || count == 0) return std::nullopt;
    for (sym::Monomial& monomial : poly.terms) {
      const std::int64_t coefficient = to_signed(monomial.coefficient, width);
      if (coefficient % count != 0) return std::nullopt;
      monomial.coefficient = low_bits(coefficient / count, width);
    }
    return Offset{c_.from_poly(width, std::move(poly)), count};
  }

  static std::int64_t to_signed(Bits bits, unsigned width) {
    const unsigned shift = 64 - width;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) << shift) >> shift;
  }
  static Bits low_bits(std::int64_t value, unsigned width) {
    return static_cast<Bits>(static_cast<std::uint64_t>(value)) & ((Bits{1} << width) - 1);
  }

  Term widened(Kind how, Term t, unsigned width) {
    return how == Kind::sext ? c_.sext(t, width) : c_.zext(t, width);
  }

  Term aligned(Term factor) {
    if (!is_extension(c_, factor) || std::ranges::find(anchors_, factor) != anchors_.end()) {
      return factor;
    }
    const Term inner = c_.args(factor)[0];
    if (c_.width(inner) != 32) return factor;
    std::optional<Offset> best;
    Term anchor;
    for (const Term candidate : anchors_) {
      const Term index = c_.args(candidate)[0];
      if (c_.kind(candidate) != c_.kind(factor) || c_.width(index) != 32) continue;
      const auto offset = as_offset(c_.sub(inner, index));
      if (offset && (!best || std::abs(offset->count) < std::abs(best->count))) {
        best = offset;
        anchor = candidate;
      }
    }
    constexpr std::int64_t far = std::int64_t{1} << 20; // no neighbour is that many elements away
    if (!best || std::abs(best->count) > far) return factor;
    record({c_.args(anchor)[0], best->unit, c_.kind(anchor) == Kind::sext,
            std::min<std::int64_t>(best->count, 0), std::max<std::int64_t>(best->count, 0)});
    const unsigned wide = c_.width(anchor);
    const Term count = c_.constant(wide, low_bits(best->count, wide));
    return c_.add(anchor, c_.mul(count, widened(c_.kind(anchor), best->unit, wide)));
  }

  void record(const IndexFact& fact) {
    for (IndexFact& known : facts_) {
      if (known.index == fact.index && known.unit == fact.unit &&
          known.is_signed == fact.is_signed) {
        known.lowest = std::min(known.lowest, fact.lowest);
        known.highest = std::max(known.highest, fact.highest);
        return;
      }
    }
    facts_.push_back(fact);
  }

  sym::Context& c_;
  std::vector<Term> anchors_;
  std::vector<IndexFact> facts_;
};

// The run-time check as a term, for Z3: in 64 bits, both ends are values of 32 bits.
Term as_term(sym::Context& c, const IndexFact& fact) {
  const auto widen = [&](Term t) { return fact.is_signed ? c.sext(t, 64) : c.zext(t, 64); };
  const Bits bias = fact.is_signed ? Bits{1} << 31 : 0;
  Term holds = c.boolean(true);
  for (const std::int64_t n : {fact.lowest, fact.highest}) {
    const Term count = c.constant(64, static_cast<std::uint64_t>(n));
    const Term sum = c.add(widen(fact.index), c.mul(count, widen(fact.unit)));
    holds = c.and_(holds, c.ult(c.add(sum, c.constant(64, bias)), c.constant(64, Bits{1} << 32)));
  }
  return holds;
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
