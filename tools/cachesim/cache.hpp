// A cache that replaces the line used longest ago, and how to describe one. Lines stand in sets of
// `ways`; with ways = 0 any line may stand anywhere, which is the cache of the closed forms in
// cachesim/columns.hpp.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::cachesim {

struct CacheShape {
  std::uint64_t lines = 24;
  unsigned line_bytes = 16;
  std::uint64_t ways = 0;     // 0: as many as lines
  unsigned element_bytes = 4; // what the user counts in
  [[nodiscard]] unsigned width() const { return line_bytes / element_bytes; } // elements per line
  friend bool operator==(const CacheShape&, const CacheShape&) = default;
};

// "lines:24,width:4[,ways:2][,element:8]": width in elements of `element` bytes (4); "bytes:128"
// says the line's size instead of the width, "size:32768" that of all lines instead of their
// number.
tl::expected<CacheShape, std::string> read_cache(std::string_view text);
std::string text_of(const CacheShape& shape); // "24 lines of 4 elements"

class Cache {
public:
  // The shape must be one that read_cache gives.
  explicit Cache(const CacheShape& shape);

  struct Outcome {
    bool hit = false;
    std::optional<std::uint64_t> evicted; // the line that made place
  };
  // Uses line number `line` (address / line_bytes), bringing it in if need be.
  Outcome touch(std::uint64_t line);

private:
  // A line in its set's list, which runs from the one used last to the one used longest ago.
  struct Slot {
    std::uint64_t line = 0;
    std::uint32_t newer = 0, older = 0;
  };
  struct Set {
    std::uint32_t newest = none, oldest = none;
    std::uint64_t used = 0;
  };
  static constexpr std::uint32_t none = ~0U;
  void unlink(Set& set, std::uint32_t at);
  void put_first(Set& set, std::uint32_t at);

  std::uint64_t ways_;
  std::vector<Set> sets_;
  std::vector<Slot> slots_;
  std::unordered_map<std::uint64_t, std::uint32_t> where_;
};

} // namespace ptxasw::cachesim
