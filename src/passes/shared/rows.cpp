// Follows the values of %ctaid and %tid from their reads to the sum, instruction by instruction.
#include "passes/shared/rows.hpp"

#include "analysis/replica_divergence.hpp"
#include "passes/shared/block_shift.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Special;
using sym::Term;

namespace {

// The sum of rows must be computed by operations that are exact modulo 2^32, whatever the size of
// %tid: the rewrite puts a %tid there that no thread has.
bool is_ring_operation(const Inst& inst) {
  if (inst.guard != ptx::none || inst.mods.cc || inst.mods.sat) return false;
  if (ptx::bit_width(inst.mods.type) != 32 || ptx::is_float(inst.mods.type)) return false;
  switch (inst.op) {
  case Op::mov:
  case Op::add:
  case Op::sub: return true;
  case Op::mul:
  case Op::mad: return inst.mods.half == ptx::Half::lo;
  default: return false;
  }
}

class RowUse {
public:
  RowUse(emulator::Kernel& kernel, unsigned axis)
      : k_(kernel), block_(ptx::along(Special::ctaid_x, axis)),
        thread_(ptx::along(Special::tid_x, axis)), rows_(ptx::along(Special::ntid_x, axis)) {
    axes_[axis] = {.factor = 2, .rows = true};
  }

  bool run() {
    for (const Special special : {block_, thread_, rows_}) {
      const Term term = k_.trace.special(special);
      const bool constant = special == rows_ && term.valid() && k_.context->value(term);
      if (!constant && (!term.valid() || k_.context->kind(term) != sym::Kind::atom)) return false;
    }
    if (reads_lanes()) return false;
    const analysis::ReplicaDivergence nothing = analysis::find_replica_divergence(k_.body, {});
    BlockShift shift(k_, axes_, nothing);
    residual_.assign(k_.body.registers.size(), false);
    for (const emulator::Definition& d : k_.trace.definitions) {
      if (!shift.moved(d.value, {}) && depends(d.value)) residual_[d.reg] = true;
    }
    for (InstId i = 0; i < k_.body.insts.size(); ++i) {
      if (!is_fine(i)) return false;
    }
    return true;
  }

private:
  // Rows of a narrow block share a warp, so a thread that takes other rows has another lane.
  [[nodiscard]] bool reads_lanes() const {
    return std::ranges::any_of(k_.body.args, [](const Arg& arg) {
      return arg.kind == Arg::Kind::special && ptx::is_lane(arg.special);
    });
  }

  [[nodiscard]] bool depends(Term t) const {
    return k_.context->depends_on(t, k_.trace.special(block_)) ||
           k_.context->depends_on(t, k_.trace.special(thread_));
  }

  // An instruction that reads %ctaid, %tid or something between them and the sum.
  [[nodiscard]] bool is_fine(InstId id) const {
    const Inst& inst = k_.body.insts[id];
    bool raw = inst.guard != ptx::none && residual_[inst.guard];
    const auto look = [&](const Arg& arg) {
      if (arg.kind == Arg::Kind::special) raw |= arg.special == block_ || arg.special == thread_;
      if (arg.kind != Arg::Kind::reg || !residual_[arg.id]) return true;
      raw = true;
      return definitions_[arg.id].size() == 1 && k_.cfg.dominates_inst(definitions_[arg.id][0], id);
    };
    for (const Arg& src : k_.body.src(inst)) {
      if (!look(src)) return false;
    }
    for (const ptx::Address& address : k_.body.addr(inst)) {
      if (!look(address.base)) return false;
    }
    return !raw || (is_ring_operation(inst) && was_followed(id));
  }

  [[nodiscard]] bool was_followed(InstId id) const {
    return std::ranges::any_of(k_.trace.definitions, [&](const emulator::Definition& d) {
      return d.inst == id && !d.at_entry; // not what meets at the head of a loop that begins here
    });
  }

  emulator::Kernel& k_;
  std::array<Axis, 3> axes_;
  Special block_, thread_, rows_;
  std::vector<std::vector<InstId>> definitions_ = analysis::definitions(k_.body);
  std::vector<bool> residual_;
};

} // namespace

bool uses_rows_only(emulator::Kernel& kernel, unsigned axis) {
  return RowUse(kernel, axis).run();
}

} // namespace ptxasw::passes
