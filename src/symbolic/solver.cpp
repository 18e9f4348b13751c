// The layers of a query, cheapest first, with their budgets and counters.
#include "symbolic/solver.hpp"

#include "symbolic/facts.hpp"
#include "symbolic/processor_time.hpp"
#include "symbolic/smtlib.hpp"
#include "symbolic/witness.hpp"
#include "symbolic/z3.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace ptxasw::sym {

namespace {

// Z3's resource units per millisecond: 4000 to 6000 were seen on bit-vector queries of this kind.
constexpr std::uint64_t resources_per_ms = 5000;
// Clocks stand far behind what is counted, or bytes would hang on the machine's load: for all
// queries that of the thread, for one query, of which Z3 knows no other, the one on the wall.
constexpr int clock_factor = 4;
constexpr int busy_factor = 20;
// A paranoid repetition does not count against the budgets and may take longer.
constexpr int paranoid_factor = 10;

std::uint64_t resources(std::chrono::milliseconds budget) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(budget.count(), 0)) * resources_per_ms;
}

bool is_time_out(std::string_view reason) {
  return reason.find("canceled") != std::string_view::npos ||
         reason.find("timeout") != std::string_view::npos ||
         reason.find("resource") != std::string_view::npos;
}

Answer answer(Verdict verdict, ProofKind by) {
  return {verdict, by, {}, {}};
}
Answer unknown(std::string why) {
  return {Verdict::unknown, ProofKind::none, std::move(why), {}};
}

} // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::proved: return "proved";
  case Verdict::refuted: return "refuted";
  case Verdict::unknown: return "unknown";
  }
  return "unknown";
}

std::string_view name(ProofKind kind) {
  switch (kind) {
  case ProofKind::none: return "none";
  case ProofKind::normal_form: return "normal form";
  case ProofKind::z3: return "Z3";
  case ProofKind::evaluation: return "evaluation";
  }
  return "none";
}

struct Solver::Impl {
  Impl(Context& context, SolverOptions solver_options)
      : terms(context), options(std::move(solver_options)), rewriter(context) {}

  Answer prove(std::span<const Term> facts, Term goal);
  Answer decide(std::span<const Term> facts, Term goal);
  Answer ask_z3(std::span<const Term> facts, Term goal, const FactRewriter::Result& rewritten);
  Answer confirm(const Z3Session::Query& query, const Answer& proof);
  Z3Session::Result run_z3(const Z3Session::Query& query, const Z3Session::Limits& limits);
  [[nodiscard]] Answer refuted(const Witness& witness, ProofKind by) const;
  void count(const Answer& result);
  void dump(std::span<const Term> facts, Term goal, const Answer& result);

  Context& terms;
  SolverOptions options;
  SolverStats stats;
  FactRewriter rewriter;
  std::unique_ptr<Z3Session> z3;
  std::string no_z3; // why there is none
  std::uint64_t resources_spent = 0;
  std::chrono::nanoseconds budgeted_time{0};
  std::map<std::pair<std::vector<Term>, Term>, Answer> answers;
  unsigned dumped = 0;
};

Answer Solver::Impl::refuted(const Witness& witness, ProofKind by) const {
  Answer result = answer(Verdict::refuted, by);
  for (const auto& [atom, value] : witness)
    result.counterexample.emplace_back(terms.atom_info(atom).name, value);
  return result;
}

Z3Session::Result Solver::Impl::run_z3(const Z3Session::Query& query,
                                       const Z3Session::Limits& limits) {
  Z3Session::Result result;
  try {
    if (!z3) z3 = std::make_unique<Z3Session>(terms);
    result = z3->refute(query, limits);
  } catch (const std::exception& error) {
    result = {};
    result.why_unknown = error.what();
    if (!z3) no_z3 = result.why_unknown; // the library is not there: do not look again
    z3.reset();                          // whatever state it was in
  }
  return result;
}

// Where the facts could be used as rewrites without loss, Z3 gets what they left.
Answer Solver::Impl::ask_z3(std::span<const Term> facts, Term goal,
                            const FactRewriter::Result& rewritten) {
  if (!options.use_z3) return unknown("Z3 disabled");
  if (!no_z3.empty()) return unknown(no_z3);
  const std::uint64_t all = resources(options.total_budget);
  if (resources_spent >= all || budgeted_time >= clock_factor * options.total_budget)
    return unknown("budget spent");
  const Z3Session::Limits limits{busy_factor * options.query_budget,
                                 std::min(resources(options.query_budget), all - resources_spent)};
  if (limits.resources == 0) return unknown("budget spent");
  const auto before = processor_time();
  const FactRewriter::Result as_given{{facts.begin(), facts.end()}, goal, {}, true};
  const FactRewriter::Result& asked = rewritten.equivalent ? rewritten : as_given;
  const Z3Session::Result result =
      run_z3({asked.facts, asked.goal, terms.boolean(true), nullptr}, limits);
  budgeted_time += processor_time() - before;
  resources_spent += result.resources;
  switch (result.verdict) {
  case Verdict::proved: return answer(Verdict::proved, ProofKind::z3);
  case Verdict::refuted:
    if (const auto witness = verify_witness(terms, facts, goal, asked, result.values))
      return refuted(*witness, ProofKind::z3);
    return unknown("counterexample does not verify");
  case Verdict::unknown: break;
  }
  return unknown(is_time_out(result.why_unknown) ? "timed out" : result.why_unknown);
}

Answer Solver::Impl::decide(std::span<const Term> facts, Term goal) {
  const FactRewriter::Result rewritten = rewriter.rewrite(facts, goal);
  if (rewritten.goal == terms.boolean(true)) {
    const Answer proof = answer(Verdict::proved, ProofKind::normal_form);
    return options.paranoid ? confirm({facts, goal, terms.boolean(true), nullptr}, proof) : proof;
  }
  if (const auto witness = find_witness(terms, facts, goal, rewriter.expose_extended(rewritten)))
    return refuted(*witness, ProofKind::evaluation);
  return ask_z3(facts, goal, rewritten);
}

// Paranoid: a proof that Z3 does not repeat is no proof.
Answer Solver::Impl::confirm(const Z3Session::Query& query, const Answer& proof) {
  if (!options.use_z3) return unknown("Z3 disabled");
  if (!no_z3.empty()) return unknown(no_z3);
  const auto time = paranoid_factor * options.query_budget;
  Z3Session::Result result{.why_unknown = "timeout"}; // Z3 takes 0 for no limit
  // The clock is far behind the resources: what is proved must not depend on the machine's load.
  if (time.count() > 0) result = run_z3(query, {paranoid_factor * time, resources(time)});
  switch (result.verdict) {
  case Verdict::proved: ++stats.confirmed; return proof;
  case Verdict::refuted: ++stats.disagreements; return unknown("Z3 refutes the normal form");
  case Verdict::unknown: break;
  }
  ++stats.unconfirmed;
  return unknown(is_time_out(result.why_unknown) ? "timed out" : result.why_unknown);
}

void Solver::Impl::count(const Answer& result) {
  if (result.verdict == Verdict::unknown) ++stats.unknown;
  if (result.why_unknown == "timed out") ++stats.timeouts;
  if (result.by == ProofKind::normal_form) ++stats.by_normal_form;
  if (result.by == ProofKind::z3) ++stats.by_z3;
}

void Solver::Impl::dump(std::span<const Term> facts, Term goal, const Answer& result) {
  if (options.dump_directory.empty()) return;
  std::ofstream file(fmt::format("{}/query-{:04}.smt2", options.dump_directory, ++dumped));
  std::string comment = fmt::format("{} by {}", name(result.verdict), name(result.by));
  if (!result.why_unknown.empty()) comment += ": " + result.why_unknown;
  std::ranges::replace(comment, '\n', ' ');
  file << smtlib(terms, facts, goal, comment);
}

Answer Solver::Impl::prove(std::span<const Term> facts, Term goal) {
  ++stats.queries;
  const auto is_condition = [&](Term t) { return t.valid() && terms.width(t) == 1; };
  if (!is_condition(goal) || !std::ranges::all_of(facts, is_condition)) {
    ++stats.unknown;
    return unknown("not a condition");
  }
  if (terms.value(goal) == Bits{1}) {
    ++stats.by_normal_form;
    return answer(Verdict::proved, ProofKind::normal_form);
  }
  std::vector<Term> sorted(facts.begin(), facts.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto [place, is_new] = answers.try_emplace({sorted, goal});
  if (is_new) {
    place->second = decide(sorted, goal);
    dump(sorted, goal, place->second);
  } else {
    ++stats.remembered;
  }
  count(place->second);
  return place->second;
}

Solver::Solver(Context& context, SolverOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(options))) {}
Solver::~Solver() = default;

Answer Solver::prove(std::span<const Term> facts, Term goal) {
  return impl_->prove(facts, goal);
}

Answer Solver::prove_equal(std::span<const Term> facts, Term a, Term b) {
  Impl& s = *impl_;
  const Term goal = s.terms.eq(a, b);
  if (!s.options.paranoid || s.terms.value(goal) != Bits{1}) return prove(facts, goal);
  // The goal is `true` because the constructors say so; Z3 gets the two sides.
  ++s.stats.queries;
  const Answer result =
      s.confirm({facts, a, b, nullptr}, answer(Verdict::proved, ProofKind::normal_form));
  s.count(result);
  return result;
}

Answer Solver::prove_equal_after(std::span<const Term> facts, Term a,
                                 const Context::Substitution& map, Term b) {
  Impl& s = *impl_;
  Answer result = prove_equal(facts, s.terms.substitute(a, map), b);
  if (!s.options.paranoid || result.verdict != Verdict::proved) return result;
  Answer confirmed = s.confirm({facts, a, b, &map}, result);
  if (confirmed.verdict == Verdict::unknown) {
    --(result.by == ProofKind::z3 ? s.stats.by_z3 : s.stats.by_normal_form);
    s.count(confirmed);
  }
  return confirmed;
}

const SolverStats& Solver::stats() const {
  return impl_->stats;
}

} // namespace ptxasw::sym
