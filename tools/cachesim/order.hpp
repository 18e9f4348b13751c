// The orders in which a grid's blocks, or the elements of a linear index, may be walked. An order
// is a permutation: at time p comes item order[p]. The names are those of the option --remap, so
// that an order can be tried in the cache model without a kernel that is rewritten for it.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::cachesim {

struct Order {
  enum class Kind : std::uint8_t {
    naive,  // as launched
    column, // column by column, each `width` wide and walked row by row; the last may be narrower
    zigzag, // the same, every other row of a column backwards
    tile,   // tiles of width x height, row by row, and row by row inside
    swap,   // down first
  };
  Kind kind = Kind::naive;
  bool linear = false; // of the elements of a linear index instead of the blocks
  unsigned width = 0, height = 0;
  friend bool operator==(const Order&, const Order&) = default;
};

// "naive", "column:4", "zigzag:4", "tile:4x2", "swap", "linear-column:4", "linear-zigzag:4", ...
tl::expected<Order, std::string> read_order(std::string_view text);
std::string text_of(const Order& order);

// The items (x, y) of a plane as numbers x + y * columns, in their order.
std::vector<std::uint32_t> walk(const Order& order, std::uint32_t columns, std::uint32_t rows);

struct Threads {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t row = 0; // elements of a row of the linear index; 0: one row of the grid
  [[nodiscard]] std::uint64_t block_count() const;
  [[nodiscard]] std::uint64_t threads_per_block() const;
  [[nodiscard]] std::uint64_t count() const { return block_count() * threads_per_block(); }
  [[nodiscard]] std::uint32_t row_length() const;
};

// All threads of a launch in their order. A thread's number is that of its block times the threads
// of a block, plus its own number within. Planes of a grid come one after another; linear orders
// take a launch along x alone, and leave elements beyond the last full row where they are.
tl::expected<std::vector<std::uint32_t>, std::string> thread_order(const Order& order,
                                                                   const Threads& threads);

} // namespace ptxasw::cachesim
