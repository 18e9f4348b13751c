// Which arrays have one tile in shared memory.
#include "passes/time_tile/sequence/sequence.hpp"

#include <algorithm>
#include <set>

namespace ptxasw::passes {
namespace {

class TileSharing {
public:
  explicit TileSharing(const SequencePlan& plan) : plan_(plan) {}

  std::vector<unsigned> run() {
    std::vector<unsigned> tiles;
    std::vector<std::set<std::size_t>> taken; // by tile
    for (unsigned array = 0; array < plan_.region.arrays.size(); ++array) {
      const std::set<std::size_t> needed = needed_by(array);
      const auto fits = [&](const std::set<std::size_t>& tile) {
        return std::ranges::none_of(needed, [&](std::size_t n) { return tile.contains(n); });
      };
      auto tile = std::ranges::find_if(taken, fits);
      if (tile == taken.end()) tile = taken.insert(taken.end(), std::set<std::size_t>());
      tile->insert(needed.begin(), needed.end());
      tiles.push_back(static_cast<unsigned>(tile - taken.begin()));
    }
    return tiles;
  }

private:
  [[nodiscard]] bool reads_beside(std::size_t stage, unsigned array) const {
    const SequencePlan::Stage& one = plan_.stages[stage % plan_.stages.size()];
    for (std::size_t n = 0; n < one.arrays.size(); ++n)
      for (const StepArray::Load& load : one.plan.arrays[n].loads)
        for (const StepArray::Case& each : load.cases)
          if (one.arrays[n] == array && each.offset != Offset{}) return true;
    return false;
  }

  [[nodiscard]] bool stores(std::size_t stage, unsigned array) const {
    return plan_.stages[stage % plan_.stages.size()].stores(array);
  }

  // Stages for which the tile has to have the array: from one that reads it to the next that does,
  // pass after pass, if none between stores to it. Behind a store it is put there again.
  [[nodiscard]] std::set<std::size_t> needed_by(unsigned array) const {
    const std::size_t count = plan_.stages.size();
    std::set<std::size_t> all;
    for (std::size_t first = 0; first < count; ++first) {
      if (!reads_beside(first, array)) continue;
      all.insert(first);
      for (std::size_t next = first + 1; next <= first + count; ++next) {
        if (stores(next - 1, array)) break;
        if (!reads_beside(next, array)) continue;
        for (std::size_t between = first; between <= next; ++between)
          all.insert(between % count);
        break;
      }
    }
    return all;
  }

  const SequencePlan& plan_;
};

} // namespace

std::vector<unsigned> shared_tiles(const SequencePlan& plan) {
  return TileSharing(plan).run();
}

} // namespace ptxasw::passes
