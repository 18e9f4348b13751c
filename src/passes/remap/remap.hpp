// Blocks and threads do each other's work, so that memory is walked in another order.
//
// A prologue computes from the real index of the block (or thread) the one whose work it does, a
// bijection of the grid; every read of the index in the body becomes a read of the prologue's
// register. Nothing else changes.
//
//   column:W    the blocks of a plane in the order in which the hardware starts them, x first, take
//               the places of columns W blocks wide: row by row down the first column, then the
//               next; the last one is as narrow as is left
//   zigzag:W    the same with odd rows of a column backwards
//   swap        column:1
//   linear-*    the same walk over the elements of a linear index, whose row has `width` elements
//   thread-swap the threads of ntid.x columns and L rows (of one or several blocks along the next
//               axis), in the order of their lanes, take the places row first
//
// PROOF.md argues that this is sound. It costs two to four divisions of 32 bits a thread.
#pragma once

#include "passes/remap/remap_find.hpp"
#include "ptx/parse.hpp"

#include <vector>

namespace ptxasw::passes {

// The edits; empty if the plan refuses.
std::vector<ptx::Edit> remap(const emulator::Kernel& kernel, const RemapPlan& plan);

} // namespace ptxasw::passes
