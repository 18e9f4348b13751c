// Backward from stores and branches, over pairs of register and copy.
#include "passes/coarsen/cost/guard_cost.hpp"

#include "target/numbers.hpp"

#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace ptxasw::passes {

using ptx::Inst;
using ptx::InstId;
using ptx::RegId;

namespace {

class Needed {
public:
  // `plan` none: one copy, nothing covered.
  Needed(const emulator::Kernel& kernel, const BlockPlan* plan, std::span<const double> cycles)
      : k_(kernel), plan_(plan), definitions_(analysis::definitions(kernel.body)) {
    for (std::size_t e = 0; e < cycles.size(); ++e)
      cycles_.emplace(k_.trace.events[e].inst, cycles[e]);
    if (plan_ == nullptr) return;
    for (const BlockLoad& load : plan_->loads)
      load_of_.emplace(k_.trace.events[load.event].inst, &load);
  }

  CopyWork run() {
    for (InstId i = 0; i < k_.body.insts.size(); ++i) {
      const ptx::Group group = ptx::group(k_.body.insts[i].op);
      if (group == ptx::Group::pure || group == ptx::Group::load || group == ptx::Group::texture)
        continue;
      for (unsigned copy = 0; copy < copies_of(i); ++copy)
        need(i, copy);
    }
    while (!work_.empty()) {
      const auto [reg, copy] = work_.back();
      work_.pop_back();
      for (const InstId definition : definitions_[reg])
        need(definition, copies_of(definition) == 1 ? 0 : copy);
    }
    return sum_;
  }

private:
  [[nodiscard]] unsigned copies_of(InstId inst) const {
    const bool several =
        plan_ != nullptr && plan_->replica_divergence.differs(k_.body, k_.body.insts[inst]);
    return several ? plan_->count() : 1;
  }

  void need(InstId id, unsigned copy) {
    if (!k_.trace.executed[k_.cfg.block_of[id]] || !seen_.emplace(id, copy).second) return;
    const Inst& inst = k_.body.insts[id];
    if (const CopyLoad* covered = covered_load(id, copy)) {
      const Source& source = *covered->from;
      if (inst.guard != ptx::none) need_register(inst.guard, copy);
      const InstId from = k_.trace.events[plan_->loads[source.load].event].inst;
      for (const ptx::Arg& dst : k_.body.dst(k_.body.insts[from]))
        need_register(dst.id, source.copy);
      if (!covered->if_entered) return;
      sum_.other += times(id); // the load issues for no lane, as a rule
      analysis::for_each_use(k_.body, inst, [&](RegId reg) { need_register(reg, copy); });
      return;
    }
    count(id, inst);
    analysis::for_each_use(k_.body, inst, [&](RegId reg) { need_register(reg, copy); });
  }

  [[nodiscard]] const CopyLoad* covered_load(InstId inst, unsigned copy) const {
    const auto load = load_of_.find(inst);
    if (load == load_of_.end() || copy >= load->second->copies.size()) return nullptr;
    const CopyLoad& covered = load->second->copies[copy];
    return covered.from ? &covered : nullptr;
  }

  [[nodiscard]] double times(InstId id) const {
    const std::uint32_t loop = k_.loops.innermost[k_.cfg.block_of[id]];
    const unsigned depth = loop == ~0U ? 0 : k_.loops.loops[loop].depth;
    return std::pow(numbers::model::iterations, depth);
  }

  void need_register(RegId reg, unsigned copy) {
    const bool several = plan_ != nullptr && plan_->replica_divergence.registers[reg];
    if (needed_.emplace(reg, several ? copy : 0).second) work_.emplace_back(reg, copy);
  }

  void count(InstId id, const Inst& inst) {
    const double times = this->times(id);
    sum_.once += 1;
    if (const auto cost = cycles_.find(id); cost != cycles_.end())
      sum_.cycles += times * cost->second;
    const bool memory =
        inst.mods.space != ptx::Space::param && inst.mods.space != ptx::Space::const_;
    if (ptx::group(inst.op) == ptx::Group::load && memory) {
      sum_.loads += times;
      if (inst.mods.space != ptx::Space::shared) sum_.far_loads += times;
      sum_.load_bytes += times * ptx::bit_width(inst.mods.type) / 8 * inst.mods.vector;
    } else if (ptx::group(inst.op) == ptx::Group::store) {
      sum_.stores += times;
    } else if (memory || ptx::group(inst.op) != ptx::Group::load) {
      sum_.other += times;
      if (ptx::effects(k_.body, inst).waits) sum_.barriers += times;
    }
  }

  const emulator::Kernel& k_;
  const BlockPlan* plan_;
  std::vector<std::vector<InstId>> definitions_;
  std::map<InstId, const BlockLoad*> load_of_;
  std::map<InstId, double> cycles_;
  std::set<std::pair<InstId, unsigned>> seen_;
  std::set<std::pair<RegId, unsigned>> needed_;
  std::vector<std::pair<RegId, unsigned>> work_;
  CopyWork sum_;
};

} // namespace

CoarsenCost coarsen_cost(const emulator::Kernel& kernel, const BlockPlan& plan,
                         std::span<const double> cycles) {
  if (!plan.refused.empty()) return {};
  const CopyWork one = Needed(kernel, nullptr, cycles).run();
  const double copies = plan.count();
  return {.before = {one.loads * copies, one.far_loads * copies, one.load_bytes * copies,
                     one.stores * copies, one.cycles * copies, one.once * copies,
                     one.other * copies, one.barriers * copies},
          .after = Needed(kernel, &plan, cycles).run()};
}

} // namespace ptxasw::passes
