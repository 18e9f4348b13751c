// A kernel whose threads wait for one another without having anything to tell: there is no shared
// memory, and what a step reads no thread of its launch stores to. The same kernel without these
// barriers is looked at in its place; it is never launched. PROOF.md, "Barriers without a tile".
#pragma once

#include "passes/time_tile/other_kernel/other_kernel.hpp"

#include <optional>

namespace ptxasw::passes {

// It computes nothing, and waits for all threads of the block.
bool is_plain_barrier(const ptx::Body& body, const ptx::Inst& inst);

// None: there is no such barrier, or threads may have something to tell there.
std::optional<OtherKernel> without_idle_barriers(const emulator::Kernel& kernel,
                                                 const emulator::Budget& budget);

} // namespace ptxasw::passes
