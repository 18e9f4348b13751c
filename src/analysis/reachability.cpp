// A walk along the edges.
#include "analysis/reachability.hpp"

namespace ptxasw::analysis {

std::vector<bool> reached_from(const Cfg& cfg, BlockId from, BlockId stop) {
  Worklist work(cfg.blocks.size(), {from});
  while (const auto block = work.next())
    for (const BlockId next : cfg.blocks[*block].succs)
      if (next != stop) work.add(next);
  return work.found();
}

} // namespace ptxasw::analysis
