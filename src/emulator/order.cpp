// Kahn's algorithm on the graph without back edges. Among the ready blocks the one in the deepest
// loop that is still open goes first: since a reducible loop is entered through its header alone,
// some block of an open loop is always ready until the loop is complete.
#include "emulator/order.hpp"

namespace ptxasw::emulator {

using analysis::BlockId;

namespace {

bool is_back_edge(const analysis::Cfg& cfg, BlockId from, BlockId to) {
  return cfg.dominates(to, from);
}

} // namespace

std::vector<BlockId> emulation_order(const analysis::Cfg& cfg, const analysis::LoopForest& loops) {
  std::vector<unsigned> waiting(cfg.blocks.size(), 0);
  for (const BlockId b : cfg.rpo) {
    for (const BlockId succ : cfg.blocks[b].succs) {
      if (!is_back_edge(cfg, b, succ)) ++waiting[succ];
    }
  }
  std::vector<BlockId> order;
  std::vector<std::uint32_t> open; // stack of loops whose header has been emitted
  std::vector<unsigned> left(loops.loops.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<unsigned>(loops.loops[i].blocks.size());
  }
  // Ready blocks by innermost loop; the last list is for blocks outside every loop.
  std::vector<std::vector<BlockId>> ready(loops.loops.size() + 1);
  const auto slot = [&](BlockId b) -> std::vector<BlockId>& {
    const std::uint32_t loop = loops.innermost[b];
    // A header is entered from the loop around it.
    if (loop == ~0U) return ready.back();
    if (loops.loops[loop].header != b) return ready[loop];
    const std::uint32_t parent = loops.loops[loop].parent;
    return parent == ~0U ? ready.back() : ready[parent];
  };
  const auto next_ready = [&]() -> std::vector<BlockId>* {
    for (auto loop = open.rbegin(); loop != open.rend(); ++loop) {
      if (!ready[*loop].empty()) return &ready[*loop];
    }
    return ready.back().empty() ? nullptr : &ready.back();
  };

  ready.back().push_back(cfg.entry());
  while (auto* list = next_ready()) {
    const BlockId b = list->back();
    list->pop_back();
    if (b != cfg.exit()) order.push_back(b);
    if (loops.innermost[b] != ~0U && loops.loops[loops.innermost[b]].header == b) {
      open.push_back(loops.innermost[b]);
    }
    for (std::uint32_t loop = loops.innermost[b]; loop != ~0U; loop = loops.loops[loop].parent) {
      --left[loop];
    }
    while (!open.empty() && left[open.back()] == 0)
      open.pop_back();
    for (const BlockId succ : cfg.blocks[b].succs) {
      if (!is_back_edge(cfg, b, succ) && --waiting[succ] == 0) slot(succ).push_back(succ);
    }
  }
  return order;
}

} // namespace ptxasw::emulator
