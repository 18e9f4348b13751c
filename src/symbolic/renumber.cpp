// Whoever may add to a context may change what it was told of an atom.
#include "symbolic/renumber.hpp"

namespace ptxasw::sym {

void renumber(Context& context, Term atom, std::uint32_t tag, std::uint32_t tag2) {
  auto& info = const_cast<Atom&>(context.atom_info(atom)); // NOLINT(*-const-cast)
  info.tag = tag;
  info.tag2 = tag2;
}

} // namespace ptxasw::sym
