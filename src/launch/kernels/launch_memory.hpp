// What an earlier run of a program found out of launches that come together, by what they are
// (hash_of) and on which chip, and what this one does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ptxasw::launch {

// Nothing is known, and nothing kept, by default.
struct LaunchMemory {
  std::function<std::optional<bool>(std::uint64_t launches, const std::string& chip)> recall =
      [](std::uint64_t, const std::string&) { return std::nullopt; };
  std::function<void(std::uint64_t launches, const std::string& chip, bool is_faster)> keep =
      [](std::uint64_t, const std::string&, bool) {};
};

} // namespace ptxasw::launch
