// Branches of which both sides compute the same, by whatever they are decided:
//
//   if (tx > 0) left = in[i - 1]; else left = in[i - 1];
//
// is what is left of a thread that reads its neighbour from a tile, and at the tile's end from the
// array. Either side does. PROOF.md, "A tile in shared memory", says why that is the same.
#pragma once

#include "contract/contract.hpp"
#include "emulator/emulate.hpp"
#include "passes/time_tile/polynomial/block_reader.hpp"
#include "ptx/parse.hpp"

#include <vector>

namespace ptxasw::passes {

struct AlikeSides {
  std::vector<ptx::Edit> edits;                // of these branches
  std::vector<contract::Condition> conditions; // no index wraps
};

// Of blocks of the shape.
AlikeSides find_alike_sides(const emulator::Kernel& kernel, const BlockShape& shape,
                            const emulator::Budget& budget);

} // namespace ptxasw::passes
