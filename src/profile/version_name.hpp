// What a version is called in a launch contract, and what of that a build can make.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ptxasw::profile {

// "y:4", "x:2,y:4": one block does the work of so many along x, y, z. None of other names: those
// need a launcher ("block:32x8x1"), or are not merged.
[[nodiscard]] std::optional<std::array<unsigned, 3>> factors_of(std::string_view version);

} // namespace ptxasw::profile
