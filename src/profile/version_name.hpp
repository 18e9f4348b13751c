// What a version is called in a launch contract, and what of that a build can make.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ptxasw::profile {

// "y:4", "x:2,y:4": one block does the work of so many along x, y, z. None of other names.
[[nodiscard]] std::optional<std::array<unsigned, 3>> factors_of(std::string_view version);

// "thread-swap:32", "column:8": blocks or threads do the work in another order.
[[nodiscard]] bool is_order(std::string_view version);

// Others than these need a launcher ("block:32x8x1"), or are the kernel itself.
[[nodiscard]] inline bool can_be_built(std::string_view name) {
  return factors_of(name).has_value() || is_order(name);
}

} // namespace ptxasw::profile
