// Counters are called KIND.WHAT.
#include "store/usage.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ptxasw::store {

std::vector<KindUsage> usage_of(const Counts& counts) {
  constexpr std::array<std::pair<std::string_view, std::int64_t KindUsage::*>, 6> known{{
      {"hits", &KindUsage::hits},
      {"remote_hits", &KindUsage::remote_hits},
      {"misses", &KindUsage::misses},
      {"written", &KindUsage::written},
      {"remote_written", &KindUsage::remote_written},
      {"broken", &KindUsage::broken},
  }};
  std::vector<KindUsage> result;
  for (const auto& [name, value] : counts) {
    const std::size_t point = name.rfind('.');
    if (point == std::string::npos) continue;
    const auto what = std::ranges::find(known, std::string_view(name).substr(point + 1),
                                        [](const auto& row) { return row.first; });
    if (what == known.end()) continue;
    const std::string kind = name.substr(0, point);
    if (result.empty() || result.back().kind != kind) result.push_back({.kind = kind});
    result.back().*what->second = value;
  }
  return result;
}

} // namespace ptxasw::store
