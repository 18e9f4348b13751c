// The spatial-temporal diagram: address over time, what is brought in, what hits, and what stays in
// the cache. One panel per order, side by side.
#pragma once

#include "cachesim/stream.hpp"

#include <string>
#include <vector>

namespace ptxasw::cachesim {

// Memory that gets a band of its own on the axis of addresses.
struct Region {
  std::string name;
  std::uint64_t base = 0, bytes = 0;
};

// What happened to the cache in one order, collected while it is simulated.
class CachePanel {
public:
  CachePanel(std::string title, const CacheShape& cache)
      : title_(std::move(title)), cache_(cache) {}
  [[nodiscard]] CacheObserver observer();
  void finish(const CacheCounts& counts) { counts_ = counts; }

private:
  friend class CacheDrawing;
  struct Stay { // of a line in the cache
    std::uint64_t line = 0, from = 0, to = 0;
  };
  struct Mark {
    std::uint64_t step = 0, address = 0;
    std::uint32_t bytes = 0;
    bool hit = false;
  };
  std::string title_;
  CacheShape cache_;
  CacheCounts counts_;
  std::uint64_t steps_ = 0;
  std::vector<Stay> stays_;
  std::vector<Mark> marks_;
  std::unordered_map<std::uint64_t, std::uint64_t> since_; // lines that are in now
};

// A whole SVG document; `group` as in CacheRun, for the axis of time. Empty when there is
// more to draw than a picture can show.
std::string cache_svg(std::vector<CachePanel>& panels, const std::vector<Region>& regions,
                      unsigned group = 1);

} // namespace ptxasw::cachesim
