// For which shapes of blocks a kernel with a tile was written: guesses. Each is tried, and required
// of the launch.
#pragma once

#include "passes/time_tile/polynomial/block_reader.hpp"

#include <vector>

namespace ptxasw::passes {

// The likeliest first; empty where nothing tells.
std::vector<BlockShape> likely_shapes(const emulator::Kernel& kernel);

// By axis, how far a block's first thread is from the next block's; 0: no number tells.
BlockShape block_strides(const emulator::Kernel& kernel);

// That blocks have that many threads along the axis.
void require_size(std::vector<contract::Condition>& conditions, unsigned axis, std::uint32_t size,
                  std::string_view otherwise);

} // namespace ptxasw::passes
