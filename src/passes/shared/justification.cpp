// A match of addresses, then a register for each index that it assumes something of.
#include "passes/shared/justification.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

namespace ptxasw::passes {

using sym::Term;

bool JustificationFinder::find(const emulator::Event& load, Term there,
                               const std::function<bool()>& meant, Justification& grounds,
                               Why& why) {
  sym::Context& c = *k_.context;
  const std::vector<Term> facts = k_.facts_at(load.block);
  const unsigned unconfirmed = solver_.stats().unconfirmed;
  const auto match = match_addresses(c, solver_, facts, there, load.address, options_.paranoid);
  const bool confirmed = match && (!options_.paranoid || meant());
  if (solver_.stats().unconfirmed != unconfirmed) {
    why = {Reason::not_proved, "timed out: Z3 did not repeat the proof"};
    return false;
  }
  if (!confirmed) return false;
  grounds.proof = match->proof;
  if (options_.no_index_wrap) {
    grounds.promised = match->facts;
    return true;
  }
  for (const IndexFact& fact : match->facts) {
    const auto check = places_.place(fact, load.inst);
    if (!check) {
      why = {Reason::not_checkable,
             fmt::format("its index is in no register where a wrap of {} could be checked",
                         c.to_string(fact.index))};
      return false;
    }
    grounds.checks.push_back(*check);
  }
  return true;
}

void share_checks(std::span<Justification* const> all) {
  using Interval = IndexFact::Interval;
  std::map<std::tuple<Term, Term, bool>, std::pair<Interval, Interval>> hull;
  const auto each = [&](const auto& visit) {
    for (Justification* grounds : all)
      for (NoWrap& check : grounds->checks)
        visit(hull[{check.fact.index, check.fact.unit, check.fact.is_signed}], check.fact);
  };
  each([](auto& ranges, const IndexFact& fact) {
    ranges.first.include(fact.units);
    ranges.second.include(fact.constants);
  });
  each([](const auto& ranges, IndexFact& fact) {
    fact.units = ranges.first;
    fact.constants = ranges.second;
  });
}

} // namespace ptxasw::passes
