// The check of passes/coarsen/find/block_bound.hpp as code.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/coarsen/emit/axes.hpp"

namespace ptxasw::passes {

// Goes to the sequential form if an index may wrap. The sum is formed in f32 and rounded up at each
// step, so that it is never too small; about one conversion for each leaf and one fma for each
// product.
void check_bound(const emulator::Kernel& kernel, const BlockPlan& plan, const CopyAxes& axes,
                 const FrameLabels& labels, ptx::Code& code);

} // namespace ptxasw::passes
