// Reads "x:2,y:4".
#include "profile/version_name.hpp"

#include "words/words.hpp"

#include <algorithm>

namespace ptxasw::profile {

std::optional<std::array<unsigned, 3>> factors_of(std::string_view version) {
  constexpr unsigned most = 64;
  std::array<unsigned, 3> factors{1, 1, 1};
  while (!version.empty()) {
    const std::string_view item = words::take(version, ",");
    const std::size_t axis = item.empty() ? 3 : std::string_view("xyz").find(item[0]);
    if (axis > 2 || item.size() < 3 || item[1] != ':' || factors.at(axis) != 1) return std::nullopt;
    const auto factor = words::number<unsigned>(item.substr(2));
    if (!factor || *factor < 2 || *factor > most) return std::nullopt;
    factors.at(axis) = *factor;
  }
  if (factors == std::array{1U, 1U, 1U}) return std::nullopt;
  return factors;
}

bool is_order(std::string_view version) {
  constexpr std::array<std::string_view, 6> kinds{"column",        "zigzag",        "swap",
                                                  "linear-column", "linear-zigzag", "thread-swap"};
  return std::ranges::find(kinds, version.substr(0, version.find(':'))) != kinds.end();
}

} // namespace ptxasw::profile
