// Kernels that do nothing but copy a box of elements from one array to the same places of another
// one: what follows a step in programs that do not exchange their arrays.
//
//     if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1) a[y * n + x] = b[y * n + x];
//
// The launcher leaves them out between steps that it merges (src/launch/steps/MERGING.md). For that
// it has to know what is copied, all of it: of a guard that may leave out more than the conditions
// say there is no copy.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <optional>

namespace ptxasw::passes {

// `plan`: all of it, as of a step.
std::optional<contract::CopyKernel> find_copy(const emulator::Kernel& kernel, const StepPlan& plan);

} // namespace ptxasw::passes
