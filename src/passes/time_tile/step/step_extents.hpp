// Arrays that are as large as the launch, of kernels that ask it for their sizes:
//
//     offset = x + y * blockDim.x * gridDim.x
//
// %nctaid * %ntid is then a size as any other one is, or the number that the program has written
// elsewhere (`if (x == DIM - 1)`): that the launch has as many threads is a condition.
#pragma once

#include "passes/time_tile/step/step.hpp"
#include "passes/time_tile/step/step_loops.hpp"

#include <vector>

namespace ptxasw::passes {

// Along each axis of `places` that a thread has one place of, and of which the kernel asks for the
// number of blocks. `written`: the numbers that these are taken to be; conditions that they are.
std::vector<LaunchSize> find_extents(const emulator::Kernel& kernel, const StepLoops& loops,
                                     const std::array<Place, 3>& places,
                                     const WrittenExtents& written,
                                     std::vector<contract::Condition>& conditions);

// What numbers of the program, to which something is compared, may be: guesses, likely ones first.
std::vector<WrittenExtents> guess_extents(const emulator::Kernel& kernel);

} // namespace ptxasw::passes
