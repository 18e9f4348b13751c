// Builds the control-flow graph: cuts the body at branch targets and behind whatever may leave the
// straight line, links the blocks, then orders them and computes both dominator trees.
#include "analysis/cfg.hpp"

#include <algorithm>

namespace ptxasw::analysis {

namespace {

bool is_branch(const ptx::Inst& inst) {
  return inst.op == ptx::Op::bra || inst.op == ptx::Op::brx;
}

bool leaves(const ptx::Inst& inst) {
  return inst.op == ptx::Op::ret || inst.op == ptx::Op::exit || inst.op == ptx::Op::trap;
}

void cut_blocks(const ptx::Body& body, Cfg& cfg) {
  const auto count = static_cast<ptx::InstId>(body.insts.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = leader[count] = true;
  for (ptx::InstId i = 0; i < count; ++i) {
    const ptx::Inst& inst = body.insts[i];
    if (is_branch(inst) || leaves(inst)) leader[i + 1] = true;
    for (const ptx::InstId target : body.targets_of(inst))
      leader[std::min(target, count)] = true;
  }
  cfg.block_of.reserve(count);
  for (ptx::InstId i = 0; i < count; ++i) {
    if (leader[i]) cfg.blocks.push_back({i, i, {}, {}});
    cfg.blocks.back().end = i + 1;
    cfg.block_of.push_back(static_cast<BlockId>(cfg.blocks.size() - 1));
  }
  cfg.blocks.push_back({count, count, {}, {}}); // the virtual exit
}

void link_blocks(const ptx::Body& body, Cfg& cfg) {
  const BlockId exit = cfg.exit();
  for (BlockId b = 0; b < exit; ++b) {
    const ptx::Inst& last = body.insts[cfg.blocks[b].end - 1];
    auto& succs = cfg.blocks[b].succs;
    if (is_branch(last)) {
      for (const ptx::InstId target : body.targets_of(last))
        succs.push_back(target < cfg.block_of.size() ? cfg.block_of[target] : exit);
    }
    if (leaves(last)) succs.push_back(exit);
    const bool falls_through = last.guard != ptx::none || !(is_branch(last) || leaves(last));
    if (falls_through) succs.push_back(b + 1);
    for (const BlockId to : succs)
      cfg.blocks[to].preds.push_back(b);
  }
}

} // namespace

Cfg build_cfg(const ptx::Body& body) {
  Cfg cfg;
  cut_blocks(body, cfg);
  link_blocks(body, cfg);
  const auto succs = [&](BlockId b) { return std::span<const BlockId>(cfg.blocks[b].succs); };
  const auto preds = [&](BlockId b) { return std::span<const BlockId>(cfg.blocks[b].preds); };
  const std::size_t count = cfg.blocks.size();

  cfg.rpo = reverse_post_order(count, cfg.entry(), succs);
  cfg.rpo_index = positions(count, cfg.rpo);
  cfg.idom = immediate_dominators(cfg.rpo, cfg.rpo_index, preds);
  cfg.dominator_tree = tree_intervals(cfg.rpo, cfg.idom);

  const auto reverse = reverse_post_order(count, cfg.exit(), preds);
  cfg.ipdom = immediate_dominators(reverse, positions(count, reverse), succs);
  cfg.post_dominator_tree = tree_intervals(reverse, cfg.ipdom);
  return cfg;
}

bool Cfg::dominates(BlockId a, BlockId b) const {
  return a == b || dominator_tree.contains(a, b);
}

bool Cfg::post_dominates(BlockId a, BlockId b) const {
  return a == b || post_dominator_tree.contains(a, b);
}

bool Cfg::dominates_inst(ptx::InstId a, ptx::InstId b) const {
  if (block_of[a] == block_of[b]) return a < b;
  return dominates(block_of[a], block_of[b]);
}

} // namespace ptxasw::analysis
