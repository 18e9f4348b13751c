// The creator's own numbers of atoms, changed.
#pragma once

#include "symbolic/term.hpp"

namespace ptxasw::sym {

// No term hangs on them: nothing becomes equal or different by it.
void renumber(Context& context, Term atom, std::uint32_t tag, std::uint32_t tag2);

} // namespace ptxasw::sym
