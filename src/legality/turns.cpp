// Which code only some threads of a block run, and what they meet for there.
#include "legality/turns.hpp"

#include "analysis/ways.hpp"
#include "legality/block_rules.hpp"

namespace ptxasw::legality {

using analysis::BlockId;
using analysis::Uniform;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Sub;

namespace {

bool is_barrier(const Inst& inst) {
  return (inst.op == Op::bar || inst.op == Op::barrier) && !inst.mods.has(Sub::warp);
}

// Of all threads, under a number that is written there, and nobody passes by it for a guard. Those
// that arrive and do not wait have a count.
bool is_of_all(const emulator::Kernel& kernel, const Inst& inst) {
  const auto src = kernel.body.src(inst);
  const std::size_t names = src.size() - (inst.mods.has(Sub::red) ? 1 : 0);
  const bool for_all =
      inst.guard == ptx::none || kernel.uniformity.registers[inst.guard] <= Uniform::block;
  return for_all && names == 1 && src[0].kind == ptx::Arg::Kind::imm;
}

} // namespace

Turns::Turns(const emulator::Kernel& kernel)
    : k_(kernel), some_(kernel.cfg.blocks.size(), false), some_ended_(some_) {
  for (BlockId b = 0; b < k_.cfg.blocks.size(); ++b)
    if (k_.uniformity.branches[b] > Uniform::block) part_at(b);
  for (InstId i = 0; i < k_.body.insts.size() && possible_; ++i) {
    const Inst& inst = k_.body.insts[i];
    const ptx::Effects effects = ptx::effects(k_.body, inst);
    const BlockId here = k_.cfg.block_of[i];
    if (is_barrier(inst))
      possible_ = is_of_all(k_, inst) && !some_[here];
    else if (effects.convergent || effects.waits || effects.calls || effects.unknown)
      possible_ = !some_ended_[here];
  }
}

void Turns::part_at(BlockId branch) {
  const BlockId meets = k_.cfg.ipdom[branch];
  const bool ends = meets == analysis::no_block || meets == k_.cfg.exit();
  const std::vector<bool> ways = analysis::ways_from(k_.cfg, branch);
  for (BlockId b = 0; b < ways.size(); ++b) {
    if (ways[b]) some_[b] = true;
    if (ways[b] && ends) some_ended_[b] = true;
  }
}

bool Turns::may_begin_again_at(InstId branch) const {
  const Inst& inst = k_.body.insts[branch];
  if (inst.op != Op::bra && inst.op != Op::ret && inst.op != Op::exit) return false;
  const BlockId here = k_.cfg.block_of[branch];
  const bool once = k_.loops.innermost[here] == ~0U && !k_.loops.irreducible_blocks[here];
  return once && !some_[here] && k_.uniformity.branches[here] <= Uniform::block &&
         can_start_over(k_, branch);
}

} // namespace ptxasw::legality
