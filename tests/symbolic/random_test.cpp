// Properties of all terms, on random programs: normalisation keeps the value, ranges hold every
// value, substitution commutes with evaluation, and nothing depends on anything but the program.
#include "program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ptxasw::sym::test {
namespace {

constexpr std::uint64_t assignments_per_program = 12;

std::string describe(const Context& context, Term t) {
  return context.to_string(t) + " of width " + std::to_string(context.width(t));
}

RC_GTEST_PROP(RandomTerms, evaluateToWhatTheNaiveProgramComputes, (const Program& program)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  for (std::uint64_t k = 0; k < assignments_per_program; ++k) {
    const Assignment values = assignment(k * 77 + program.size());
    const std::vector<Value> naive = run_naively(program, values);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Bits got = context.evaluate(terms[i], reader(values, atoms), some_function);
      if (context.width(terms[i]) != naive[i].width || got != naive[i].bits)
        RC_FAIL("value " + std::to_string(i) + ": " + describe(context, terms[i]));
    }
  }
}

RC_GTEST_PROP(RandomTerms, rangesHoldEveryValue, (const Program& program)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  for (std::uint64_t k = 0; k < assignments_per_program; ++k) {
    const std::vector<Value> naive = run_naively(program, assignment(k * 91 + program.size()));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Range r = context.range(terms[i]);
      const SignedRange s = context.signed_range(terms[i]);
      const SBits v = signed_value(naive[i]);
      if (naive[i].bits < r.lo || naive[i].bits > r.hi || v < s.lo || v > s.hi)
        RC_FAIL("range of " + describe(context, terms[i]));
    }
  }
}

// Replacing atoms and then evaluating is evaluating with the atoms' values replaced.
RC_GTEST_PROP(RandomTerms, substitutionCommutesWithEvaluation,
              (const Program& program, const Program& replacements, std::uint64_t seed)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  const std::vector<Term> other = build(replacements, context, atoms = {});
  Context::Substitution map;
  std::vector<Term> replaced;
  for (std::size_t i = 0; i < atom_specs.size(); ++i)
    for (const Term t : other)
      if (context.width(t) == atom_specs[i].width && (seed >> i) % 3 != 0 &&
          context.range(t).lo >= context.range(terms[i]).lo &&
          context.range(t).hi <= context.range(terms[i]).hi) {
        map[terms[i].id] = t;
        break;
      }
  const Assignment old_values = assignment(seed);
  const Assignment new_values = assignment(seed + 1);
  const std::vector<Term> old_atoms(terms.begin(), terms.begin() + atom_specs.size());
  const auto new_reader = [&](const Atom& a, Term t) {
    const bool is_old = std::ranges::find(old_atoms, t) != old_atoms.end();
    return is_old ? reader(old_values, old_atoms)(a, t) : reader(new_values, atoms)(a, t);
  };
  const auto composed = [&](const Atom& a, Term t) {
    const auto place = map.find(t.id);
    return place == map.end() ? new_reader(a, t)
                              : context.evaluate(place->second, new_reader, some_function);
  };
  for (const Term t : terms) {
    const Term changed = context.substitute(t, map);
    if (context.evaluate(changed, new_reader, some_function) !=
        context.evaluate(t, composed, some_function))
      RC_FAIL("substitution in " + describe(context, t));
  }
}

RC_GTEST_PROP(RandomTerms, theSameProgramGivesTheSameIdsAndTexts, (const Program& program)) {
  Context first;
  Context second;
  std::vector<Term> atoms;
  const std::vector<Term> a = build(program, first, atoms);
  const std::vector<Term> b = build(program, second, atoms = {});
  RC_ASSERT(a == b);
  for (const Term t : a)
    RC_ASSERT(first.to_string(t) == second.to_string(t));
}

// Queries (ranges, printing, evaluation) between constructions do not change what is built.
RC_GTEST_PROP(RandomTerms, lookingDoesNotChangeWhatIsBuilt, (const Program& program)) {
  Context quiet;
  std::vector<Term> atoms;
  const std::vector<Term> expected = build(program, quiet, atoms);
  Context watched;
  atoms.clear();
  const std::vector<Term> got = build(program, watched, atoms, [&](Term t) {
    (void)watched.range(t);
    (void)watched.to_string(t);
    (void)watched.evaluate(
        t, [](const Atom&, Term) { return Bits{0}; }, some_function);
  });
  RC_ASSERT(expected == got);
}

// A polynomial taken apart and put together again is the same term.
RC_GTEST_PROP(RandomTerms, polynomialsRoundTrip, (const Program& program)) {
  Context context;
  std::vector<Term> atoms;
  for (const Term t : build(program, context, atoms)) {
    RC_ASSERT(context.from_poly(context.width(t), context.poly(t)) == t);
    const auto zero = context.difference(t, t);
    RC_ASSERT(zero == 0);
    const Term moved = context.add(t, context.constant(context.width(t), 5));
    if (context.width(t) > 3) RC_ASSERT(context.difference(moved, t) == 5);
    if (context.width(t) > 3) RC_ASSERT(context.difference(t, moved) == -5);
  }
}

RC_GTEST_PROP(RandomTerms, uniformityAndAtomsCoverWhatValuesDependOn,
              (const Program& program, std::uint64_t seed)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  const Assignment values = assignment(seed);
  for (std::size_t changed = 0; changed < atoms.size(); ++changed) {
    Assignment others = values;
    others[changed] = assignment(seed + 1)[changed];
    for (const Term t : terms) {
      const bool differs = context.evaluate(t, reader(values, atoms), some_function) !=
                           context.evaluate(t, reader(others, atoms), some_function);
      if (!differs) continue;
      RC_ASSERT(context.depends_on(t, atoms[changed]));
      RC_ASSERT(context.uniformity(t) >= context.uniformity(atoms[changed]));
    }
  }
}

} // namespace
} // namespace ptxasw::sym::test
