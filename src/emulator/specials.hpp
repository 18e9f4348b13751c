// Special registers as atoms, with the bounds that every launch obeys (facts of kind 1).
#pragma once

#include "ptx/isa.hpp"
#include "symbolic/term.hpp"

#include <array>

namespace ptxasw::emulator {

// `shape`: known block size, zeros where unknown. Registers that this fixes become constants.
sym::Term special_value(sym::Context& context, ptx::Special id, std::array<std::uint32_t, 3> shape);

} // namespace ptxasw::emulator
