// A backward walk from the second block that stops at the first; since the first dominates the
// second, the walk cannot leave the region that the first guards.
#include "passes/shared/between.hpp"

#include "analysis/reachability.hpp"

#include <algorithm>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::InstId;

Between::Between(const emulator::Kernel& kernel)
    : kernel_(kernel), events_of_block_(kernel.cfg.blocks.size()),
      definitions_(analysis::definitions(kernel.body)) {
  for (std::size_t e = 0; e < kernel.trace.events.size(); ++e) {
    events_of_block_[kernel.trace.events[e].block].push_back(e);
  }
}

const std::vector<BlockId>& Between::blocks_between(BlockId from, BlockId to) {
  const auto [place, missing] = memo_.try_emplace({from, to});
  if (!missing) return place->second;
  std::vector<BlockId>& blocks = place->second;
  analysis::Worklist work(kernel_.cfg.blocks.size(), {to});
  kernel_.context->spend(4 + kernel_.cfg.blocks.size() / 128);
  work.skip(from);
  while (const auto b = work.next()) {
    kernel_.context->spend(4);
    for (const BlockId pred : kernel_.cfg.blocks[*b].preds)
      if (kernel_.cfg.reachable(pred) && work.add(pred)) blocks.push_back(pred);
  }
  return blocks;
}

std::vector<Between::Span> Between::spans(InstId first, InstId second) {
  const BlockId from = kernel_.cfg.block_of[first], to = kernel_.cfg.block_of[second];
  if (from == to && first < second) return {{from, first + 1, second}};
  std::vector<Span> result;
  result.push_back({from, first + 1, kernel_.cfg.blocks[from].end});
  for (const BlockId b : blocks_between(from, to)) {
    // `to` itself appears when a cycle leads back to it: then all of it lies between.
    result.push_back({b, kernel_.cfg.blocks[b].first, kernel_.cfg.blocks[b].end});
  }
  result.push_back({to, kernel_.cfg.blocks[to].first, second});
  kernel_.context->spend(4 + result.size());
  return result;
}

bool Between::overwritten(InstId first, InstId second, ptx::RegId reg) {
  const auto& places = definitions_[reg];
  if (places.empty() || (places.size() == 1 && places[0] == first)) return false;
  for (const Span& span : spans(first, second)) {
    const auto at = std::ranges::lower_bound(places, span.first);
    if (at != places.end() && *at < span.end) return true;
  }
  return false;
}

} // namespace ptxasw::passes
