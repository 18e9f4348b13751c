// Properties of all terms, on random programs: normalisation keeps the value, ranges hold every
// value, substitution commutes with evaluation.
#include "program.hpp"

#include "symbolic/term.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

namespace ptxasw::sym::test {
namespace {

constexpr int assignments_per_program = 12;

std::string describe(const Context& context, Term t) {
  return context.to_string(t) + " of width " + std::to_string(context.width(t));
}

RC_GTEST_PROP(RandomTerms, evaluateToWhatTheNaiveProgramComputes, (const Program& program)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  for (int k = 0; k < assignments_per_program; ++k) {
    const Assignment values = assignment(static_cast<std::uint64_t>(k) * 77 + program.size());
    const std::vector<Value> naive = run_naively(program, values);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Bits got = context.evaluate(terms[i], reader(values, atoms), some_function);
      if (context.width(terms[i]) != naive[i].width || got != naive[i].bits)
        RC_FAIL("instruction " + std::to_string(i) + ": " + describe(context, terms[i]));
    }
  }
}

RC_GTEST_PROP(RandomTerms, rangesHoldEveryValue, (const Program& program)) {
  Context context;
  std::vector<Term> atoms;
  const std::vector<Term> terms = build(program, context, atoms);
  for (int k = 0; k < assignments_per_program; ++k) {
    const Assignment values = assignment(static_cast<std::uint64_t>(k) * 91 + program.size());
    const std::vector<Value> naive = run_naively(program, values);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Range r = context.range(terms[i]);
      const SignedRange s = context.signed_range(terms[i]);
      const unsigned w = naive[i].width;
      const SBits v = negative(naive[i]) ? static_cast<SBits>(naive[i].bits | ~mask_of(w))
                                         : static_cast<SBits>(naive[i].bits);
      if (naive[i].bits < r.lo || naive[i].bits > r.hi || v < s.lo || v > s.hi)
        RC_FAIL("range of " + describe(context, terms[i]));
    }
  }
}

} // namespace
} // namespace ptxasw::sym::test
