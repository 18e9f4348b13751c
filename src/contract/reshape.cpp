// Each axis by itself: blocks rounded up, and what the entry is told of the original ones.
#include "contract/reshape.hpp"

#include <bit>
#include <cstddef>

namespace ptxasw::contract {

std::optional<Reshaped> reshape(const Variant& variant, const std::array<unsigned, 3>& grid,
                                const std::array<unsigned, 3>& block) {
  constexpr std::uint64_t most_threads = 1ULL << 31;
  constexpr unsigned most_along_y_z = 65535, most_of_block = 1024;
  Reshaped made;
  made.block = block_of(variant);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t threads = std::uint64_t{grid[axis]} * block[axis];
    if (threads == 0 || threads >= most_threads || block[axis] > most_of_block) return std::nullopt;
    if (variant.block[axis] == 0 && threads != 1) return std::nullopt;
    made.grid[axis] = static_cast<unsigned>((threads + made.block[axis] - 1) / made.block[axis]);
    if (axis != 0 && made.grid[axis] > most_along_y_z) return std::nullopt;
    const auto shift = static_cast<unsigned>(std::bit_width(block[axis] - 1));
    made.original.blocks[axis] = grid[axis];
    made.original.block[axis] = block[axis];
    made.original.threads[axis] = static_cast<std::uint32_t>(threads);
    made.original.multiplier[axis] =
        static_cast<std::uint32_t>(((1ULL << (31 + shift)) + block[axis] - 1) / block[axis]);
    made.original.shift[axis] = shift;
  }
  return made;
}

} // namespace ptxasw::contract
