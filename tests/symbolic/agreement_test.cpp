// Z3 as the referee: random programs written out naively as SMT terms, with nothing normalised,
// against the terms of a Context (through the SMT-LIB writer), and the bridge against evaluation.
#include "program.hpp"

#include "symbolic/smtlib.hpp"
#include "symbolic/solver.hpp"
#include "symbolic/z3.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <z3++.h>

namespace ptxasw::sym::test {
namespace {

// The naive program in Z3. Symbols have the names that smtlib() gives them.
struct Smt {
  using V = z3::expr;
  z3::context& c;
  static unsigned width(const V& v) { return v.get_sort().bv_size(); }
  V constant(unsigned w, Bits b) const {
    const V high = c.bv_val(static_cast<std::uint64_t>(b >> 64), 64);
    return z3::concat(high, c.bv_val(static_cast<std::uint64_t>(b), 64)).extract(w - 1, 0);
  }
  V flag(const V& b) const { return z3::ite(b, c.bv_val(1, 1), c.bv_val(0, 1)); }
  static V add(const V& a, const V& b) { return a + b; }
  static V sub(const V& a, const V& b) { return a - b; }
  static V mul(const V& a, const V& b) { return a * b; }
  static V neg(const V& a) { return -a; }
  static V not_(const V& a) { return ~a; }
  static V and_(const V& a, const V& b) { return a & b; }
  static V or_(const V& a, const V& b) { return a | b; }
  static V xor_(const V& a, const V& b) { return a ^ b; }
  static V shl(const V& a, const V& b) { return z3::shl(a, b); }
  static V lshr(const V& a, const V& b) { return z3::lshr(a, b); }
  static V ashr(const V& a, const V& b) { return z3::ashr(a, b); }
  static V udiv(const V& a, const V& b) { return z3::udiv(a, b); }
  static V urem(const V& a, const V& b) { return z3::urem(a, b); }
  static V sdiv(const V& a, const V& b) { return a / b; }
  static V srem(const V& a, const V& b) { return z3::srem(a, b); }
  static V extract(const V& a, unsigned low, unsigned w) { return a.extract(low + w - 1, low); }
  static V concat(const V& h, const V& l) { return z3::concat(h, l); }
  static V zext(const V& a, unsigned w) { return z3::zext(a, w - width(a)); }
  static V sext(const V& a, unsigned w) { return z3::sext(a, w - width(a)); }
  V eq(const V& a, const V& b) const { return flag(a == b); }
  V ult(const V& a, const V& b) const { return flag(z3::ult(a, b)); }
  V slt(const V& a, const V& b) const { return flag(a < b); }
  V ite(const V& x, const V& a, const V& b) const { return z3::ite(x == c.bv_val(1, 1), a, b); }
  V apply(FunctionKey key, unsigned w, const V& a, const V& b) const {
    const std::string name = fmt::format("f{}_{}_32_8", key, w);
    return c.function(name.c_str(), a.get_sort(), b.get_sort(), c.bv_sort(w))(a, b);
  }
};

// A few instructions, without the wide multiplications and divisions that cost Z3 seconds.
Program affordable(const Program& program) {
  Program kept;
  for (const Instruction& i : program) {
    if (kept.size() == 8) break;
    kept.push_back(i);
    const bool multiplies =
        i.op == Op::mul || i.op == Op::shl || (i.op >= Op::udiv && i.op <= Op::urem_small);
    if (multiplies && run_naively(kept, assignment(0)).back().width > 16) kept.pop_back();
  }
  return kept;
}

// unsat(normalised term != naive expression), under the atoms' bounds
z3::check_result differ(Context& context, std::span<const Term> atoms, Term term, z3::context& z3,
                        const z3::expr& naive) {
  const Term result = context.atom({.name = "result", .width = context.width(term)});
  std::string text = smtlib(context, {}, context.eq(term, result));
  text.resize(text.find("(check-sat)"));
  z3::solver solver(z3, "QF_UFBV");
  z3::params limits(z3);
  limits.set("rlimit", 20000U);
  solver.set(limits);
  solver.from_string(text.c_str());
  const std::string symbol = fmt::format("t{}", result.id);
  for (const Term atom : atoms) { // those that the normal form has lost, too
    const Smt smt{z3};
    const Atom& a = context.atom_info(atom);
    const z3::expr e = z3.bv_const(fmt::format("t{}", atom.id).c_str(), a.width);
    solver.add(z3::uge(e, smt.constant(a.width, a.lo)) && z3::ule(e, smt.constant(a.width, a.hi)));
  }
  solver.add(z3.bv_const(symbol.c_str(), context.width(term)) == naive);
  return solver.check();
}

RC_GTEST_PROP(Agreement, z3ProvesTheNormalFormEqualToTheNaiveTerm, (const Program& any)) {
  const Program program = affordable(any);
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  z3::context z3;
  std::vector<z3::expr> leaves;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    leaves.push_back(z3.bv_const(fmt::format("t{}", atoms[i].id).c_str(), atom_specs[i].width));
  const std::vector<z3::expr> naive =
      Interpreter<Smt>({z3}, leaves).run(program, [](const z3::expr&) {});
  if (differ(context, atoms, terms.back(), z3, naive.back()) == z3::sat)
    RC_FAIL(context.to_string(terms.back()) + "\nis not\n" + naive.back().to_string());
}

RC_GTEST_PROP(Agreement, theBridgeAgreesWithEvaluation, (const Program& any, std::uint64_t seed)) {
  const Program program = affordable(any);
  Context context;
  std::vector<Term> atoms;
  std::vector<Term> terms = build(program, context, atoms);
  const Assignment values = assignment(seed);
  std::vector<Term> pinned;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    pinned.push_back(context.eq(atoms[i], context.constant(atom_specs[i].width, values[i])));
  // Functions are free in Z3, so only terms without them have one value.
  std::erase_if(terms,
                [&](Term t) { return context.to_string(t).find("free") != std::string::npos; });
  const Term t = terms.back();
  const Bits value = context.evaluate(t, reader(values, atoms), some_function);
  Z3Session session(context);
  const Z3Session::Limits limits{std::chrono::seconds(10), 1'000'000};
  const auto verdict = [&](Bits expected) {
    return session
        .refute({pinned, t, context.constant(context.width(t), expected), nullptr}, limits)
        .verdict;
  };
  RC_ASSERT(verdict(value) == Verdict::proved);
  RC_ASSERT(verdict(value + 1) == Verdict::refuted);
}

// --- the solver as a whole, against all points of small atoms ------------------------------------

struct SmallWorld {
  Context context;
  std::vector<Term> atoms;
  SmallWorld() {
    for (const auto& [width, lo, hi] :
         {std::tuple{4U, 0U, 15U}, std::tuple{4U, 0U, 15U}, std::tuple{4U, 2U, 6U}})
      atoms.push_back(context.atom({.name = "s", .width = width, .lo = lo, .hi = hi}));
  }
  // A condition over sums of atoms, some extended, compared with a constant or another sum.
  Term condition(const Instruction& i) {
    const Term a = sum(i.a, i.number);
    const Term b = i.c % 3 == 0 ? sum(i.b, i.number2) : constant(i.number2);
    const bool wide = i.width % 2 == 0;
    const Term x = wide ? extend(a, i.width) : a;
    const Term y = wide ? extend(b, i.width / 2U) : b;
    Term result = i.number % 3 == 0   ? context.eq(x, y)
                  : i.number % 3 == 1 ? context.ult(x, y)
                                      : context.slt(x, y);
    return i.c % 2 == 0 ? result : context.not_(result);
  }
  Term constant(std::uint64_t v) { return context.constant(4, v); }
  Term extend(Term t, unsigned how) {
    return how % 4 < 2 ? context.sext(t, 6) : context.zext(t, 6);
  }
  Term sum(std::uint8_t which, std::uint64_t number) {
    Term t = constant(number / 8 % 4);
    for (std::size_t k = 0; k < atoms.size(); ++k) {
      const unsigned coefficient = (which >> (2 * k)) & 3U;
      t = context.add(t, context.mul(constant(coefficient == 3 ? 15 : coefficient), atoms[k]));
    }
    return t;
  }
  bool follows(const std::vector<Term>& facts, Term goal) {
    for (Bits x = 0; x < 16; ++x)
      for (Bits y = 0; y < 16; ++y)
        for (Bits z = 2; z <= 6; ++z) {
          const auto value = [&](const Atom&, Term t) {
            return t == atoms[0] ? x : t == atoms[1] ? y : z;
          };
          const auto holds = [&](Term t) { return context.evaluate(t, value, {}) != 0; };
          if (!holds(goal) && std::ranges::all_of(facts, holds)) return false;
        }
    return true;
  }
};

void check_solver(const std::vector<Instruction>& facts_of, const Instruction& goal_of,
                  SolverOptions options) {
  SmallWorld world;
  std::vector<Term> facts;
  for (std::size_t i = 0; i < facts_of.size() && i < 4; ++i)
    facts.push_back(world.condition(facts_of[i]));
  const Term goal = world.condition(goal_of);
  Solver solver(world.context, options);
  const Answer answer = solver.prove(facts, goal);
  RC_CLASSIFY(true, std::string(name(answer.verdict)) + " by " + std::string(name(answer.by)));
  const bool follows = world.follows(facts, goal);
  if (answer.verdict == Verdict::proved) RC_ASSERT(follows);
  if (answer.verdict == Verdict::refuted) RC_ASSERT(!follows);
  if (options.use_z3) RC_ASSERT(answer.verdict != Verdict::unknown);
  RC_ASSERT(solver.stats().disagreements == 0U);
}

RC_GTEST_PROP(Agreement, withoutZ3TheSolverIsNeverWrong,
              (const std::vector<Instruction>& facts, const Instruction& goal)) {
  check_solver(facts, goal, {.use_z3 = false});
}

RC_GTEST_PROP(Agreement, withZ3TheSolverIsRight,
              (const std::vector<Instruction>& facts, const Instruction& goal)) {
  check_solver(facts, goal,
               {.paranoid = true,
                .query_budget = std::chrono::seconds(5),
                .total_budget = std::chrono::seconds(5)});
}

} // namespace
} // namespace ptxasw::sym::test
