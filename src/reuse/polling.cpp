// Forward from each load, through registers and, once a value has been stored, through every load.
#include "reuse/polling.hpp"

#include "reuse/block_rules.hpp"

#include <algorithm>
#include <vector>

namespace ptxasw::reuse {

using ptx::Group;
using ptx::Inst;
using ptx::InstId;

namespace {

bool may_see_news(const ptx::Body& body, const Inst& inst) {
  const ptx::Space space = inst.mods.space;
  if (ptx::group(inst.op) != Group::load || inst.mods.nc || space == ptx::Space::shared ||
      space == ptx::Space::local) {
    return false;
  }
  return ptx::effects(body, inst).ordered || inst.mods.cache == ptx::Cache::cg ||
         inst.mods.cache == ptx::Cache::cv;
}

class Polling {
public:
  explicit Polling(const emulator::Kernel& kernel) : k_(kernel) {}

  [[nodiscard]] std::string run() const {
    for (const analysis::Loop& loop : k_.loops.loops) {
      const std::vector<InstId> insts = instructions_of(loop);
      for (const InstId id : insts) {
        const Inst& inst = k_.body.insts[id];
        if (may_see_news(k_.body, inst) && decides_a_branch(inst, insts))
          return at_line(k_.body, inst, "its loop may wait for what another thread stores");
      }
    }
    return {};
  }

private:
  [[nodiscard]] std::vector<InstId> instructions_of(const analysis::Loop& loop) const {
    std::vector<InstId> insts;
    for (const analysis::BlockId b : loop.blocks)
      for (InstId id = k_.cfg.blocks[b].first; id < k_.cfg.blocks[b].end; ++id)
        insts.push_back(id);
    return insts;
  }

  [[nodiscard]] bool decides_a_branch(const Inst& load, const std::vector<InstId>& insts) const {
    std::vector<bool> depends(k_.body.registers.size(), false);
    for (const ptx::Arg& dst : k_.body.dst(load))
      if (dst.kind == ptx::Arg::Kind::reg) depends[dst.id] = true;
    bool stored = false;
    for (bool more = true; more;) {
      more = false;
      for (const InstId id : insts) {
        const Inst& inst = k_.body.insts[id];
        const ptx::Effects effects = ptx::effects(k_.body, inst);
        bool reads = stored && effects.reads_memory;
        analysis::for_each_use(k_.body, inst, [&](ptx::RegId reg) { reads |= bool{depends[reg]}; });
        if (!reads) continue;
        if (effects.branches || effects.terminates) return true;
        if (effects.writes_memory && !stored) stored = more = true;
        analysis::for_each_definition(k_.body, inst, [&](ptx::RegId reg) {
          more |= !depends[reg];
          depends[reg] = true;
        });
      }
    }
    return false;
  }

  const emulator::Kernel& k_;
};

} // namespace

std::string why_it_polls(const emulator::Kernel& kernel) {
  return Polling(kernel).run();
}

} // namespace ptxasw::reuse
