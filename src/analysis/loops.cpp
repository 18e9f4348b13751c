// The loop forest. Natural loops come from back edges (whose target dominates their source);
// irreducible cycles are found by splitting strongly connected components: a component with one
// entry is a loop and is searched again without that entry, one with several is irreducible.
#include "analysis/reachability.hpp"

#include <algorithm>

namespace ptxasw::analysis {

namespace {

constexpr std::uint32_t none = ~0U;

// Strongly connected components of the subgraph of blocks with `region[b] == id` (Tarjan, without
// recursion).
class Components {
public:
  Components(const Cfg& cfg, const std::vector<std::uint32_t>& region, std::uint32_t id)
      : cfg_(cfg), region_(region), id_(id) {}

  std::vector<std::vector<BlockId>> find(std::span<const BlockId> blocks) {
    index_.assign(cfg_.blocks.size(), none);
    low_.assign(cfg_.blocks.size(), none);
    on_stack_.assign(cfg_.blocks.size(), false);
    for (const BlockId b : blocks)
      if (index_[b] == none) visit(b);
    return std::move(found_);
  }

private:
  void enter(BlockId b) {
    index_[b] = low_[b] = next_++;
    stack_.push_back(b);
    on_stack_[b] = true;
    path_.emplace_back(b, 0);
  }

  void leave(BlockId b) {
    path_.pop_back();
    if (!path_.empty()) {
      const BlockId parent = path_.back().first;
      low_[parent] = std::min(low_[parent], low_[b]);
    }
    if (low_[b] != index_[b]) return;
    std::vector<BlockId> component;
    BlockId top = no_block;
    do {
      top = stack_.back();
      stack_.pop_back();
      on_stack_[top] = false;
      component.push_back(top);
    } while (top != b);
    found_.push_back(std::move(component));
  }

  void visit(BlockId root) {
    enter(root);
    while (!path_.empty()) {
      auto& [b, next] = path_.back();
      const auto& succs = cfg_.blocks[b].succs;
      if (next == succs.size()) {
        leave(b);
        continue;
      }
      const BlockId to = succs[next++];
      if (region_[to] != id_) continue;
      if (index_[to] == none)
        enter(to);
      else if (on_stack_[to])
        low_[b] = std::min(low_[b], index_[to]);
    }
  }

  const Cfg& cfg_;
  const std::vector<std::uint32_t>& region_;
  std::uint32_t id_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> index_, low_;
  std::vector<bool> on_stack_;
  std::vector<BlockId> stack_;
  std::vector<std::pair<BlockId, std::size_t>> path_;
  std::vector<std::vector<BlockId>> found_;
};

bool is_cycle(const Cfg& cfg, const std::vector<BlockId>& component) {
  const auto& succs = cfg.blocks[component.front()].succs;
  return component.size() > 1 || std::ranges::find(succs, component.front()) != succs.end();
}

// Blocks of a component where control can come in from outside it.
std::vector<BlockId> entries(const Cfg& cfg, const std::vector<BlockId>& component) {
  std::vector<BlockId> result;
  for (const BlockId b : component) {
    const bool enters =
        b == cfg.entry() || std::ranges::any_of(cfg.blocks[b].preds, [&](BlockId p) {
          return cfg.reachable(p) && std::ranges::find(component, p) == component.end();
        });
    if (enters) result.push_back(b);
  }
  return result;
}

std::vector<bool> irreducible_blocks(const Cfg& cfg) {
  std::vector<bool> result(cfg.blocks.size(), false);
  std::vector<std::uint32_t> region(cfg.blocks.size(), none);
  std::vector<std::vector<BlockId>> work{cfg.rpo};
  for (std::uint32_t id = 0; !work.empty(); ++id) {
    const std::vector<BlockId> blocks = std::move(work.back());
    work.pop_back();
    for (const BlockId b : blocks)
      region[b] = id;
    for (auto& component : Components(cfg, region, id).find(blocks)) {
      if (!is_cycle(cfg, component)) continue;
      std::ranges::sort(component);
      const auto ways_in = entries(cfg, component);
      if (ways_in.size() == 1) {
        std::erase(component, ways_in.front());
        work.push_back(std::move(component));
      } else {
        for (const BlockId b : component)
          result[b] = true;
      }
    }
  }
  return result;
}

std::vector<BlockId> natural_loop(const Cfg& cfg, BlockId header,
                                  const std::vector<BlockId>& latches) {
  Worklist work(cfg.blocks.size());
  work.skip(header);
  work.add(latches);
  while (const auto b = work.next())
    for (const BlockId p : cfg.blocks[*b].preds)
      if (cfg.reachable(p)) work.add(p);
  std::vector<BlockId> blocks;
  for (BlockId b = 0; b < cfg.blocks.size(); ++b)
    if (work.found()[b]) blocks.push_back(b);
  return blocks;
}

std::vector<std::pair<BlockId, BlockId>> exit_edges(const Cfg& cfg,
                                                    const std::vector<BlockId>& blocks) {
  std::vector<std::pair<BlockId, BlockId>> edges;
  for (const BlockId b : blocks)
    for (const BlockId to : cfg.blocks[b].succs)
      if (!std::ranges::binary_search(blocks, to)) edges.emplace_back(b, to);
  return edges;
}

} // namespace

LoopForest find_loops(const Cfg& cfg) {
  LoopForest forest;
  forest.innermost.assign(cfg.blocks.size(), none);
  forest.irreducible_blocks.assign(cfg.blocks.size(), false);
  bool reducible = true;
  // In reverse post-order an outer loop's header comes before the inner ones'.
  for (const BlockId header : cfg.rpo) {
    Loop loop;
    loop.header = header;
    for (const BlockId p : cfg.blocks[header].preds) {
      if (!cfg.reachable(p) || cfg.rpo_index[p] < cfg.rpo_index[header]) continue;
      if (!cfg.dominates(header, p))
        reducible = false;
      else if (std::ranges::find(loop.latches, p) == loop.latches.end())
        loop.latches.push_back(p);
    }
    if (loop.latches.empty()) continue;
    loop.blocks = natural_loop(cfg, header, loop.latches);
    loop.exits = exit_edges(cfg, loop.blocks);
    loop.parent = forest.innermost[header];
    loop.depth = loop.parent == none ? 1 : forest.loops[loop.parent].depth + 1;
    for (const BlockId b : loop.blocks)
      forest.innermost[b] = static_cast<std::uint32_t>(forest.loops.size());
    forest.loops.push_back(std::move(loop));
  }
  forest.irreducible = !reducible;
  if (!reducible) forest.irreducible_blocks = irreducible_blocks(cfg);
  return forest;
}

bool LoopForest::contains(std::uint32_t loop, BlockId block) const {
  std::uint32_t at = innermost[block];
  while (at != none && at != loop)
    at = loops[at].parent;
  return at == loop && loop != none;
}

} // namespace ptxasw::analysis
