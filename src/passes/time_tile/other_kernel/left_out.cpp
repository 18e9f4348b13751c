// Goes from what has an effect to all that this needs.
#include "passes/time_tile/other_kernel/left_out.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;

LeftOut::LeftOut(const emulator::Kernel& kernel, std::set<InstId> without,
                 std::set<InstId> replaced)
    : k_(kernel), body_(kernel.body), without_(std::move(without)), replaced_(std::move(replaced)) {
  find_needed();
}

// It has no effect but what it computes.
bool LeftOut::is_computation(InstId id) const {
  const Inst& inst = body_.insts[id];
  return !inst.opaque &&
         (ptx::group(inst.op) == Group::pure ||
          (ptx::group(inst.op) == Group::load && !ptx::effects(body_, inst).ordered));
}

// A branch of which both ways meet again; or no block.
BlockId LeftOut::meets(InstId id) const {
  const Inst& inst = body_.insts[id];
  const BlockId block = k_.cfg.block_of[id];
  if (inst.op != ptx::Op::bra || inst.guard == ptx::none || !k_.cfg.reachable(block))
    return analysis::no_block;
  const BlockId to = k_.cfg.ipdom[block];
  return to == k_.cfg.exit() ? analysis::no_block : to;
}

void LeftOut::find_needed() {
  const auto definitions = analysis::definitions(body_);
  std::vector<InstId> work;
  const auto add = [&](InstId id) {
    if (!without_.contains(id) && needed_.insert(id).second) work.push_back(id);
  };
  const auto add_register = [&](ptx::RegId reg) {
    if (reg != ptx::none) std::ranges::for_each(definitions[reg], add);
  };
  for (InstId id = 0; id < body_.insts.size(); ++id)
    if (!is_computation(id) && !is_branch(id)) add(id);
  do {
    while (!work.empty()) {
      const Inst& inst = body_.insts[work.back()];
      const bool is_replaced = replaced_.contains(work.back());
      work.pop_back();
      if (is_replaced)
        add_register(inst.guard);
      else
        analysis::for_each_use(body_, inst, add_register);
    }
    for (InstId id = 0; id < body_.insts.size(); ++id)
      if (!needed_.contains(id) && is_branch(id) && decides(id)) add(id);
  } while (!work.empty());
}

// Something that is needed is on a way from the branch to where its ways meet.
bool LeftOut::decides(InstId branch) const {
  const auto region = analysis::influence_region(k_.cfg, k_.cfg.block_of[branch]);
  return std::ranges::any_of(needed_, [&](InstId id) {
    return region[k_.cfg.block_of[id]] && ptx::group(body_.insts[id].op) != Group::branch;
  });
}

void LeftOut::add_edits(std::vector<ptx::Edit>& edits, const std::string& label) const {
  std::set<BlockId> labels;
  for (InstId id = 0; id < body_.insts.size(); ++id) {
    if (is_needed(id) || replaced_.contains(id)) continue;
    const BlockId to = meets(id);
    if (to == analysis::no_block) {
      edits.push_back({ptx::range_of(body_, id), ""});
      continue;
    }
    const std::string name = fmt::format("{}{}", label, to);
    edits.push_back({ptx::range_of(body_, id), fmt::format("bra.uni \t{};", name)});
    if (labels.insert(to).second)
      edits.push_back({ptx::ahead_of(body_, k_.cfg.blocks[to].first), name + ":\n\t"});
  }
}

} // namespace ptxasw::passes
