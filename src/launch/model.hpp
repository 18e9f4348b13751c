// What a variant is predicted to gain in one launch, now that grid and block are known.
//
// The contract states it by threads of a block and waves of the launch; a wave is as many threads
// as the chip holds. What it cannot know is the grid: how many of the merged blocks would be empty,
// and whether enough blocks are left for all multiprocessors.
#pragma once

#include "launch/kernels.hpp"
#include "launch/shapes.hpp"

namespace ptxasw::launch {

// Fills in `usable` and `predicted`. An entry that would not launch, or takes a launch that the
// original would refuse, is not usable.
void describe_shape(const Kernel& kernel, Shape& shape);

// The variant with the best prediction, if it is worth a change; else the kernel as its compiler
// made it, if the contract says that this is no worse than the entry of its own name, which is 0.
[[nodiscard]] unsigned best_by_model(const contract::Contract& contract, const Shape& shape);

// How often --policy=measure tries each variant, and which one is the fastest by that: the model's
// choice, or the original where that one was no worse, unless another is better by more than
// events can be wrong. The shape's mutex is held.
[[nodiscard]] unsigned trials(const Shape& shape);
// After a few tries so slow that it is not worth another one.
[[nodiscard]] bool is_out(const Shape& shape, unsigned variant);
[[nodiscard]] unsigned fastest(const Shape& shape);

} // namespace ptxasw::launch
