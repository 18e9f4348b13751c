// The one door to Z3. Nothing of Z3 leaks out of solver.cpp, and Z3 is not even initialised before
// the first query that the normal form cannot answer (a Z3 context costs tens of milliseconds).
#pragma once

#include "symbolic/term.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ptxasw::sym {

enum class Verdict : std::uint8_t { proved, refuted, unknown };
enum class ProofKind : std::uint8_t { none, normal_form, z3 };
std::string_view name(Verdict verdict);
std::string_view name(ProofKind kind);

struct Answer {
  Verdict verdict = Verdict::unknown;
  ProofKind by = ProofKind::none;
  std::string why_unknown; // "time-out", "budget spent", "Z3 disabled"
  std::vector<std::pair<std::string, Bits>> counterexample; // atom name -> value, when refuted
};

struct SolverOptions {
  bool use_z3 = true;
  bool paranoid = false; // repeat every normal-form proof with Z3
  std::chrono::milliseconds query_budget{50};
  std::chrono::milliseconds total_budget{250};
  std::string dump_directory; // write each query as SMT-LIB (--dump-queries)
};

struct SolverStats {
  unsigned queries = 0, by_normal_form = 0, by_z3 = 0, unknown = 0, timeouts = 0;
  unsigned disagreements = 0; // paranoid: Z3 refuted what the normal form proved. Must stay 0.
  std::chrono::nanoseconds z3_time{0};
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
  // The same for a = b; tries id equality first.
  Answer prove_equal(std::span<const Term> facts, Term a, Term b);

  [[nodiscard]] const SolverStats& stats() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace ptxasw::sym
