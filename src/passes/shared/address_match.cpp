// The proof that two addresses agree, and the minimum it has to assume about index arithmetic.
//
// sext(e + 1) = sext(e) + 1 is false at e = 2^31 - 1. So where the two addresses differ only in
// where a summand stands (inside or outside a widening), the widened index of lane x is named as a
// fact that lane x has to check; everything else is equality of normal forms or a query to Z3.
#include "passes/shared/address_match.hpp"

#include "emulator/emulate.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ptxasw::passes {

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

LaneShift::Meaning LaneShift::meaning(int delta) const {
  Meaning result;
  for (const Term atom : {tid_x_, laneid_}) {
    if (!atom.valid()) continue;
    const Term moved =
        c_.add(atom, c_.constant(c_.width(atom), static_cast<Bits>(sym::SBits{delta})));
    result.map.emplace(atom.id, moved);
    result.facts.push_back(c_.ule(moved, c_.constant(c_.width(atom), atom == laneid_ ? 31 : 1023)));
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
  // difference = count * unit + constant, with a warp-uniform unit if there is one.
  struct Offset {
    Term unit;
    std::int64_t count = 0, constant = 0;
    [[nodiscard]] std::int64_t size() const { return std::abs(count) + std::abs(constant); }
  };

  // A unit that `here` itself widens is the best guess; else the difference without its constant,
  // divided by its first coefficient.
  std::optional<Offset> as_offset(Term difference) {
    const unsigned width = c_.width(difference);
    const sym::Poly poly = c_.poly(difference);
    if (poly.terms.empty()) return Offset{.constant = to_signed(poly.constant, width)};
    if (c_.uniformity(difference) > sym::Uniformity::warp) return std::nullopt;
    for (const Term anchor : anchors_) {
      const auto offset = in_units(difference, c_.args(anchor)[0]);
      if (offset) return offset;
    }
    sym::Poly unit = poly;
    unit.constant = 0;
    const std::int64_t count = to_signed(unit.terms.front().coefficient, width);
    for (sym::Monomial& monomial : unit.terms) {
      const std::int64_t coefficient = to_signed(monomial.coefficient, width);
      if (coefficient % count != 0) return std::nullopt;
      monomial.coefficient = low_bits(coefficient / count, width);
    }
    return in_units(difference, c_.from_poly(width, unit));
  }

  std::optional<Offset> in_units(Term difference, Term unit) {
    const unsigned width = c_.width(difference);
    if (c_.width(unit) != width || c_.uniformity(unit) > sym::Uniformity::warp) {
      return std::nullopt;
    }
    const sym::Poly whole = c_.poly(difference), part = c_.poly(unit);
    if (part.terms.empty() || part.terms.front().factors != whole.terms.front().factors) {
      return std::nullopt;
    }
    const std::int64_t count = to_signed(whole.terms.front().coefficient, width) /
                               to_signed(part.terms.front().coefficient, width);
    const Term taken = c_.mul(unit, c_.constant(width, low_bits(count, width)));
    const auto rest = c_.value(c_.sub(difference, taken));
    if (count == 0 || !rest) return std::nullopt;
    return Offset{unit, count, to_signed(*rest, width)};
  }

  static std::int64_t to_signed(Bits bits, unsigned width) {
    const unsigned shift = 64 - width;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) << shift) >> shift;
  }
  static Bits low_bits(std::int64_t value, unsigned width) {
    return static_cast<Bits>(sym::SBits{value}) & ((Bits{1} << width) - 1);
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
      if (offset && (!best || offset->size() < best->size())) {
        best = offset;
        anchor = candidate;
      }
    }
    constexpr std::int64_t far = std::int64_t{1} << 20; // no neighbour is that many elements away
    if (!best || best->size() > far) return factor;
    const Kind how = c_.kind(anchor);
    IndexFact fact{.index = c_.args(anchor)[0], .unit = best->unit, .is_signed = how == Kind::sext};
    fact.units.include(best->count);
    fact.constants.include(best->constant);
    record(fact);

    const unsigned wide = c_.width(anchor);
    Term sum = c_.add(anchor, c_.constant(wide, low_bits(best->constant, wide)));
    if (best->unit.valid()) {
      const Term count = c_.constant(wide, low_bits(best->count, wide));
      sum = c_.add(sum, c_.mul(count, widened(how, best->unit, wide)));
    }
    return sum;
  }

  void record(const IndexFact& fact) {
    for (IndexFact& known : facts_) {
      if (known.index == fact.index && known.unit == fact.unit &&
          known.is_signed == fact.is_signed) {
        known.units.include(fact.units);
        known.constants.include(fact.constants);
        return;
      }
    }
    facts_.push_back(fact);
  }

  sym::Context& c_;
  std::vector<Term> anchors_;
  std::vector<IndexFact> facts_;
};

// The same question with every value that both addresses share made an unknown of its own: widened
// indices become index + n*unit + k over a fresh index, all other factors fresh atoms. What holds
// for all of those holds for the addresses, and Z3 need not multiply parameters to see it.
class Generalized {
public:
  Generalized(sym::Context& context, const std::vector<IndexFact>& facts, Term here)
      : c_(context), facts_(facts), here_(extensions(context, context.poly(here))) {}

  Term of(Term t) {
    const unsigned width = c_.width(t);
    const sym::Poly poly = c_.poly(t);
    Term result = c_.constant(width, poly.constant);
    for (const sym::Monomial& monomial : poly.terms) {
      const Term value = monomial.factors.size() == 1 && is_extension(c_, monomial.factors[0])
                             ? widened(monomial.factors[0])
                             : unknown(c_.from_poly(width, {0, {{1, monomial.factors}}}));
      result = c_.add(result, c_.mul(c_.constant(width, monomial.coefficient), value));
    }
    return result;
  }
  IndexFact of(IndexFact fact) {
    fact.index = unknown(fact.index);
    if (fact.unit.valid()) fact.unit = unknown(fact.unit);
    return fact;
  }

private:
  Term unknown(Term t) {
    const auto [place, missing] = unknowns_.try_emplace(t.id);
    if (missing) place->second = c_.atom({.name = "v", .width = c_.width(t)});
    return place->second;
  }

  // ext(index + n*unit + k) for the fact that says so, else an unknown index.
  Term widened(Term extension) {
    const Term inner = c_.args(extension)[0];
    Term index = unknown(inner);
    for (const IndexFact& fact : facts_) {
      if (std::ranges::find(here_, extension) != here_.end()) break;
      const unsigned width = c_.width(inner);
      if (width != c_.width(fact.index)) continue;
      for (std::int64_t n = fact.units.lowest; n <= fact.units.highest; ++n) {
        Term sum = fact.index, general = unknown(fact.index);
        if (n != 0) {
          const Term count = c_.constant(width, static_cast<Bits>(sym::SBits{n}));
          sum = c_.add(sum, c_.mul(count, fact.unit));
          general = c_.add(general, c_.mul(count, unknown(fact.unit)));
        }
        const Term k = c_.sub(inner, sum);
        if (!c_.value(k)) continue;
        index = c_.add(general, k);
      }
    }
    return c_.kind(extension) == Kind::sext ? c_.sext(index, c_.width(extension))
                                            : c_.zext(index, c_.width(extension));
  }

  sym::Context& c_;
  const std::vector<IndexFact>& facts_;
  std::vector<Term> here_;
  std::unordered_map<std::uint32_t, Term> unknowns_;
};

// The run-time check as a term, for Z3: in 64 bits, the sums at the ends are values of 32 bits.
Term as_term(sym::Context& c, const IndexFact& fact) {
  const auto widen = [&](Term t) { return fact.is_signed ? c.sext(t, 64) : c.zext(t, 64); };
  const auto number = [&](std::int64_t n) { return c.constant(64, static_cast<std::uint64_t>(n)); };
  const std::int64_t bias = fact.is_signed ? std::int64_t{1} << 31 : 0;
  Term holds = c.boolean(true);
  for (const std::int64_t n : {fact.units.lowest, fact.units.highest}) {
    for (const std::int64_t k : {fact.constants.lowest, fact.constants.highest}) {
      Term sum = c.add(widen(fact.index), number(k + bias));
      if (fact.unit.valid()) sum = c.add(sum, c.mul(number(n), widen(fact.unit)));
      holds = c.and_(holds, c.ult(sum, number(std::int64_t{1} << 32)));
    }
  }
  return holds;
}

} // namespace

namespace {

// A solver may see through bit operations, selections and divisions. A difference that is a plain
// sum of products is not zero, whatever it is asked.
bool worth_asking(const sym::Context& c, Term difference) {
  std::vector<Term> work{difference};
  std::unordered_set<std::uint32_t> seen;
  while (!work.empty()) {
    const Term t = work.back();
    work.pop_back();
    if (!seen.insert(t.id).second) continue;
    switch (c.kind(t)) {
    case Kind::constant:
    case Kind::atom: break;
    case Kind::poly:
    case Kind::sext:
    case Kind::zext:
      for (const Term arg : c.args(t))
        work.push_back(arg);
      break;
    case Kind::extract:
      if (c.low(t) != 0) return true;
      work.push_back(c.args(t)[0]);
      break;
    default: return true;
    }
  }
  return false;
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
    if (aligned != here) {
      if (!worth_asking(c, c.sub(aligned, here))) return std::nullopt;
      match.proof = sym::ProofKind::z3;
    }
  }
  std::vector<Term> assumed(facts.begin(), facts.end());
  if (match.proof == sym::ProofKind::normal_form) { // paranoid
    Generalized general(c, match.facts, here);
    there = general.of(there);
    here = general.of(here);
    assumed.clear();
    for (const IndexFact& fact : match.facts)
      assumed.push_back(as_term(c, general.of(fact)));
  } else {
    for (const IndexFact& fact : match.facts)
      assumed.push_back(as_term(c, fact));
  }
  const sym::Answer answer = solver.prove_equal(assumed, there, here);
  if (answer.verdict != sym::Verdict::proved) return std::nullopt;
  if (match.proof == sym::ProofKind::normal_form) match.proof = answer.by;
  return match;
}

} // namespace ptxasw::passes
