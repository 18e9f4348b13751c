// Which kernels may have their blocks, or their threads, do each other's work: one rule for each
// way in which a kernel could tell. src/passes/remap/PROOF.md argues for them.
#pragma once

#include "emulator/emulate.hpp"

#include <span>

namespace ptxasw::passes {

// Blocks as a whole change places: block B runs where, and when, another one would have. Barriers,
// shared memory and lane-wise instructions move along. Empty, or a reason for people.
Why why_blocks_not_permutable(const emulator::Kernel& kernel);

// Threads change places, within their block or beyond it: nothing may join them but memory that
// they read and write plainly.
Why why_threads_not_permutable(const emulator::Kernel& kernel);

// Every mention of these registers in the body is an operand of 32 bits that a register can
// replace. Empty, or a reason.
Why why_not_replaced(const emulator::Kernel& kernel, std::span<const ptx::Special> specials);

} // namespace ptxasw::passes
