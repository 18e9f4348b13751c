// What a remap of a kernel replaces, or why it may not be.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/remap/linear_index.hpp"
#include "ptxasw/options.hpp"

namespace ptxasw::passes {

struct RemapPlan {
  Why refused; // nothing else is then valid
  Remap remap;
  LinearIndex linear; // of linear remaps
  char axis = 'y';    // of thread swaps: the one that lanes run along
  // 64 bits, known on entry: with fewer bytes than a sector between lanes all threads stay. May be
  // left out.
  sym::Term lane_stride;
};

// Lanes are no longer the neighbours that they were.
constexpr bool moves_threads(RemapKind kind) {
  return kind == RemapKind::linear_column || kind == RemapKind::linear_zigzag ||
         kind == RemapKind::thread_swap;
}

RemapPlan plan_remap(emulator::Kernel& kernel, const Remap& remap);

} // namespace ptxasw::passes
