// The block-uniform form: coarsening for kernels whose threads meet.
//
// In the form of block_rules.hpp each thread decides for itself whether its copies stay together,
// so threads of a block must never wait for each other. Here nothing but %ctaid and %nctaid
// decides, so all threads of a block take the same form, and inside it barriers, shared memory and
// shuffles mean what they meant: a barrier stands once and all copies of all threads meet there.
// There is no form to go back to, so where replicas may diverge each goes its own (a
// Region: one copy after the other runs it), without barriers inside.
//
// Shared memory: each copy has its own variables, but for those whose every store is the same in
// all copies (address, value, condition): they are written once for all and hold for each copy what
// its own would. PROOF.md argues for all of this.
#pragma once

#include "passes/coarsen/find/block.hpp"

#include <span>

namespace ptxasw::passes {

// Rules that do not depend on the axis. Empty, or a reason for people.
Why why_not_uniform(const emulator::Kernel& kernel);

// Fills in what differs between the copies, their regions and their own variables, or why it cannot
// be (BlockPlan::refused). Also of plans in which each thread decides for itself: there copies
// agree where a thread may start over and no loaded data decide, and diverge in regions elsewhere.
// `finds_repeats`: moves in regions that write what is there already do not make copies differ.
void find_regions(const emulator::Kernel& kernel, std::span<const ptx::Special> seeds,
                  bool finds_repeats, BlockPlan& plan);

} // namespace ptxasw::passes
