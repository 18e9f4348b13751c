// Shared memory seen through: which element of global memory each load of a tile reads.
//
// A block fills a tile, waits once, and reads it. What a thread reads then is what some thread of
// its block loaded from global memory and put there. With the block's shape known all of that can
// be looked at, thread by thread: %tid is a number, so are places in shared memory. PROOF.md, "A
// tile in shared memory", says what is shown of each load and why that is enough.
#pragma once

#include "passes/time_tile/polynomial/block_reader.hpp"
#include "ptxasw/reason.hpp"

#include <vector>

namespace ptxasw::passes {

// By the place of the thread in the grid.
struct TileElement {
  unsigned parameter = 0;   // the array
  IntegerPolynomial offset; // in bytes
  Formula when;             // no two hold at a place; of the first: where none of the others does
  // The bits of a number, in the place of an element: what lies beside an array is often 0.
  std::optional<std::uint64_t> number = std::nullopt;
  [[nodiscard]] bool is_same(const TileElement& other) const {
    return parameter == other.parameter && offset == other.offset && number == other.number;
  }
};

struct TileLoad {
  ptx::InstId inst = 0;
  std::vector<TileElement> elements; // the first one is no number
};

struct TileReads {
  Why refused;            // what is below is then not valid
  bool has_form = false;  // of a tile; or else it has for no shape
  bool is_beside = false; // some thread is beside the tile: this is not the shape that is meant
  std::vector<ptx::InstId> barriers; // at one of them the tile is handed on, at others nothing
  std::vector<ptx::InstId> stores;   // of the tile
  std::vector<TileLoad> loads;
  std::vector<contract::Condition> conditions;
};

// The kernel was emulated for the shape, with stored values followed.
TileReads read_tile(emulator::Kernel& kernel, const BlockShape& shape);

} // namespace ptxasw::passes
