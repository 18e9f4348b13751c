// Loads from memory that cannot change are congruent functions of their address.
#pragma once

#include "ptx/isa.hpp"
#include "symbolic/term.hpp"

namespace ptxasw::emulator {

// The value at an address that is read by .nc or lies in .const.
inline sym::Term unchanging_load(sym::Context& context, ptx::Space space, unsigned width,
                                 sym::Term address) {
  // The top bit keeps these keys apart from those of sem::Function.
  const sym::FunctionKey key =
      (std::uint64_t{1} << 63) | (static_cast<std::uint64_t>(space) << 8) | width;
  return context.apply(key, space == ptx::Space::const_ ? "ldc" : "ld", width, {&address, 1});
}

} // namespace ptxasw::emulator
