// Dominator trees of plain graphs, by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast
// Dominance Algorithm", 2001). Used on the control-flow graph for dominators and on its reverse for
// post-dominators.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ptxasw::analysis {

using Neighbours = std::function<std::span<const std::uint32_t>(std::uint32_t)>;

// Reverse post-order of the nodes that `root` reaches, `root` first. Needs no call stack.
std::vector<std::uint32_t> reverse_post_order(std::size_t nodes, std::uint32_t root,
                                              const Neighbours& succs);

// The position of each node in `order`; ~0 for nodes that are not in it.
std::vector<std::uint32_t> positions(std::size_t nodes, std::span<const std::uint32_t> order);

// Immediate dominator of each node, ~0 for the root and for what it does not reach. `order` is a
// reverse post-order from the root.
std::vector<std::uint32_t> immediate_dominators(std::span<const std::uint32_t> order,
                                                std::span<const std::uint32_t> position,
                                                const Neighbours& preds);

// Depth-first intervals of a dominator tree: a is an ancestor of b (or b itself) exactly if
// first[a] <= first[b] < end[a]. Nodes outside the tree have empty intervals.
struct TreeIntervals {
  std::vector<std::uint32_t> first, end;
  [[nodiscard]] bool contains(std::uint32_t a, std::uint32_t b) const {
    return first[a] <= first[b] && first[b] < end[a];
  }
};
TreeIntervals tree_intervals(std::span<const std::uint32_t> order,
                             std::span<const std::uint32_t> idom);

} // namespace ptxasw::analysis
