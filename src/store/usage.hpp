// What a store was asked for and has, for people: `ptxasw stats`.
#pragma once

#include "store/folder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::store {

// Entries of one kind, counted since the folder was made.
struct KindUsage {
  std::string kind; // "decisions", "images"
  std::int64_t hits = 0, remote_hits = 0, misses = 0, written = 0, remote_written = 0, broken = 0;
  [[nodiscard]] std::int64_t asked() const { return hits + remote_hits + misses; }
};

// By kind; what a counter's name does not tell apart is left out.
[[nodiscard]] std::vector<KindUsage> usage_of(const Counts& counts);

} // namespace ptxasw::store
