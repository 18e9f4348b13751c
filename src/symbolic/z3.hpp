// What the solver asks of Z3, in our own types.
#pragma once

#include "symbolic/solver.hpp"

namespace ptxasw::sym {

class Z3Session {
public:
  explicit Z3Session(const Context& context); // may throw; so may refute()
  ~Z3Session();
  Z3Session(const Z3Session&) = delete;
  Z3Session& operator=(const Z3Session&) = delete;

  struct Limits {
    std::chrono::milliseconds time;
    std::uint64_t resources = 0; // Z3's rlimit
  };
  struct Query {
    std::span<const Term> facts;
    Term left, right; // the goal is left = right
    const Context::Substitution* replace_in_left = nullptr;
  };
  struct Result {
    Verdict verdict = Verdict::unknown;
    std::string why_unknown;
    std::uint64_t resources = 0;               // spent
    std::vector<std::pair<Term, Bits>> values; // refuted: of the atoms and applications
  };
  // Satisfiability of: bounds of the atoms, facts, left != right. Each query has its own solver, so
  // nothing of an earlier one can leak into its answer.
  Result refute(const Query& query, const Limits& limits);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace ptxasw::sym
