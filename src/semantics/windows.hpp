// Where the state spaces lie in the interpreter's flat generic address space.
//
// PTX gives every space but global a window: generic address = window base + offset in the space,
// and an address outside all windows is global (PTX ISA, 5.1 and 9.7.9.23). Where the windows are
// is the hardware's business, so the symbolic domain knows the bases only by name (Fn::window);
// these are the concrete ones. They lie above any address that a global allocation is given here,
// and their low 32 bits are zero.
#pragma once

#include "ptx/isa.hpp"

#include <cstdint>

namespace ptxasw::sem {

inline constexpr std::uint64_t window_size = std::uint64_t{1} << 32;
inline constexpr std::uint64_t first_window = std::uint64_t{1} << 48;

// Generic address of offset 0 of a space; 0 for global and for what has no window.
constexpr std::uint64_t window_base(ptx::Space space) {
  switch (space) {
  case ptx::Space::shared: return first_window;
  case ptx::Space::local: return first_window + window_size;
  case ptx::Space::const_: return first_window + 2 * window_size;
  case ptx::Space::param: return first_window + 3 * window_size;
  default: return 0;
  }
}

// The space that a generic address belongs to.
constexpr ptx::Space space_of(std::uint64_t generic_address) {
  if (generic_address < first_window) return ptx::Space::global;
  switch ((generic_address - first_window) / window_size) {
  case 0: return ptx::Space::shared;
  case 1: return ptx::Space::local;
  case 2: return ptx::Space::const_;
  case 3: return ptx::Space::param;
  default: return ptx::Space::global;
  }
}

} // namespace ptxasw::sem
