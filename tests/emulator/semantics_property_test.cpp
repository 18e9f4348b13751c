// The interpreter and the emulator cannot disagree: for every instruction form, the term that the
// symbolic domain builds, evaluated at random values, is what the concrete domain computes.
#include "emulator/symbolic_domain.hpp"
#include "semantics/concrete.hpp"
#include "semantics/harness.hpp"
#include "semantics/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptxasw {
namespace {

using sem::Bits;

Bits evaluate(const sym::Context& context, sym::Term term, const std::vector<Bits>& values) {
  return context.evaluate(
      term, [&](const sym::Atom& atom, sym::Term) { return values.at(atom.tag); },
      [](sym::FunctionKey key, unsigned width, std::span<const Bits> args) {
        return sem::compute(sem::Function::from_key(key), width, args);
      });
}

std::string text(const std::vector<Bits>& values) {
  std::string s;
  for (const Bits v : values)
    s += fmt::format(" {:#x}", static_cast<std::uint64_t>(v));
  return s;
}

// How the sources of a form are shown to the symbolic domain: as atoms, or some as constants, which
// exercises the simplifications of the terms.
void check(const harness::Program& program, std::string_view form, std::mt19937_64& random,
           std::uint64_t constants) {
  sem::ConcreteDomain concrete;
  sym::Context context;
  emulator::SymbolicDomain symbolic(context);
  std::vector<Bits> values = samples::draw(program.instance.sources, random);
  std::vector<sym::Term> sources;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const unsigned width = forms::width_of(program.instance.sources[i]);
    const bool known = (constants >> i & 1U) != 0;
    sources.push_back(known ? context.constant(width, values[i])
                            : context.atom({.name = fmt::format("i{}", i),
                                            .width = width,
                                            .tag = static_cast<std::uint32_t>(i)}));
  }
  const std::vector<sym::Term> terms = program.run(symbolic, sources);
  ASSERT_EQ(terms.size(), program.instance.results.size()) << form;
  for (int round = 0; round < 12; ++round) {
    const std::vector<Bits> expected = program.run(concrete, values);
    for (std::size_t i = 0; i < terms.size(); ++i)
      ASSERT_EQ(static_cast<std::uint64_t>(evaluate(context, terms[i], values)),
                static_cast<std::uint64_t>(expected[i]))
          << form << " result " << i << " at" << text(values) << "\n"
          << context.to_string(terms[i]);
    const std::vector<Bits> fresh = samples::draw(program.instance.sources, random);
    for (std::size_t i = 0; i < values.size(); ++i)
      if ((constants >> i & 1U) == 0) values[i] = fresh[i];
  }
}

class EveryForm : public testing::TestWithParam<forms::Pattern> {};

TEST_P(EveryForm, SymbolicEqualsConcrete) {
  std::mt19937_64 random(20231);
  for (const std::string& form : forms::expand(GetParam().text)) {
    const harness::Program program(form);
    const std::uint64_t subsets = std::uint64_t{1} << program.instance.sources.size();
    for (std::uint64_t constants = 0; constants < std::min<std::uint64_t>(subsets, 8); ++constants)
      check(program, form, random, constants == 7 ? subsets - 1 : constants);
  }
}

// "mad.lo.[u32|s32] r, r, r, r" -> mad_lo_u32_s32_r_r_r_r
std::string test_name(const testing::TestParamInfo<forms::Pattern>& info) {
  std::string name;
  for (const char c : info.param.text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Semantics, EveryForm, testing::ValuesIn(forms::patterns), test_name);

} // namespace
} // namespace ptxasw
