// Special registers as atoms, with the bounds that every launch obeys (facts of kind 1).
#pragma once

#include "ptx/isa.hpp"
#include "symbolic/term.hpp"

#include <array>

namespace ptxasw::emulator {

// Does a thread read the same value every time? Not so for clocks and counters, nor for %smid and
// %warpid, which the PTX ISA calls volatile; each of their reads is an unknown of its own.
bool fixed_while_running(ptx::Special id);

// `shape`: known block size, zeros where unknown. Registers that this fixes become constants.
sym::Term special_value(sym::Context& context, ptx::Special id, std::array<std::uint32_t, 3> shape);

} // namespace ptxasw::emulator
