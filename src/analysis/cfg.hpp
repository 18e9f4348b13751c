// Control-flow graph of a resolved body, with dominators and post-dominators.
#pragma once

#include "analysis/dominators.hpp"
#include "ptx/body.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace ptxasw::analysis {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = ~0U;

struct Block {
  ptx::InstId first = 0, end = 0; // instructions [first, end); the exit block is empty
  // In target order: a conditional bra has {taken, fall-through}. An edge that two targets name
  // stands twice, in both lists.
  std::vector<BlockId> succs, preds;
};

// Blocks in program order; the last one is a virtual exit that every ret, exit and trap reaches. A
// predicated ret, exit or trap ends its block and also falls through.
struct Cfg {
  std::vector<Block> blocks;
  std::vector<BlockId> block_of;        // per instruction
  std::vector<BlockId> rpo;             // reverse post-order of the reachable blocks, entry first
  std::vector<std::uint32_t> rpo_index; // per block, ~0 if unreachable
  std::vector<BlockId> idom;  // immediate dominator, no_block for the entry and unreachable ones
  std::vector<BlockId> ipdom; // immediate post-dominator; no_block: none (exit, endless loops)
  TreeIntervals dominator_tree, post_dominator_tree; // behind dominates() and post_dominates()
  [[nodiscard]] BlockId entry() const { return 0; }
  [[nodiscard]] BlockId exit() const { return static_cast<BlockId>(blocks.size() - 1); }
  [[nodiscard]] bool reachable(BlockId b) const { return rpo_index[b] != ~0U; }
  // Reflexive. Nothing else (post-)dominates a block that is unreachable (that cannot leave).
  [[nodiscard]] bool dominates(BlockId a, BlockId b) const;
  [[nodiscard]] bool post_dominates(BlockId a, BlockId b) const;
  // Instruction a is executed before b on every path to b (within a block: comes first).
  [[nodiscard]] bool dominates_inst(ptx::InstId a, ptx::InstId b) const;
};

Cfg build_cfg(const ptx::Body& body);

// Natural loops. `irreducible` says that some cycle has more than one entry; such cycles are not in
// the forest and their blocks are in `irreducible_blocks`.
struct Loop {
  BlockId header = no_block;
  std::vector<BlockId> blocks;                    // sorted, header included, inner loops included
  std::vector<BlockId> latches;                   // sources of back edges
  std::vector<std::pair<BlockId, BlockId>> exits; // edges that leave the loop
  std::uint32_t parent = ~0U;                     // enclosing loop
  std::uint32_t depth = 1;
};
struct LoopForest {
  std::vector<Loop> loops;              // outer loops before inner ones
  std::vector<std::uint32_t> innermost; // per block: loop index or ~0
  std::vector<bool> irreducible_blocks; // per block
  bool irreducible = false;
  [[nodiscard]] bool contains(std::uint32_t loop, BlockId block) const;
};
LoopForest find_loops(const Cfg& cfg);

} // namespace ptxasw::analysis
