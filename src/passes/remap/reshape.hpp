// A kernel whose threads may come in blocks of any shape: where a thread is in the launch that the
// program asked for, it works out from what the launcher appends to the parameters
// (contract/reshape.hpp). RESHAPE.md argues that this is sound.
//
// It costs a multiply-add, a comparison and a branch for each axis, and a product and a shift where
// the kernel wants the thread's place in its block, or the block's in the grid.
#pragma once

#include "passes/remap/reshape_find.hpp"
#include "ptx/parse.hpp"

#include <vector>

namespace ptxasw::passes {

// The edits; empty if the plan refuses.
std::vector<ptx::Edit> reshape(const emulator::Kernel& kernel, const ReshapePlan& plan);

} // namespace ptxasw::passes
