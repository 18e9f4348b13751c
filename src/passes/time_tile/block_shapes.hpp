// For which shapes of blocks a kernel with a tile was written: guesses. Each is tried, and required
// of the launch.
#pragma once

#include "passes/time_tile/block_reader.hpp"

#include <vector>

namespace ptxasw::passes {

// The likeliest first; empty where nothing tells.
std::vector<BlockShape> likely_shapes(const emulator::Kernel& kernel);

} // namespace ptxasw::passes
