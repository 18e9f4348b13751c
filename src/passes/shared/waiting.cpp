// Forward from what each loop asks for, through registers, branches and memory.
#include "passes/shared/waiting.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"

#include <algorithm>
#include <vector>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Space;

namespace {

// A thread's own, or never written. What a call has returned may be what it has loaded.
bool is_private(const ptx::Body& body, const Inst& inst) {
  const Space space = inst.mods.space;
  if (space != Space::param) return space == Space::local || space == Space::const_;
  return std::ranges::all_of(body.addr(inst), [&](const ptx::Address& address) {
    return address.base.kind == ptx::Arg::Kind::symbol &&
           body.symbols[address.base.id].kind == ptx::Symbol::Kind::parameter;
  });
}

bool orders(const ptx::Body& body, const Inst& inst) {
  return ptx::effects(body, inst).ordered && ptx::group(inst.op) != Group::barrier &&
         ptx::group(inst.op) != Group::call;
}

bool is_load(const ptx::Body& body, const Inst& inst) {
  return ptx::group(inst.op) == Group::load && !inst.mods.nc && !is_private(body, inst);
}

bool may_load(const ptx::Body& body, const Inst& inst) {
  return ptx::group(inst.op) == Group::call || is_load(body, inst);
}

// Its result may be another one when it is asked for again.
bool may_see_news(const ptx::Body& body, const Inst& inst) {
  if (ptx::group(inst.op) == Group::atomic) return !body.dst(inst).empty();
  return is_load(body, inst) && (ptx::effects(body, inst).ordered || is_done_anew(inst));
}

// One loop: what depends on what it asks for.
class News {
public:
  News(const emulator::Kernel& kernel, const analysis::Loop& loop)
      : k_(kernel), loop_(loop), registers_(kernel.body.registers.size(), false),
        blocks_(kernel.cfg.blocks.size(), false), inside_(kernel.cfg.blocks.size(), false) {
    for (const BlockId b : loop.blocks)
      inside_[b] = true;
  }

  // What it waits with; null if it does not.
  const Inst* find() {
    const auto any = [&](const auto& what) {
      for (const BlockId b : loop_.blocks) {
        for (InstId id = k_.cfg.blocks[b].first; id < k_.cfg.blocks[b].end; ++id)
          if (what(k_.body.insts[id])) return &k_.body.insts[id];
      }
      return static_cast<const Inst*>(nullptr);
    };
    const bool ordered = any([&](const Inst& inst) { return orders(k_.body, inst); }) != nullptr;
    const auto asks = [&](const Inst& inst) {
      return may_see_news(k_.body, inst) || (ordered && may_load(k_.body, inst));
    };
    const Inst* first = any([&](const Inst& inst) { return may_see_news(k_.body, inst); });
    if (first == nullptr) first = any(asks);
    if (first == nullptr) return nullptr;
    for (bool more = true; more;) {
      more = false;
      for (const BlockId b : loop_.blocks)
        more |= spread(b, asks);
    }
    // Two loops with one start are one here: the way back of the inner one is no exit of it.
    const bool waits =
        std::ranges::any_of(loop_.exits, [&](const auto& edge) { return decides(edge.first); }) ||
        std::ranges::any_of(loop_.latches, [&](BlockId latch) { return decides(latch); });
    return waits ? first : nullptr;
  }

private:
  template <class Asks> bool spread(BlockId b, const Asks& asks) {
    bool more = false;
    for (InstId id = k_.cfg.blocks[b].first; id < k_.cfg.blocks[b].end; ++id) {
      const Inst& inst = k_.body.insts[id];
      if (!asks(inst) && !depends(b, inst)) continue;
      const ptx::Effects effects = ptx::effects(k_.body, inst);
      if (effects.writes_memory && !stored_) stored_ = more = true;
      analysis::for_each_definition(k_.body, inst, [&](ptx::RegId reg) {
        more |= !registers_[reg];
        registers_[reg] = true;
      });
      if (effects.branches || effects.terminates) more |= spread_to_ways(b);
    }
    return more;
  }

  [[nodiscard]] bool depends(BlockId b, const Inst& inst) const {
    bool reads = blocks_[b] || (stored_ && is_load(k_.body, inst));
    analysis::for_each_use(k_.body, inst, [&](ptx::RegId reg) { reads |= bool{registers_[reg]}; });
    return reads;
  }

  // Whether these blocks are run hangs on the branch.
  bool spread_to_ways(BlockId branch) {
    bool more = false;
    analysis::Worklist work(blocks_.size(), {branch});
    while (const auto b = work.next())
      for (const BlockId next : k_.cfg.blocks[*b].succs) {
        if (next == k_.cfg.ipdom[branch] || !inside_[next] || blocks_[next]) continue;
        blocks_[next] = more = work.add(next);
      }
    return more;
  }

  [[nodiscard]] bool decides(BlockId b) const {
    const analysis::Block& block = k_.cfg.blocks[b];
    return block.first == block.end || depends(b, k_.body.insts[block.end - 1]);
  }

  const emulator::Kernel& k_;
  const analysis::Loop& loop_;
  std::vector<bool> registers_, blocks_, inside_;
  bool stored_ = false;
};

} // namespace

bool is_done_anew(const Inst& load) {
  const ptx::Cache cache = load.mods.cache;
  return cache != ptx::Cache::none && cache != ptx::Cache::ca;
}

Why why_it_waits(const emulator::Kernel& kernel) {
  const auto because = [&](const Inst& inst) {
    return at_line(kernel.body, inst, Reason::polling,
                   "its loop may wait for what another thread stores");
  };
  for (const analysis::Loop& loop : kernel.loops.loops) {
    if (const Inst* inst = News(kernel, loop).find()) return because(*inst);
  }
  // Cycles that are no loops have no exits to look at.
  for (InstId id = 0; id < kernel.body.insts.size(); ++id) {
    const Inst& inst = kernel.body.insts[id];
    if (kernel.loops.irreducible_blocks[kernel.cfg.block_of[id]] &&
        (orders(kernel.body, inst) || may_see_news(kernel.body, inst)))
      return because(inst);
  }
  return {};
}

} // namespace ptxasw::passes
