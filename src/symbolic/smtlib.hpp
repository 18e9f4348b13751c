// Queries as SMT-LIB text, to be replayed with any solver: `unsat` means that the goal follows.
#pragma once

#include "symbolic/term.hpp"

#include <string>

namespace ptxasw::sym {

// facts, the atoms' bounds, and not goal; `comment` lines go on top.
[[nodiscard]] std::string smtlib(const Context& context, std::span<const Term> facts, Term goal,
                                 std::string_view comment = {});

} // namespace ptxasw::sym
