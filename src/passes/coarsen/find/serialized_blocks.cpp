// Which code only some threads of a block run, and what they meet for there.
#include "passes/coarsen/find/serialized_blocks.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"

#include <algorithm>
#include <optional>

namespace ptxasw::passes {

using analysis::BlockId;
using analysis::Uniform;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Sub;

namespace {

// Of all threads, under a number that is written there, and nobody passes by it for a guard. Those
// that arrive and do not wait have a count.
bool is_of_all(const emulator::Kernel& kernel, const Inst& inst) {
  const auto src = kernel.body.src(inst);
  const std::size_t names = src.size() - (inst.mods.has(Sub::red) ? 1 : 0);
  const bool for_all =
      inst.guard == ptx::none || kernel.uniformity.registers[inst.guard] <= Uniform::block;
  return for_all && names == 1 && src[0].kind == ptx::Arg::Kind::imm;
}

// Grows or falls with each of its operands: comparisons change once along an axis.
bool is_monotone(const Inst& inst) {
  switch (inst.op) {
  case Op::mov:
  case Op::cvt:
  case Op::add:
  case Op::sub:
  case Op::mul:
  case Op::mad:
  case Op::neg:
  case Op::shl:
  case Op::shr:
  case Op::div:
  case Op::min:
  case Op::max:
  case Op::setp: return true;
  case Op::and_:
  case Op::or_:
  case Op::not_: return inst.mods.type == ptx::Type::pred;
  default: return false;
  }
}

// Of one body, where that is known of registers.
class Monotone {
public:
  Monotone(const ptx::Body& body, const analysis::ReplicaDivergence& replica_divergence)
      : body_(body), replica_divergence_(replica_divergence),
        definitions_(analysis::definitions(body)), seen_(body.registers.size(), false) {}

  bool of(ptx::RegId reg) {
    if (!replica_divergence_.registers[reg] || seen_[reg])
      return true; // in a loop: as all that leads to it
    seen_[reg] = true;
    return std::ranges::all_of(definitions_[reg], [&](InstId id) {
      const Inst& inst = body_.insts[id];
      const auto src = body_.src(inst);
      return is_monotone(inst) && std::ranges::all_of(src, [&](const ptx::Arg& arg) {
               return arg.kind != ptx::Arg::Kind::reg || of(arg.id);
             });
    });
  }

private:
  const ptx::Body& body_;
  const analysis::ReplicaDivergence& replica_divergence_;
  std::vector<std::vector<InstId>> definitions_;
  std::vector<bool> seen_;
};

} // namespace

SerializedBlocks::SerializedBlocks(const emulator::Kernel& kernel)
    : k_(kernel), some_(kernel.cfg.blocks.size(), false), some_ended_(some_) {
  for (BlockId b = 0; b < k_.cfg.blocks.size(); ++b)
    if (k_.uniformity.branches[b] > Uniform::block) part_at(b);
  for (InstId i = 0; i < k_.body.insts.size() && possible_; ++i) {
    const Inst& inst = k_.body.insts[i];
    const ptx::Effects effects = ptx::effects(k_.body, inst);
    const BlockId here = k_.cfg.block_of[i];
    if (is_block_barrier(inst))
      possible_ = is_of_all(k_, inst) && !some_[here];
    else if (effects.convergent || effects.waits)
      possible_ = !some_ended_[here];
  }
}

void SerializedBlocks::part_at(BlockId branch) {
  const BlockId meets = k_.cfg.ipdom[branch];
  const bool ends = meets == analysis::no_block || meets == k_.cfg.exit();
  const std::vector<bool> ways = analysis::influence_region(k_.cfg, branch);
  for (BlockId b = 0; b < ways.size(); ++b) {
    if (ways[b]) some_[b] = true;
    if (ways[b] && ends) some_ended_[b] = true;
  }
}

bool SerializedBlocks::may_begin_again_at(InstId branch) const {
  const Inst& inst = k_.body.insts[branch];
  if (inst.op != Op::bra && inst.op != Op::ret && inst.op != Op::exit) return false;
  const BlockId here = k_.cfg.block_of[branch];
  const bool once = k_.loops.innermost[here] == ~0U && !k_.loops.irreducible_blocks[here];
  return once && !some_[here] && k_.uniformity.branches[here] <= Uniform::block &&
         can_start_over(k_, branch);
}

Why why_every_group_parts(const emulator::Kernel& kernel,
                          const analysis::ReplicaDivergence& replica_divergence) {
  std::optional<Monotone> monotone; // few kernels have such branches
  for (const Inst& inst : kernel.body.insts) {
    if (inst.guard == ptx::none || !needs_agreement(kernel, replica_divergence, inst)) continue;
    if (!monotone) monotone.emplace(kernel.body, replica_divergence);
    if (!monotone->of(inst.guard))
      return at_line(kernel.body, inst, Reason::replicas_diverge,
                     "neighbouring blocks would diverge in most groups");
  }
  return {};
}

} // namespace ptxasw::passes
