// The rewrites behind FactRewriter. Order matters: conditions that are facts first, then equations,
// then bounds, each of which may turn further facts into true or false.
#include "symbolic/facts.hpp"

#include "symbolic/bits.hpp"

#include <algorithm>
#include <set>

namespace ptxasw::sym {

namespace {

constexpr std::size_t most_bounds = 8; // changes of variable per query

// The coefficient of the atom in e when e = coefficient * atom + (terms without the atom).
std::optional<Bits> linear_coefficient(const Context& c, const Poly& e, Term atom) {
  std::optional<Bits> coefficient;
  for (const Monomial& m : e.terms) {
    if (m.factors.size() == 1 && m.factors[0] == atom) {
      coefficient = m.coefficient;
    } else if (std::ranges::any_of(m.factors, [&](Term f) { return c.depends_on(f, atom); })) {
      return std::nullopt;
    }
  }
  return coefficient;
}

std::optional<Term> find_below(const Context& c, Term root,
                               const std::function<bool(Term)>& wanted) {
  std::vector<Term> todo{root};
  std::set<Term> seen{root};
  while (!todo.empty()) {
    const Term t = todo.back();
    todo.pop_back();
    if (wanted(t)) return t;
    for (const Term child : c.args(t))
      if (seen.insert(child).second) todo.push_back(child);
  }
  return std::nullopt;
}

bool is_comparison(Kind kind) {
  return kind == Kind::ult || kind == Kind::slt;
}

} // namespace

void FactRewriter::add_fact(State& state, Term fact) const {
  if (const auto v = c_.value(fact)) {
    if (*v == 0) state.contradiction = true;
    return;
  }
  if (c_.kind(fact) == Kind::and_) {
    for (const Term t : c_.args(fact))
      add_fact(state, t);
    return;
  }
  if (std::ranges::find(state.facts, fact) == state.facts.end()) state.facts.push_back(fact);
}

void FactRewriter::replace(State& state, Term t, Term by) const {
  const Range r = c_.range(t);
  const bool bounded = r.lo != 0 || r.hi != low_mask(c_.width(t));
  if (c_.kind(t) != Kind::atom || bounded) state.equivalent = false;
  if (c_.kind(t) == Kind::atom) state.replaced.emplace_back(t, by);
  const Context::Substitution map{{t.id, by}};
  state.goal = c_.substitute(state.goal, map);
  std::vector<Term> before;
  before.swap(state.facts);
  for (const Term fact : before)
    add_fact(state, c_.substitute(fact, map));
}

// A fact that occurs in the goal is true there.
void FactRewriter::replace_known_conditions(State& state) const {
  Context::Substitution map;
  for (const Term fact : state.facts) {
    const auto inner = c_.negated(fact);
    map.emplace(inner ? inner->id : fact.id, c_.boolean(!inner));
  }
  state.goal = c_.substitute(state.goal, map);
}

// An equation with a lone atom replaces the atom (and forgets the atom's bounds, which only makes
// the goal harder).
void FactRewriter::solve_equations(State& state) const {
  for (std::size_t i = 0; i < state.facts.size() && !state.contradiction; ++i) {
    const Term fact = state.facts[i];
    if (c_.kind(fact) != Kind::eq) continue;
    const Term left = c_.args(fact)[0];
    const Term right = c_.args(fact)[1];
    const Term difference = c_.sub(left, right);
    const Poly d = c_.poly(difference);
    for (const Term atom : c_.atoms(difference)) {
      const auto coefficient = linear_coefficient(c_, d, atom);
      if (!coefficient || (*coefficient & 1) == 0) continue;
      const unsigned w = c_.width(atom);
      const Term inverse = c_.constant(w, inverse_of_odd(*coefficient));
      const Term rest = c_.sub(difference, c_.mul(c_.constant(w, *coefficient), atom));
      replace(state, atom, c_.neg(c_.mul(inverse, rest)));
      i = static_cast<std::size_t>(-1); // facts moved
      break;
    }
  }
}

// The narrowest interval that the facts and the term's own range give.
std::optional<FactRewriter::Interval> FactRewriter::bound(State& state, Term e) const {
  const unsigned w = c_.width(e);
  Range u = c_.range(e);
  SignedRange s = c_.signed_range(e);
  const Range u0 = u;
  const SignedRange s0 = s;
  for (const Term fact : state.facts) {
    const auto inner = c_.negated(fact);
    const Term comparison = inner.value_or(fact);
    const Kind kind = c_.kind(comparison);
    if (!is_comparison(kind) || c_.args(comparison)[0] != e) continue;
    const auto limit = c_.value(c_.args(comparison)[1]);
    if (!limit) continue;
    if (kind == Kind::ult) { // limit is not 0
      if (inner) u.lo = std::max(u.lo, *limit);
      if (!inner) u.hi = std::min(u.hi, *limit - 1);
    } else { // limit is not the least number
      if (inner) s.lo = std::max(s.lo, as_signed(*limit, w));
      if (!inner) s.hi = std::min(s.hi, as_signed(*limit, w) - 1);
    }
  }
  const bool tighter = u.lo != u0.lo || u.hi != u0.hi || s.lo != s0.lo || s.hi != s0.hi;
  if (!tighter) return std::nullopt;
  // Both views hold; where one lies on one side of the other's break, it narrows it.
  const auto greatest = static_cast<SBits>(low_mask(w - 1));
  if (s.lo >= 0 || s.hi < 0) {
    u.lo = std::max(u.lo, as_bits(s.lo) & low_mask(w));
    u.hi = std::min(u.hi, as_bits(s.hi) & low_mask(w));
  } else if (u.hi <= as_bits(greatest)) {
    u.lo = std::max(u.lo, Bits{0});
    u.hi = std::min(u.hi, as_bits(s.hi));
  }
  if (u.lo > u.hi || s.lo > s.hi) { // no value is left
    state.contradiction = true;
    return std::nullopt;
  }
  const Bits signed_span = as_bits(s.hi) - as_bits(s.lo);
  if (signed_span < u.hi - u.lo) return Interval{as_bits(s.lo) & low_mask(w), signed_span};
  return Interval{u.lo, u.hi - u.lo};
}

Term FactRewriter::fresh_atom(Term e, Interval interval) {
  const auto [place, is_new] = fresh_.try_emplace({e, interval.base, interval.span}, Term{});
  if (is_new)
    place->second = c_.atom({.name = "bounded",
                             .width = c_.width(e),
                             .uniformity = c_.uniformity(e),
                             .lo = 0,
                             .hi = interval.span});
  return place->second;
}

// The atom of e to solve for: linear with an odd coefficient, the least bounded one.
std::optional<Term> FactRewriter::variable_of(const State& state, Term e) const {
  const Poly p = c_.poly(e);
  std::optional<Term> best;
  for (const Term atom : c_.atoms(e)) {
    const auto coefficient = linear_coefficient(c_, p, atom);
    if (!coefficient || (*coefficient & 1) == 0) continue;
    if (std::ranges::find(state.fresh, atom) != state.fresh.end()) continue;
    const auto freedom = [&](Term t) { return c_.range(t).hi - c_.range(t).lo; };
    if (!best || freedom(atom) > freedom(*best)) best = atom;
  }
  return best;
}

// e becomes base + (a new atom of 0..span): by solving e for one of its atoms, or, when it has none
// to solve for, by generalising e itself wherever it stands.
bool FactRewriter::change_variable(State& state, Term e, Interval interval) {
  const unsigned w = c_.width(e);
  const auto variable = variable_of(state, e);
  if (!variable && c_.kind(e) == Kind::poly) return false;
  const Term atom = fresh_atom(e, interval);
  state.fresh.push_back(atom);
  const Term value = c_.add(c_.constant(w, interval.base), atom);
  if (variable) {
    const Bits coefficient = *linear_coefficient(c_, c_.poly(e), *variable);
    const Term rest = c_.sub(e, c_.mul(c_.constant(w, coefficient), *variable));
    const Term inverse = c_.constant(w, inverse_of_odd(coefficient));
    replace(state, *variable, c_.mul(inverse, c_.sub(value, rest)));
  } else {
    replace(state, e, value);
  }
  return true;
}

void FactRewriter::use_bounds(State& state) {
  std::vector<Term> used;
  for (std::size_t i = 0; i < state.facts.size() && used.size() < most_bounds; ++i) {
    if (state.contradiction || c_.value(state.goal)) return;
    const Term comparison = c_.negated(state.facts[i]).value_or(state.facts[i]);
    if (!is_comparison(c_.kind(comparison))) continue;
    const Term e = c_.args(comparison)[0];
    if (c_.value(e) || std::ranges::find(state.fresh, e) != state.fresh.end() ||
        std::ranges::find(used, e) != used.end())
      continue;
    const auto interval = bound(state, e);
    if (!interval) continue;
    used.push_back(e);
    if (change_variable(state, e, *interval)) i = static_cast<std::size_t>(-1); // facts moved
  }
}

FactRewriter::Result FactRewriter::rewrite(std::span<const Term> facts, Term goal) {
  State state;
  state.goal = goal;
  for (const Term fact : facts)
    add_fact(state, fact);
  const auto done = [&] { return state.contradiction || c_.value(state.goal) == Bits{1}; };
  if (!done()) replace_known_conditions(state);
  if (!done()) solve_equations(state);
  if (!done()) replace_known_conditions(state);
  if (!done()) use_bounds(state);
  if (!done()) replace_known_conditions(state);
  if (state.contradiction) state.goal = c_.boolean(true);
  return {std::move(state.facts), state.goal, std::move(state.replaced), state.equivalent};
}

FactRewriter::Result FactRewriter::expose_extended(const Result& result) {
  State state{result.facts, result.goal, {}, result.replaced, false, result.equivalent};
  for (bool again = true; again && state.fresh.size() < most_bounds;) {
    again = false;
    const auto is_free_sum = [&](Term e) {
      if (c_.kind(e) != Kind::poly) return false;
      const auto variable = variable_of(state, e);
      return variable && c_.range(*variable).hi - c_.range(*variable).lo == low_mask(c_.width(e));
    };
    const auto found = find_below(c_, state.goal, [&](Term t) {
      const bool extension = c_.kind(t) == Kind::sext || c_.kind(t) == Kind::zext;
      return extension && is_free_sum(c_.args(t)[0]);
    });
    if (!found) break;
    const Term sum = c_.args(*found)[0];
    again = change_variable(state, sum, {0, low_mask(c_.width(sum))});
  }
  return {std::move(state.facts), state.goal, std::move(state.replaced), state.equivalent};
}

} // namespace ptxasw::sym
