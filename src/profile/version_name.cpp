// Reads "x:2,y:4".
#include "profile/version_name.hpp"

#include <algorithm>
#include <charconv>

namespace ptxasw::profile {

std::optional<std::array<unsigned, 3>> factors_of(std::string_view version) {
  constexpr unsigned most = 64;
  std::array<unsigned, 3> factors{1, 1, 1};
  while (!version.empty()) {
    const std::string_view item = version.substr(0, version.find(','));
    version.remove_prefix(std::min(version.size(), item.size() + 1));
    const std::size_t axis = item.empty() ? 3 : std::string_view("xyz").find(item[0]);
    if (axis > 2 || item.size() < 3 || item[1] != ':' || factors.at(axis) != 1) return std::nullopt;
    const char* const end = item.data() + item.size();
    const auto read = std::from_chars(item.data() + 2, end, factors.at(axis));
    if (read.ec != std::errc() || read.ptr != end || factors.at(axis) < 2 ||
        factors.at(axis) > most)
      return std::nullopt;
  }
  if (factors == std::array{1U, 1U, 1U}) return std::nullopt;
  return factors;
}

bool is_order(std::string_view version) {
  constexpr std::array<std::string_view, 7> kinds{
      "column", "zigzag", "tile", "swap", "linear-column", "linear-zigzag", "thread-swap"};
  return std::ranges::find(kinds, version.substr(0, version.find(':'))) != kinds.end();
}

} // namespace ptxasw::profile
