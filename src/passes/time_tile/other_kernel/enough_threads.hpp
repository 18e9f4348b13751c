// A kernel whose threads may take one place after another as the same kernel where each takes one:
//
//   for (i = place; i < end; i += threads) ...         becomes        if (place < end) ...
//
// That is so in launches that have a thread for each place. Compilers write such loops with several
// places a round, and ask (end - 1 - i) / threads how many there are: that is 0. Steps are looked
// for in that kernel; it is never launched. PROOF.md, "A thread for each place", says why that is
// the same.
#pragma once

#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/step/step.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

struct EnoughThreads {
  OtherKernel other;
  std::vector<contract::Condition> conditions; // of launches in which both do the same
};

// None: nothing in the kernel hangs on how many threads there are.
std::optional<EnoughThreads> with_enough_threads(emulator::Kernel& kernel,
                                                 const emulator::Budget& budget = {});

} // namespace ptxasw::passes
