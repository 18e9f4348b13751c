// Which loads of a kernel over a linear index follow its two coordinates, for propose_columns.
//
// Addresses are not taken apart but looked at: each is evaluated at a place in the middle of a
// plane and at the ones to the right and below, with made-up sizes, pointers and trips. A load
// whose address is misjudged costs a good proposal, never a right result: any order of the elements
// computes the same.
#pragma once

#include "passes/remap/columns.hpp"
#include "passes/remap/linear_index.hpp"

namespace ptxasw::passes {

// The loads of the innermost loop that has most of them. Empty when none is in a loop, or when
// neighbours along x do not lie beside each other. `index` must not be a refused one.
std::vector<LinearLoad> linear_loads(const emulator::Kernel& kernel, const LinearIndex& index);

} // namespace ptxasw::passes
