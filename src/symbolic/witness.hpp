// A point at which all facts hold and a goal does not: found by trying some, or checked when a
// solver says it has one.
#pragma once

#include "symbolic/facts.hpp"

#include <map>

namespace ptxasw::sym {

using Witness = std::map<Term, Bits>; // atoms and their values

// Points are drawn for the rewritten question, where bounded terms are atoms, and carried back.
// Always the same points for the same query.
[[nodiscard]] std::optional<Witness> find_witness(const Context& context,
                                                  std::span<const Term> facts, Term goal,
                                                  const FactRewriter::Result& rewritten);
// `values` are a solver's for the rewritten question: of its atoms and applications, children
// before parents. Nothing when they do not refute the original one, or are no interpretation (a
// function with two values at one point, an atom out of bounds).
[[nodiscard]] std::optional<Witness> verify_witness(const Context& context,
                                                    std::span<const Term> facts, Term goal,
                                                    const FactRewriter::Result& rewritten,
                                                    std::span<const std::pair<Term, Bits>> values);

} // namespace ptxasw::sym
