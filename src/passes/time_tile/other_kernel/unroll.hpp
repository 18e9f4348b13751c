// A kernel with loops as the same kernel without: one copy of a loop's body behind the other, where
// it is known how often each thread goes round. Steps are looked for in that kernel; it is never
// launched. PROOF.md, "Loops of a known length", says why that is the same.
#pragma once

#include "passes/time_tile/polynomial/block_reader.hpp"
#include "passes/time_tile/step/step.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::passes {

struct Unrolled {
  // Why a loop was left as it is; empty: there is none left.
  std::string left;
  // None: nothing was unrolled, and the kernel is not valid.
  std::shared_ptr<const ptx::Module> module;
  emulator::Kernel kernel;
  std::vector<contract::Condition> conditions; // of launches in which both do the same
};

// `shape`: of the blocks that `kernel` was emulated for; then a loop may go round more often for
// one thread than for another. Zeros: it goes round equally often for all of them. `follow`: what
// the kernel is emulated with.
Unrolled unroll(emulator::Kernel& kernel, const emulator::Budget& budget = {},
                const BlockShape& shape = {},
                emulator::Follow follow = emulator::Follow::addresses);

} // namespace ptxasw::passes
