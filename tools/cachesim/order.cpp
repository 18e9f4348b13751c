// Orders by name, as permutations.
#include "cachesim/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace ptxasw::cachesim {
namespace {

struct Name {
  std::string_view name;
  Order::Kind kind;
  unsigned sizes; // how many follow
};
constexpr std::array names{Name{"naive", Order::Kind::naive, 0},
                           Name{"column", Order::Kind::column, 1},
                           Name{"zigzag", Order::Kind::zigzag, 1},
                           Name{"tile", Order::Kind::tile, 2}, Name{"swap", Order::Kind::swap, 0}};
constexpr std::string_view linear_prefix = "linear-";

// Takes a number from the front of `text`.
bool take_number(std::string_view& text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value == 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Row by row through the rectangle that begins at (x, y).
struct Rectangle {
  std::uint32_t x, y, columns, rows;
};
void walk_rectangle(const Rectangle& part, std::uint32_t pitch, bool zigzag,
                    std::vector<std::uint32_t>& items) {
  for (std::uint32_t row = 0; row < part.rows; ++row)
    for (std::uint32_t i = 0; i < part.columns; ++i) {
      const std::uint32_t column = zigzag && row % 2 != 0 ? part.columns - 1 - i : i;
      items.push_back(part.x + column + (part.y + row) * pitch);
    }
}

} // namespace

tl::expected<Order, std::string> read_order(std::string_view text) {
  Order order;
  std::string_view rest = text;
  order.linear = rest.starts_with(linear_prefix);
  if (order.linear) rest.remove_prefix(linear_prefix.size());
  const std::string_view word = rest.substr(0, rest.find(':'));
  const auto* name = std::ranges::find(names, word, &Name::name);
  bool good = name != names.end() && !(order.linear && name->kind == Order::Kind::naive);
  if (good) {
    order.kind = name->kind;
    rest.remove_prefix(word.size());
    for (unsigned i = 0; good && i < name->sizes; ++i) {
      good = rest.starts_with(i == 0 ? ':' : 'x');
      if (good) rest.remove_prefix(1);
      good = good && take_number(rest, i == 0 ? order.width : order.height);
    }
  }
  if (!good || !rest.empty())
    return tl::make_unexpected(
        fmt::format("order '{}' is none of naive, column:W, zigzag:W, tile:WxH, swap, "
                    "linear-column:W, linear-zigzag:W, linear-tile:WxH, linear-swap",
                    text));
  return order;
}

std::string text_of(const Order& order) {
  const auto* name = std::ranges::find(names, order.kind, &Name::kind);
  std::string text = fmt::format("{}{}", order.linear ? linear_prefix : "", name->name);
  if (name->sizes > 0) text += fmt::format(":{}", order.width);
  if (name->sizes > 1) text += fmt::format("x{}", order.height);
  return text;
}

std::vector<std::uint32_t> walk(const Order& order, std::uint32_t columns, std::uint32_t rows) {
  std::uint32_t width = columns, height = rows;
  switch (order.kind) {
  case Order::Kind::naive: break;
  case Order::Kind::swap: width = 1; break;
  case Order::Kind::column:
  case Order::Kind::zigzag: width = std::min(order.width, columns); break;
  case Order::Kind::tile:
    width = std::min(order.width, columns);
    height = std::min(order.height, rows);
    break;
  }
  std::vector<std::uint32_t> items;
  items.reserve(std::size_t{columns} * rows);
  const bool zigzag = order.kind == Order::Kind::zigzag;
  for (std::uint32_t y = 0; y < rows; y += height)
    for (std::uint32_t x = 0; x < columns; x += width)
      walk_rectangle({x, y, std::min(width, columns - x), std::min(height, rows - y)}, columns,
                     zigzag, items);
  return items;
}

std::uint64_t Threads::block_count() const {
  return std::uint64_t{grid[0]} * grid[1] * grid[2];
}
std::uint64_t Threads::threads_per_block() const {
  return std::uint64_t{block[0]} * block[1] * block[2];
}
std::uint32_t Threads::row_length() const {
  return row != 0 ? row : grid[0] * block[0];
}

tl::expected<std::vector<std::uint32_t>, std::string> thread_order(const Order& order,
                                                                   const Threads& threads) {
  if (threads.count() > std::numeric_limits<std::uint32_t>::max() / 2)
    return tl::make_unexpected("the launch has too many threads for an order");
  std::vector<std::uint32_t> result;
  result.reserve(threads.count());
  if (order.linear) {
    if (threads.grid[1] * threads.grid[2] * threads.block[1] * threads.block[2] != 1)
      return tl::make_unexpected(
          fmt::format("{} needs a launch along x alone: its elements are blockIdx.x * blockDim.x + "
                      "threadIdx.x",
                      text_of(order)));
    const auto count = static_cast<std::uint32_t>(threads.count());
    result = walk(order, threads.row_length(), count / threads.row_length());
    for (auto rest = static_cast<std::uint32_t>(result.size()); rest < count; ++rest)
      result.push_back(rest);
    return result;
  }
  const auto plane = walk(order, threads.grid[0], threads.grid[1]);
  const auto size = static_cast<std::uint32_t>(threads.threads_per_block());
  for (std::uint32_t z = 0; z < threads.grid[2]; ++z)
    for (const std::uint32_t block : plane)
      for (std::uint32_t thread = 0; thread < size; ++thread)
        result.push_back((block + z * static_cast<std::uint32_t>(plane.size())) * size + thread);
  return result;
}

} // namespace ptxasw::cachesim
