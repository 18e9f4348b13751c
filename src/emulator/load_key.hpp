// Loads from memory that cannot change are congruent functions of their address.
#pragma once

#include "ptx/isa.hpp"
#include "symbolic/term.hpp"

namespace ptxasw::emulator {

// Of such loads as functions of their address. The top bit keeps these keys apart from those of
// sem::Function.
inline sym::FunctionKey unchanging_load_key(ptx::Space space, unsigned width) {
  return (std::uint64_t{1} << 63) | (static_cast<std::uint64_t>(space) << 8) | width;
}

// The value at an address that is read by .nc or lies in .const.
inline sym::Term unchanging_load(sym::Context& context, ptx::Space space, unsigned width,
                                 sym::Term address) {
  return context.apply(unchanging_load_key(space, width),
                       space == ptx::Space::const_ ? "ldc" : "ld", width, {&address, 1});
}

} // namespace ptxasw::emulator
