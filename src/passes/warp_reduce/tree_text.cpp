#include "passes/warp_reduce/tree_text.hpp"

#include "analysis/reachability.hpp"

#include <algorithm>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;

bool is_whole_barrier(const ptx::Body& body, const Inst& inst) {
  if (inst.op != ptx::Op::bar && !(inst.op == ptx::Op::barrier && inst.mods.aligned)) return false;
  const auto src = body.src(inst);
  return inst.mods.has(ptx::Sub::sync) && !inst.mods.has(ptx::Sub::warp) &&
         inst.guard == ptx::none && src.size() == 1 && src[0].kind == Arg::Kind::imm &&
         src[0].value == 0;
}

bool TreeText::is_common(const TreeReduction& r) {
  if (!t_.valid() || c_.kind(t_) != sym::Kind::atom) return refuse("it does not depend on %tid.x");
  // Whether a thread comes here hangs on these branches, and on those that they hang on: all
  // threads of the block take them alike. So none has ended, or is in another trip.
  analysis::Worklist work(k_.cfg.blocks.size(), {k_.cfg.block_of[r.begin]});
  while (const auto here = work.next())
    for (BlockId b = 0; b < k_.cfg.blocks.size(); ++b)
      if (decides(b, *here) && work.add(b) && k_.uniformity.branches[b] > analysis::Uniform::block)
        return refuse("threads may end ahead of the tree at line {}, or part from others",
                      line(r.begin));
  return true;
}

// `here` is control-dependent on `b`: sure to be reached by one way out of it, and not by all.
bool TreeText::decides(BlockId b, BlockId here) const {
  const auto& succs = k_.cfg.blocks[b].succs;
  if (succs.size() < 2 || !k_.cfg.reachable(b)) return false;
  if (b != here && k_.cfg.post_dominates(here, b)) return false;
  return std::ranges::any_of(succs, [&](BlockId s) { return k_.cfg.post_dominates(here, s); });
}

bool TreeText::find(TreeReduction& r) {
  if (!is_common(r)) return false;
  const auto inside = [&](InstId inst) { return inst >= r.begin && inst < r.end; };
  for (InstId i = 0; i < k_.body.insts.size(); ++i) {
    const Inst& inst = k_.body.insts[i];
    for (const InstId target : k_.body.targets_of(inst)) {
      const bool into = inside(target) && (target != r.begin || !r.rolled);
      if (!inside(i) && into) return refuse("line {} branches into the tree", line(i));
      if (inside(i) && !inside(target) && target != r.end)
        return refuse("line {} branches out of the tree", line(i));
    }
    if (inside(i) && !belongs(r, i)) return false;
  }
  if (r.barriers.empty()) return refuse("there is no barrier");
  if (r.rolled && r.barriers.size() != 1) return refuse("there are two barriers in the loop");
  return plain_text(r);
}

bool TreeText::belongs(TreeReduction& r, InstId i) {
  const Inst& inst = k_.body.insts[i];
  if (is_whole_barrier(k_.body, inst)) {
    if (!k_.cfg.post_dominates(k_.cfg.block_of[i], k_.cfg.block_of[r.begin]))
      return refuse("not all threads come to the barrier at line {}", line(i));
    r.barriers.push_back(i);
    return true;
  }
  // What has gone through memory ptxas cannot fuse with the sum of the next round.
  if (inst.op == ptx::Op::mul && ptx::is_float(inst.mods.type) &&
      inst.mods.rounding == ptx::Rounding::none)
    return refuse("the product at line {} could be fused with a sum of the next step", line(i));
  const ptx::Group group = ptx::group(inst.op);
  const bool access = (group == ptx::Group::load || group == ptx::Group::store) &&
                      inst.mods.space == ptx::Space::shared && !inst.opaque;
  if (access || group == ptx::Group::pure || inst.op == ptx::Op::bra) return true;
  return refuse("{} at line {} is no part of a tree", ptx::name(inst.op), line(i));
}

// Nothing but instructions and labels, which can be written twice.
bool TreeText::plain_text(const TreeReduction& r) {
  const auto& statements = k_.body.module->statements;
  for (std::uint32_t s = k_.body.insts[r.begin].statement; s < k_.body.insts[r.end - 1].statement;
       ++s)
    switch (statements[s].kind) {
    case ptx::StatementKind::instruction:
    case ptx::StatementKind::label:
    case ptx::StatementKind::location: break;
    case ptx::StatementKind::directive:
      if (k_.body.module->slice(statements[s].range).starts_with(".pragma")) break;
      [[fallthrough]];
    default: return refuse("a scope or declaration stands in the tree at line {}", line(r.begin));
    }
  return true;
}

} // namespace ptxasw::passes
