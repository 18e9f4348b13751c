// Proofs about terms, and the one door to Z3. A query goes through layers, cheapest first:
//   1. the normal form: the goal has already become `true`;
//   2. the facts, used as rewrites (see facts.hpp): a fact that occurs in the goal, an equation, a
//      bound such as e <s 2^31 - 31 that lets an extension pass through e + 1;
//   3. evaluation at some points, which refutes most of what is false;
//   4. Z3, created for the first query that gets here (5 to 10 ms, then 5 to 100 ms a query).
// Nothing of Z3 leaks out of z3.cpp. Limits are counted in Z3's own resource units, so that answers
// do not depend on the load of the machine; clocks stand far behind them.
#pragma once

#include "symbolic/term.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ptxasw::sym {

enum class Verdict : std::uint8_t { proved, refuted, unknown };
enum class ProofKind : std::uint8_t { none, normal_form, z3, evaluation };
std::string_view name(Verdict verdict);
std::string_view name(ProofKind kind);

struct Answer {
  Verdict verdict = Verdict::unknown;
  ProofKind by = ProofKind::none;
  std::string why_unknown; // "timed out", "budget spent", "Z3 disabled"
  std::vector<std::pair<std::string, Bits>> counterexample; // atom name -> value, when refuted
};

struct SolverOptions {
  bool use_z3 = true;
  bool paranoid = false; // what Z3 does not prove as well is not proved
  std::chrono::milliseconds query_budget{50};
  std::chrono::milliseconds total_budget{250};
  std::string dump_directory; // write each query as SMT-LIB (--dump-queries)
};

struct SolverStats {
  unsigned queries = 0, by_normal_form = 0, by_z3 = 0, unknown = 0, timeouts = 0;
  unsigned remembered = 0;    // asked before; also counted under the layer that answered then
  unsigned confirmed = 0;     // paranoid: Z3 proved what the normal form proved
  unsigned disagreements = 0; // paranoid: Z3 refuted what the normal form proved. Must stay 0.
  unsigned unconfirmed = 0;   // paranoid: Z3 did not decide it in time, so that it does not count
};

class Solver {
public:
  Solver(Context& context, SolverOptions options = {});
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Does `goal` (width 1) hold for all values of the atoms within their bounds that satisfy every
  // one of `facts` (width 1)? Only unsat(facts and not goal) counts as proved: a time-out, an error
  // or "unknown" of Z3 is Verdict::unknown. Contradicting facts prove everything, as they should
  // (the place cannot be reached).
  Answer prove(std::span<const Term> facts, Term goal);
  // The same for a = b; tries id equality first. Paranoid: Z3 is asked of equal terms, too.
  Answer prove_equal(std::span<const Term> facts, Term a, Term b);
  // Does `a` with its atoms replaced equal b? The same as prove_equal(facts, substitute(a, map),
  // b), but in paranoid mode Z3 does the substitution itself, on the unsubstituted a: a proof that
  // does not rest on the normal form's own rewriting of the result.
  Answer prove_equal_after(std::span<const Term> facts, Term a, const Context::Substitution& map,
                           Term b);

  [[nodiscard]] const SolverStats& stats() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace ptxasw::sym
