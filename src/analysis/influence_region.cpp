// A walk along the edges that stops where the ways join.
#include "analysis/influence_region.hpp"

namespace ptxasw::analysis {

std::vector<bool> influence_region(const Cfg& cfg, BlockId branch) {
  std::vector<bool> inside(cfg.blocks.size(), false);
  std::vector<BlockId> work{branch};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId next : cfg.blocks[block].succs) {
      if (next == cfg.ipdom[branch] || inside[next]) continue;
      inside[next] = true;
      work.push_back(next);
    }
  }
  return inside;
}

} // namespace ptxasw::analysis
