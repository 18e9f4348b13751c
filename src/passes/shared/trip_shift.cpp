// The trip counter of a loop is an atom; the trip before has one less.
#include "passes/shared/trip_shift.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::AtomKind;
using sym::Term;

// What was known when the loop was entered has an older atom than the trip's. Of the younger ones
// only those that mean the same wherever they are named stay.
bool TripShift::varies_freely(Term atom) const {
  if (atom.id <= trip_.id) return false;
  switch (static_cast<AtomKind>(c_.atom_info(atom).kind)) {
  case AtomKind::special:
  case AtomKind::parameter:
  case AtomKind::symbol: return false;
  default: return true;
  }
}

sym::Context::Substitution TripShift::meaning() const {
  const Term one = c_.constant(c_.width(trip_), 1);
  return {{trip_.id, c_.sub(trip_, one)}};
}

std::optional<Term> TripShift::before(Term t) {
  for (const Term atom : c_.atoms(t))
    if (varies_freely(atom)) return std::nullopt;
  return c_.substitute(t, meaning());
}

bool TripShift::is_fixed(Term t) const {
  return std::ranges::none_of(c_.atoms(t),
                              [&](Term atom) { return atom == trip_ || varies_freely(atom); });
}

} // namespace ptxasw::passes
