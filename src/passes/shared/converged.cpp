// Climbs the dominators of the block, and on the way looks at every block from which control can
// still come without passing the dominator again.
#include "passes/shared/converged.hpp"

#include "ptx/body.hpp"

#include <algorithm>

namespace ptxasw::passes {

using analysis::BlockId;

namespace {

bool calls(const emulator::Kernel& kernel, BlockId block) {
  const analysis::Block& b = kernel.cfg.blocks[block];
  const auto insts = std::span(kernel.body.insts).subspan(b.first, b.end - b.first);
  return std::ranges::any_of(
      insts, [&](const ptx::Inst& inst) { return ptx::effects(kernel.body, inst).calls; });
}

} // namespace

BlockId ahead_of_loops(const emulator::Kernel& kernel, BlockId block) {
  const analysis::Cfg& cfg = kernel.cfg;
  const auto depth = [&](BlockId b) {
    const std::uint32_t loop = kernel.loops.innermost[b];
    return loop == ~0U ? 0 : kernel.loops.loops[loop].depth;
  };
  std::vector<bool> seen(cfg.blocks.size(), false);
  std::vector<BlockId> between;
  const auto reach = [&](BlockId b) {
    if (seen[b] || !cfg.reachable(b)) return;
    seen[b] = true;
    between.push_back(b);
  };
  BlockId best = block;
  reach(block);
  for (BlockId from = cfg.idom[block]; from != analysis::no_block && depth(best) != 0;
       from = cfg.idom[from]) {
    seen[from] = true; // where the walk stops
    while (!between.empty()) {
      const BlockId b = between.back();
      between.pop_back();
      if (kernel.uniformity.divergent(b) || calls(kernel, b)) return best;
      std::ranges::for_each(cfg.blocks[b].preds, reach);
    }
    if (kernel.uniformity.divergent(from)) return best;
    if (depth(from) < depth(best)) best = from;
    between.push_back(from); // no stop for the next one
  }
  return best;
}

} // namespace ptxasw::passes
