// What a variant is predicted to gain in one launch, now that grid and block are known.
//
// The contract states it by threads of a block and waves of the launch; a wave is as many threads
// as the chip holds. What it cannot know is the grid: how many of the merged blocks would be empty,
// and whether enough blocks are left for all multiprocessors. Of threads in another order it says
// which accesses they make: how many sectors a warp fetches hangs on the block, and on how many
// rows there are.
#pragma once

#include "launch/kernels/kernels.hpp"
#include "launch/kernels/shapes.hpp"

namespace ptxasw::launch {

// Fills in `usable` and `predicted`. An entry that would not launch, or takes a launch that the
// original would refuse, is not usable.
void describe_shape(const Kernel& kernel, Shape& shape);

// The variant with the best prediction, if it is worth a change; else the kernel as its compiler
// made it, if the contract says that this is no worse than the entry of its own name, which is 0.
[[nodiscard]] unsigned best_by_model(const contract::Contract& contract, const Shape& shape);

} // namespace ptxasw::launch
