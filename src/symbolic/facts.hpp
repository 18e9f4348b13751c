// Facts as rewrites: what a set of facts makes of a goal, without a solver.
//
// Each step keeps this promise: when the rewritten goal holds for all values of its atoms, the goal
// holds wherever the facts do. The opposite need not be true, so a goal that becomes `false` is
// merely not proved.
#pragma once

#include "symbolic/term.hpp"

#include <map>
#include <tuple>

namespace ptxasw::sym {

class FactRewriter {
public:
  explicit FactRewriter(Context& context) : c_(context) {}

  struct Result {
    std::vector<Term> facts;                     // what is left of them
    Term goal;                                   // `true` also when the facts contradict each other
    std::vector<std::pair<Term, Term>> replaced; // atoms and what they became, in order
    bool equivalent = true; // no replaced atom lost its bounds: a point refutes both or neither
  };
  [[nodiscard]] Result rewrite(std::span<const Term> facts, Term goal);
  // Makes the extended sums of the goal atoms where they can take any value, so that trying values
  // meets their wrap-around. An equivalent question.
  [[nodiscard]] Result expose_extended(const Result& result);

private:
  struct Interval { // base <= e <= base + span, counted upwards modulo 2^width
    Bits base = 0, span = 0;
  };
  struct State {
    std::vector<Term> facts;
    Term goal;
    std::vector<Term> fresh; // atoms that stand for bounded terms
    std::vector<std::pair<Term, Term>> replaced;
    bool contradiction = false;
    bool equivalent = true;
  };

  void add_fact(State& state, Term fact) const;
  void replace(State& state, Term t, Term by) const;
  void replace_known_conditions(State& state) const;
  void solve_equations(State& state) const;
  void use_bounds(State& state);
  [[nodiscard]] std::optional<Interval> bound(State& state, Term e) const;
  bool change_variable(State& state, Term e, Interval interval);
  [[nodiscard]] std::optional<Term> variable_of(const State& state, Term e) const;
  Term fresh_atom(Term e, Interval interval);

  Context& c_;
  std::map<std::tuple<Term, Bits, Bits>, Term> fresh_; // one atom per term and interval
};

} // namespace ptxasw::sym
