// Dominator trees: see the header for the algorithm's source.
#include "analysis/dominators.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::analysis {

namespace {

constexpr std::uint32_t absent = ~0U;

} // namespace

std::vector<std::uint32_t> reverse_post_order(std::size_t nodes, std::uint32_t root,
                                              const Neighbours& succs) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(nodes, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}}; // node, next neighbour
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    const auto out = succs(node);
    if (next == out.size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t to = out[next++];
    if (!seen[to]) {
      seen[to] = true;
      stack.emplace_back(to, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<std::uint32_t> positions(std::size_t nodes, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> position(nodes, absent);
  for (std::uint32_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;
  return position;
}

std::vector<std::uint32_t> immediate_dominators(std::span<const std::uint32_t> order,
                                                std::span<const std::uint32_t> position,
                                                const Neighbours& preds) {
  std::vector<std::uint32_t> idom(position.size(), absent);
  const std::uint32_t root = order.front();
  idom[root] = root; // as the algorithm wants it; undone at the end
  const auto intersect = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (position[a] > position[b])
        a = idom[a];
      while (position[b] > position[a])
        b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t node : order.subspan(1)) {
      std::uint32_t best = absent;
      for (const std::uint32_t pred : preds(node)) {
        if (position[pred] == absent || idom[pred] == absent) continue;
        best = best == absent ? pred : intersect(pred, best);
      }
      changed |= idom[node] != best;
      idom[node] = best;
    }
  }
  idom[root] = absent;
  return idom;
}

TreeIntervals tree_intervals(std::span<const std::uint32_t> order,
                             std::span<const std::uint32_t> idom) {
  // A parent comes before its children in `order`: sizes add up from the back, and each node's
  // interval is cut from its parent's, front to back.
  std::vector<std::uint32_t> size(idom.size(), 0), used(idom.size(), 1);
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    ++size[*node];
    if (idom[*node] != absent) size[idom[*node]] += size[*node];
  }
  TreeIntervals tree{std::vector<std::uint32_t>(idom.size(), absent),
                     std::vector<std::uint32_t>(idom.size(), 0)};
  for (const std::uint32_t node : order) {
    const std::uint32_t parent = idom[node];
    tree.first[node] = parent == absent ? 0 : tree.first[parent] + used[parent];
    tree.end[node] = tree.first[node] + size[node];
    if (parent != absent) used[parent] += size[node];
  }
  return tree;
}

} // namespace ptxasw::analysis
