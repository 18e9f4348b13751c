// The trip counter of a loop is an atom; the iteration before has one less.
#include "passes/shared/iteration_shift.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::AtomKind;
using sym::Term;

// What was known when the loop was entered has an older atom than the trip's. Of the younger ones
// only those that mean the same wherever they are named stay.
bool IterationShift::varies_freely(Term atom) const {
  if (atom.id <= iteration_.id) return false;
  switch (static_cast<AtomKind>(c_.atom_info(atom).kind)) {
  case AtomKind::special:
  case AtomKind::parameter:
  case AtomKind::symbol: return false;
  default: return true;
  }
}

sym::Context::Substitution IterationShift::meaning() const {
  const Term one = c_.constant(c_.width(iteration_), 1);
  return {{iteration_.id, c_.sub(iteration_, one)}};
}

std::optional<Term> IterationShift::before(Term t) {
  for (const Term atom : c_.atoms(t))
    if (varies_freely(atom)) return std::nullopt;
  return c_.substitute(t, meaning());
}

bool IterationShift::is_fixed(Term t) const {
  return std::ranges::none_of(c_.atoms(t),
                              [&](Term atom) { return atom == iteration_ || varies_freely(atom); });
}

} // namespace ptxasw::passes
