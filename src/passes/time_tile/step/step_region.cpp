// Finds the blocks that lead to stores.
#include "passes/time_tile/step/step_region.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"

#include <algorithm>
#include <iterator>

namespace ptxasw::passes {

using analysis::BlockId;
using analysis::no_block;
using emulator::Event;
using emulator::EventKind;

bool StepRegion::has(BlockId block) const {
  return std::ranges::find(blocks, block) != blocks.end();
}

namespace {

class RegionFinder {
public:
  explicit RegionFinder(const emulator::Kernel& kernel) : k_(kernel), cfg_(kernel.cfg) {}

  StepRegion run() {
    find_blocks();
    if (region_.blocks.empty()) return refused(Reason::step_stores, "it stores nothing");
    find_guards();
    for (const BlockId block : region_.blocks)
      if (is_fork(block)) region_.forks.push_back(block);
    return std::move(region_);
  }

private:
  StepRegion refused(Reason reason, std::string why) {
    if (region_.refused.empty()) region_.refused = {reason, std::move(why)};
    return std::move(region_);
  }

  void find_blocks() {
    analysis::Worklist work(cfg_.blocks.size());
    const auto add = [&](BlockId block) {
      if (k_.trace.executed[block]) work.add(block);
    };
    for (const Event& event : k_.trace.events) {
      if (event.kind != EventKind::store) continue;
      add(event.block);
      BlockId& head = region_.head;
      if (head == no_block) head = event.block;
      while (!cfg_.dominates(head, event.block))
        head = cfg_.idom[head];
    }
    while (const auto block = work.next())
      std::ranges::for_each(preds_of(*block), add);
    for (const BlockId block : cfg_.rpo)
      if (work.found()[block]) region_.blocks.push_back(block);
  }

  [[nodiscard]] std::vector<BlockId> preds_of(BlockId block) const {
    std::vector<BlockId> preds;
    std::ranges::copy_if(cfg_.blocks[block].preds, std::back_inserter(preds),
                         [&](BlockId from) { return is_forward(cfg_, from, block); });
    return preds;
  }

  // Leads to stores in this trip.
  [[nodiscard]] bool leads(BlockId from, BlockId to) const {
    return region_.has(to) && is_forward(cfg_, from, to);
  }

  [[nodiscard]] bool is_fork(BlockId block) const {
    const auto& succs = cfg_.blocks[block].succs;
    if (succs.size() != 2 || succs[0] == succs[1]) return false;
    const bool both = leads(block, succs[0]) && leads(block, succs[1]);
    // Behind its stores a thread may be done, or store once more.
    return both || (cfg_.dominates(region_.head, block) &&
                    (leads(block, succs[0]) || leads(block, succs[1])));
  }

  // From the head up. Where ways part and meet again in front of it, none of them leaves.
  void find_guards() {
    for (BlockId to = region_.head; cfg_.idom[to] != no_block; to = cfg_.idom[to]) {
      const BlockId from = cfg_.idom[to];
      if (preds_of(to) == std::vector{from}) {
        const auto& succs = cfg_.blocks[from].succs;
        if (succs.size() == 1) continue;
        const ptx::Inst& branch = k_.body.insts[cfg_.blocks[from].end - 1];
        if (succs.size() != 2 || succs[0] == succs[1] || branch.guard == ptx::none) {
          region_.refused =
              at_line(k_.body, branch, Reason::step_guard, "a branch in front of its stores");
          return;
        }
        region_.guards.insert(region_.guards.begin(), {from, to});
        continue;
      }
      for (const BlockId between : region_.blocks) {
        if (!cfg_.dominates(from, between) || cfg_.dominates(to, between)) continue;
        const auto& succs = cfg_.blocks[between].succs;
        if (std::ranges::all_of(succs, [&](BlockId s) { return leads(between, s); })) continue;
        region_.refused = at_line(k_.body, k_.body.insts[cfg_.blocks[between].end - 1],
                                  Reason::step_guard, "several paths lead to its stores");
        return;
      }
    }
  }

  const emulator::Kernel& k_;
  const analysis::Cfg& cfg_;
  StepRegion region_;
};

} // namespace

StepRegion find_region(const emulator::Kernel& kernel) {
  return RegionFinder(kernel).run();
}

std::string why_not_stored(const emulator::Kernel& kernel, const StepRegion& region,
                           const std::multimap<ptx::InstId, unsigned>& groups, unsigned count) {
  std::map<BlockId, std::vector<bool>> stored; // at the begin of a block, on each way to it
  stored[region.head].resize(count);
  for (const BlockId block : region.blocks) {
    const auto begin = stored.find(block);
    if (begin == stored.end()) continue; // in front of the head
    std::vector<bool> now = begin->second;
    const analysis::Block& code = kernel.cfg.blocks[block];
    for (ptx::InstId id = code.first; id < code.end; ++id)
      for (auto [group, end] = groups.equal_range(id); group != end; ++group)
        now[group->second] = true;
    for (const BlockId next : code.succs) {
      if (!region.has(next) || !is_forward(kernel.cfg, block, next)) {
        if (std::ranges::find(now, false) != now.end()) return "some threads do not store";
        continue;
      }
      const auto [known, missing] = stored.try_emplace(next, now);
      for (unsigned n = 0; n < count; ++n)
        known->second[n] = known->second[n] && now[n];
    }
  }
  return {};
}

} // namespace ptxasw::passes
