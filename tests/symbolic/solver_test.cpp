// The solver's layers, one by one, and the traps that a prover of addresses must not fall into.
#include "symbolic/solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace ptxasw::sym {
namespace {

using testing::HasSubstr;

class SolverTest : public testing::Test {
protected:
  Term num(std::int64_t v, unsigned w = 32) { return c.constant(w, static_cast<Bits>(v)); }
  Term add(Term a, std::int64_t v) { return c.add(a, num(v, c.width(a))); }

  Context c;
  Term tid = c.atom({.name = "tid", .width = 32, .lo = 0, .hi = 1023});
  Term ctaid = c.atom({.name = "ctaid", .width = 32, .lo = 0, .hi = 0x7FFFFFFE});
  Term ntid = c.atom({.name = "ntid", .width = 32, .lo = 1, .hi = 1024});
  Term n = c.atom({.name = "n", .width = 32});
  Term m = c.atom({.name = "m", .width = 32});
  Term p = c.atom({.name = "p", .width = 64});
  Term q = c.atom({.name = "q", .width = 64});
  Term index = c.sub(c.add(c.mul(ctaid, ntid), tid), n);
  // Room enough for a loaded machine.
  Solver solver{
      c, {.query_budget = std::chrono::seconds(5), .total_budget = std::chrono::seconds(60)}};
};

std::string outcome(const Answer& a) {
  std::string text(name(a.verdict));
  if (a.by != ProofKind::none) text.append(" by ").append(name(a.by));
  if (!a.why_unknown.empty()) text.append(": ").append(a.why_unknown);
  return text;
}

TEST_F(SolverTest, equalNormalFormsNeedNoSolver) {
  EXPECT_EQ(outcome(solver.prove_equal({}, add(index, 4), c.add(add(tid, 4), c.sub(index, tid)))),
            "proved by normal form");
  EXPECT_EQ(solver.stats().by_z3, 0U);
}

TEST_F(SolverTest, signExtensionOfASumMayWrap) { // 32-bit index wrap
  const Term wide = add(c.sext(index, 64), 1);
  const Answer a = solver.prove_equal({}, c.sext(add(index, 1), 64), wide);
  EXPECT_EQ(outcome(a), "refuted by evaluation");
  std::map<std::string, Bits> at(a.counterexample.begin(), a.counterexample.end());
  EXPECT_EQ(static_cast<std::uint32_t>(at["ctaid"] * at["ntid"] + at["tid"] - at["n"]),
            0x7FFFFFFFU);
}

TEST_F(SolverTest, zeroExtensionOfASumMayWrap) {
  EXPECT_EQ(solver.prove_equal({}, c.zext(add(n, 1), 64), add(c.zext(n, 64), 1)).verdict,
            Verdict::refuted);
}

TEST_F(SolverTest, aBoundOnTheIndexRulesTheWrapOut) {
  const Term below = c.slt(index, num(0x7FFFFFFF - 31));
  for (const int delta : {1, 2, 31})
    EXPECT_EQ(outcome(solver.prove_equal(std::vector{below}, c.sext(add(index, delta), 64),
                                         add(c.sext(index, 64), delta))),
              "proved by normal form")
        << delta;
  EXPECT_EQ(
      solver.prove_equal(std::vector{below}, c.sext(add(index, 33), 64), add(c.sext(index, 64), 33))
          .verdict,
      Verdict::refuted);
}

TEST_F(SolverTest, boundsFromBothSides) {
  const std::vector<Term> facts{c.sle(num(-5), index), c.sle(index, num(5))};
  EXPECT_EQ(
      outcome(solver.prove_equal(facts, c.sext(add(index, -31), 64), add(c.sext(index, 64), -31))),
      "proved by normal form");
  EXPECT_EQ(outcome(solver.prove(facts, c.slt(c.mul(index, num(3)), num(16)))),
            "proved by normal form");
  EXPECT_EQ(solver.prove(facts, c.slt(c.mul(index, num(3)), num(15))).verdict, Verdict::refuted);
}

TEST_F(SolverTest, aFactIsTrueAndItsNegationFalse) {
  const Term guard = c.slt(index, m);
  EXPECT_EQ(outcome(solver.prove(std::vector{guard}, guard)), "proved by normal form");
  EXPECT_EQ(outcome(solver.prove(std::vector{c.not_(guard)}, c.or_(c.eq(n, m), c.not_(guard)))),
            "proved by normal form");
  EXPECT_EQ(solver.prove(std::vector{c.not_(guard)}, guard).verdict, Verdict::refuted);
  EXPECT_EQ(outcome(solver.prove_equal(std::vector{guard}, c.ite(guard, n, m), n)),
            "proved by normal form");
}

TEST_F(SolverTest, equationsSubstitute) {
  const std::vector<Term> facts{c.eq(add(n, 3), c.mul(num(2), m))};
  EXPECT_EQ(outcome(solver.prove_equal(facts, c.zext(add(n, 5), 64),
                                       c.zext(add(c.mul(num(2), m), 2), 64))),
            "proved by normal form");
}

TEST_F(SolverTest, anEquationIsSolvedOnlyForALoneAtom) {
  const std::vector<Term> facts{c.eq(c.add(n, c.mul(n, m)), num(4))}; // n stands in both products
  EXPECT_EQ(solver.prove(facts, c.not_(c.eq(n, num(0)))).verdict, Verdict::proved);
  EXPECT_EQ(solver.prove(facts, c.eq(m, num(0))).verdict, Verdict::refuted);
}

TEST_F(SolverTest, contradictingFactsProveEverything) {
  const std::vector<Term> facts{c.ult(n, num(4)), c.not_(c.ult(n, num(9)))};
  EXPECT_EQ(outcome(solver.prove(facts, c.eq(p, q))), "proved by normal form");
  const std::vector<Term> equations{c.eq(n, num(4)), c.eq(n, num(9))};
  EXPECT_EQ(outcome(solver.prove(equations, c.eq(p, q))), "proved by normal form");
}

TEST_F(SolverTest, z3ChainsInequalities) {
  const std::vector<Term> facts{c.slt(n, m), c.slt(m, tid)};
  EXPECT_EQ(outcome(solver.prove(facts, c.slt(n, tid))), "proved by Z3");
  EXPECT_EQ(solver.stats().by_z3, 1U);
}

TEST_F(SolverTest, noAnswerLeaksIntoTheNextQuery) {
  const std::vector<Term> facts{c.slt(n, m), c.slt(m, tid)};
  EXPECT_EQ(solver.prove(facts, c.slt(n, tid)).verdict, Verdict::proved);
  EXPECT_EQ(solver.prove(std::vector{facts[0]}, c.slt(n, tid)).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove({}, c.slt(n, tid)).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove(facts, c.slt(n, tid)).verdict, Verdict::proved);
  EXPECT_EQ(solver.stats().remembered, 1U);
}

TEST_F(SolverTest, functionsAreCongruentAndOtherwiseFree) {
  const auto f = [&](Term t) { return c.apply(7, "load", 32, std::vector{t}); };
  const std::vector<Term> facts{c.slt(f(n), m), c.slt(m, tid)};
  EXPECT_EQ(outcome(solver.prove(facts, c.slt(f(n), tid))), "proved by Z3");
  EXPECT_EQ(outcome(solver.prove(std::vector{c.eq(n, add(m, 1))}, c.eq(f(n), f(add(m, 1))))),
            "proved by normal form");
  EXPECT_EQ(solver.prove({}, c.eq(f(n), f(m))).verdict, Verdict::refuted);
}

TEST_F(SolverTest, atomBoundsAreFacts) {
  // tid * ntid stays below 2^20, which neither interval alone says of the xor.
  const Term x = c.xor_(c.mul(tid, ntid), tid);
  EXPECT_EQ(solver.prove({}, c.ult(x, num(1 << 20))).verdict, Verdict::proved);
}

TEST_F(SolverTest, aTimeOutIsNotAProof) {
  Solver hasty(c, {.query_budget = std::chrono::milliseconds(2),
                   .total_budget = std::chrono::milliseconds(5)});
  // (n*m mod 2^64) has a factor: true, and hopeless in two milliseconds.
  const Term hard = c.eq(c.urem(c.mul(p, p), c.mul(q, q)), c.urem(c.mul(q, p), c.mul(p, q)));
  const std::vector<Term> facts{c.eq(c.urem(p, q), c.urem(q, c.add(p, num(1, 64)))),
                                c.not_(c.ult(p, num(1000, 64))), c.not_(hard)};
  const Term goal = c.ult(c.mul(c.mul(p, q), c.mul(p, q)), c.udiv(c.mul(p, q), c.xor_(p, q)));
  const Answer first = hasty.prove(facts, goal);
  EXPECT_EQ(outcome(first), "unknown: timed out");
  EXPECT_EQ(hasty.stats().timeouts, 1U);
  for (int k = 1; k < 5; ++k)
    (void)hasty.prove(facts, c.ult(goal == goal ? p : q, num(k, 64)));
  EXPECT_EQ(hasty.prove(facts, c.not_(goal)).why_unknown, "budget spent");
}

TEST_F(SolverTest, withoutZ3WhatIsLeftIsUnknown) {
  Solver plain(c, {.use_z3 = false});
  const std::vector<Term> facts{c.slt(n, m), c.slt(m, tid)};
  const Answer a = plain.prove(facts, c.slt(n, tid));
  EXPECT_EQ(outcome(a), "unknown: Z3 disabled");
}

TEST_F(SolverTest, goalsMustBeConditions) {
  EXPECT_EQ(solver.prove({}, n).why_unknown, "not a condition");
  EXPECT_EQ(solver.prove(std::vector{n}, c.eq(n, m)).why_unknown, "not a condition");
  EXPECT_EQ(solver.prove({}, Term{}).why_unknown, "not a condition");
}

TEST_F(SolverTest, counterexamplesAreRealPoints) {
  const Term goal = c.not_(c.eq(c.mul(n, num(7)), num(35 * 1000 + 14)));
  const Answer a = solver.prove(std::vector{c.not_(c.slt(n, m))}, goal);
  EXPECT_EQ(outcome(a), "refuted by Z3");
  std::map<std::string, Bits> values(a.counterexample.begin(), a.counterexample.end());
  EXPECT_EQ(static_cast<std::uint32_t>(values.at("n") * 7), 35014U);
}

// --- traps ---------------------------------------------------------------------------------------

TEST_F(SolverTest, buffersFourGigabytesApartDiffer) {
  const Term far = add(p, std::int64_t{1} << 32);
  EXPECT_EQ(solver.prove_equal({}, p, far).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove_equal({}, c.extract(p, 0, 32), c.extract(far, 0, 32)).verdict,
            Verdict::proved); // that is the trap
}

TEST_F(SolverTest, logicalAndArithmeticShiftsDiffer) {
  EXPECT_EQ(solver.prove_equal({}, c.ashr(n, num(2)), c.lshr(n, num(2))).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove_equal({}, c.ashr(tid, num(2)), c.lshr(tid, num(2))).verdict,
            Verdict::proved);
}

TEST_F(SolverTest, unsignedAndSignedComparisonsDiffer) {
  EXPECT_EQ(solver.prove_equal({}, c.ult(n, m), c.slt(n, m)).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove(std::vector{c.slt(n, num(10))}, c.ult(n, num(10))).verdict,
            Verdict::refuted);
  EXPECT_EQ(solver.prove(std::vector{c.ult(n, num(10))}, c.slt(n, num(10))).verdict,
            Verdict::proved);
}

TEST_F(SolverTest, signAndZeroExtensionDiffer) {
  EXPECT_EQ(solver.prove_equal({}, c.sext(n, 64), c.zext(n, 64)).verdict, Verdict::refuted);
  EXPECT_EQ(solver.prove_equal(std::vector{c.sle(num(0), n)}, c.sext(n, 64), c.zext(n, 64)).verdict,
            Verdict::proved);
}

TEST_F(SolverTest, facts31BelowTheWrapCoverDifferentBases) {
  // Two indices, each with its own bound.
  const Term other = c.add(index, c.mul(m, num(5)));
  const std::vector<Term> facts{c.slt(index, num(0x7FFFFFE0)), c.slt(other, num(0x7FFFFFE0))};
  const Term sum = c.add(c.sext(index, 64), c.sext(other, 64));
  const Term moved = c.add(c.sext(add(index, 3), 64), c.sext(add(other, 3), 64));
  EXPECT_EQ(outcome(solver.prove_equal(facts, moved, add(sum, 6))), "proved by normal form");
  EXPECT_EQ(solver.prove_equal(std::vector{facts[0]}, moved, add(sum, 6)).verdict,
            Verdict::refuted);
}

// --- paranoid mode and dumps ---------------------------------------------------------------------

TEST_F(SolverTest, paranoidRepeatsProofsWithZ3) {
  Solver paranoid(c, {.paranoid = true, .query_budget = std::chrono::seconds(5)});
  const std::vector<Term> facts{c.slt(index, num(0x7FFFFFE0))};
  const Term address = c.add(p, c.shl(c.sext(index, 64), num(2, 64)));
  const Context::Substitution next{{tid.id, add(tid, 1)}};
  EXPECT_EQ(outcome(paranoid.prove_equal_after(facts, address, next, add(address, 4))),
            "proved by normal form");
  EXPECT_EQ(paranoid.stats().confirmed, 2U); // the equation, and the substitution in it
  EXPECT_EQ(paranoid.stats().disagreements, 0U);
}

TEST_F(SolverTest, paranoidAsksOfEqualTermsToo) {
  Solver paranoid(c, {.paranoid = true, .query_budget = std::chrono::seconds(5)});
  const Term address = c.add(p, c.shl(c.zext(tid, 64), num(2, 64)));
  EXPECT_EQ(outcome(paranoid.prove_equal({}, address, address)), "proved by normal form");
  EXPECT_EQ(paranoid.stats().confirmed, 1U);
}

TEST_F(SolverTest, paranoidTakesNoProofThatZ3DoesNotRepeat) {
  Solver hasty(c, {.paranoid = true, .query_budget = std::chrono::milliseconds(0)});
  EXPECT_EQ(outcome(hasty.prove_equal({}, p, p)), "unknown: timed out");
  const std::vector<Term> facts{c.eq(n, m)};
  EXPECT_EQ(outcome(hasty.prove(facts, c.eq(n, m))), "unknown: timed out");
  EXPECT_EQ(hasty.stats().unconfirmed, 2U);
  EXPECT_EQ(hasty.stats().by_normal_form, 0U);
  Solver without(c, {.use_z3 = false, .paranoid = true});
  EXPECT_EQ(outcome(without.prove_equal({}, p, p)), "unknown: Z3 disabled");
}

TEST_F(SolverTest, substitutionIsPartOfTheQuestion) {
  Solver paranoid(c, {.paranoid = true, .query_budget = std::chrono::seconds(5)});
  const Term address = c.add(p, c.shl(c.zext(tid, 64), num(2, 64)));
  const Context::Substitution next{{tid.id, add(tid, 1)}};
  EXPECT_EQ(paranoid.prove_equal_after({}, address, next, add(address, 4)).verdict,
            Verdict::proved);
  EXPECT_EQ(paranoid.prove_equal_after({}, address, next, add(address, 8)).verdict,
            Verdict::refuted);
}

TEST_F(SolverTest, queriesAreDumpedAsSmtLib) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "ptxasw_symbolic_dump";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  Solver dumping(c, {.query_budget = std::chrono::seconds(5),
                     .total_budget = std::chrono::seconds(60),
                     .dump_directory = directory.string()});
  (void)dumping.prove(std::vector{c.slt(n, m)}, c.slt(n, tid));
  (void)dumping.prove(std::vector{c.slt(n, m), c.slt(m, tid)}, c.slt(n, tid));
  std::ostringstream text;
  text << std::ifstream(directory / "query-0002.smt2").rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("proved by Z3"));
  EXPECT_THAT(text.str(), HasSubstr("(check-sat)"));
  EXPECT_TRUE(std::filesystem::exists(directory / "query-0001.smt2"));
  EXPECT_FALSE(std::filesystem::exists(directory / "query-0003.smt2"));
  std::filesystem::remove_all(directory);
}

} // namespace
} // namespace ptxasw::sym
