// Walks along the edges of a graph, and which blocks a block leads to.
#pragma once

#include "analysis/cfg.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptxasw::analysis {

// The nodes that a walk has found, of a graph whose nodes are numbers: blocks, instructions,
// registers. Each is looked at once.
class Worklist {
public:
  using Node = std::uint32_t;
  // The walk begins at `start`, which is found only where something leads back to it.
  explicit Worklist(std::size_t nodes, std::vector<Node> start = {})
      : found_(nodes, false), open_(std::move(start)) {}

  // False if it has been found before.
  bool add(Node node) {
    if (found_[node]) return false;
    open_.push_back(node);
    return found_[node] = true;
  }
  void add(const std::vector<Node>& nodes) {
    for (const Node node : nodes)
      add(node);
  }
  // The walk goes around it.
  void skip(Node node) { found_[node] = true; }
  // To be looked at next; nothing if all have been.
  std::optional<Node> next() {
    if (open_.empty()) return std::nullopt;
    const Node node = open_.back();
    open_.pop_back();
    return node;
  }
  [[nodiscard]] const std::vector<bool>& found() const { return found_; }

private:
  std::vector<bool> found_;
  std::vector<Node> open_;
};

// By BlockId: the blocks on a way from the end of `from` that does not go through `stop`; `from`
// itself is one of them if a way leads back to it.
std::vector<bool> reached_from(const Cfg& cfg, BlockId from, BlockId stop = no_block);

// What lies between a branch and its immediate post-dominator, where all ways from it have joined;
// up to the exit and in endless loops where it has none.
inline std::vector<bool> influence_region(const Cfg& cfg, BlockId branch) {
  return reached_from(cfg, branch, cfg.ipdom[branch]);
}

} // namespace ptxasw::analysis
