// The same threads in blocks of another shape: how a launch of an entry whose `rest` is `reshaped`
// follows from the original's, and what the entry is told of that one.
//
// Along each axis the threads of the original launch are counted through, block by block: i from 0
// to blocks*block - 1. The entry's own threads are counted in the same way, rounded up to whole
// blocks, and thread i does the work of thread i % block of block i / block; those from `threads`
// on leave at once. src/passes/remap/RESHAPE.md argues that this is sound.
#pragma once

#include "contract/contract.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace ptxasw::contract {

// The parameter behind the kernel's own, at grid_offset(): x, y, z of each.
struct OriginalShape {
  std::array<std::uint32_t, 3> blocks{}, block{}, threads{}; // threads = blocks * block
  // i / block = i * multiplier >> 31 + shift, of which 2 * i * multiplier >> 32 is the high half of
  // a product of 32 bits. For i < 2^31: with l = shift and multiplier * block = 2^(31+l) + e, where
  // e < block <= 2^l, that is i / block + i * e / (block * 2^(31+l)), of which the last term is
  // less than 1 / block: too little to get to the next whole number.
  std::array<std::uint32_t, 3> multiplier{}, shift{};
};
static_assert(sizeof(OriginalShape) == 60);

struct Reshaped {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  OriginalShape original;
};

[[nodiscard]] constexpr std::array<unsigned, 3> block_of(const Variant& variant) {
  return {std::max(variant.block[0], 1U), std::max(variant.block[1], 1U),
          std::max(variant.block[2], 1U)};
}

// None: this launch cannot be made so.
[[nodiscard]] std::optional<Reshaped> reshape(const Variant& variant,
                                              const std::array<unsigned, 3>& grid,
                                              const std::array<unsigned, 3>& block);

} // namespace ptxasw::contract
