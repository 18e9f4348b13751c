// The rules, each with the reason that a user reads. src/passes/coarsen/PROOF.md argues for
// them.
#include "passes/shared/block_rules.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/pair.hpp"
#include "passes/shared/waiting.hpp"
#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Special;
using ptx::Sub;

namespace {

// Values that tell one block from another by more than its index, or that change under way.
bool is_observation(Special special) {
  using enum Special;
  const bool of_launch = special == gridid || special == warp_size;
  return !of_launch && !ptx::is_lane(special) &&
         std::ranges::none_of(std::array{tid_x, ntid_x, ctaid_x, nctaid_x},
                              [&](Special x) { return ptx::is_along_axis(special, x); });
}

Why why_not_space(const ptx::Body& body, const Inst& inst) {
  switch (inst.mods.space) {
  case ptx::Space::generic:
  case ptx::Space::global:
  case ptx::Space::const_:
  case ptx::Space::param:
  case ptx::Space::local: return {};
  case ptx::Space::shared:
    return at_line(body, inst, Reason::shared_memory, "the block's shared memory");
  default:
    return at_line(body, inst, Reason::memory_kind,
                   fmt::format("{} memory", ptx::name(inst.mods.space)));
  }
}

// A generic address of memory that only the block, or only the thread, has: a symbol or a number
// may say where.
bool makes_generic(const Inst& inst, ptx::Space space) {
  return inst.op == Op::cvta && !inst.mods.to && inst.mods.space == space;
}

Why why_not_group(const ptx::Body& body, const Inst& inst) {
  switch (ptx::group(inst.op)) {
  case Group::pure:
    return makes_generic(inst, ptx::Space::shared)
               ? at_line(body, inst, Reason::shared_memory,
                         "makes an address of the block's shared memory")
               : Why{};
  case Group::branch:
  case Group::exit: return {};
  case Group::hint:
    return inst.op == Op::prefetch || inst.op == Op::prefetchu
               ? Why{}
               : at_line(body, inst, Reason::not_handled, "not handled");
  case Group::load:
  case Group::store:
    if (inst.op == Op::discard)
      return at_line(body, inst, Reason::destroys_memory, "destroys memory");
    return why_not_space(body, inst);
  case Group::texture:
    return inst.op == Op::suld
               ? at_line(body, inst, Reason::surface, "reads a surface that blocks may write")
               : Why{};
  case Group::barrier: return at_line(body, inst, Reason::barrier, "waits for other threads");
  case Group::fence:
    return at_line(body, inst, Reason::fence, "orders memory for other blocks to see");
  case Group::atomic:
    return at_line(body, inst, Reason::atomic, "blocks can observe each other through it");
  case Group::warp:
    return at_line(body, inst, Reason::warp_operation, "depends on which lanes run together");
  case Group::call: return at_line(body, inst, Reason::call, "a call");
  default: return at_line(body, inst, Reason::not_handled, "not handled");
  }
}

// Threads of several blocks, or rows, come together in a warp of the new kernel.
bool promises_one_way(const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return inst.mods.uni && inst.guard != ptx::none &&
         (group == Group::branch || group == Group::exit);
}

} // namespace

std::string at_line(const ptx::Body& body, const Inst& inst, std::string_view why) {
  return fmt::format("{} at line {}: {}", ptx::name(inst.op), ptx::line_of(body, inst), why);
}

Why at_line(const ptx::Body& body, const Inst& inst, Reason reason, std::string_view why) {
  return {reason, at_line(body, inst, why)};
}

Why why_not_a_plain_kernel(const emulator::Kernel& kernel) {
  if (!kernel.trace.refused.empty()) return kernel.trace.refused;
  if (!kernel.body.function->is_entry) return {Reason::not_a_kernel, "not a kernel"};
  if (kernel.body.function->uses_clusters) return {Reason::clusters, "its blocks form clusters"};
  return why_it_waits(kernel);
}

Why why_threads_synchronize(const ptx::Body& body, const Inst& inst) {
  if (promises_one_way(inst))
    return at_line(body, inst, Reason::replicas_diverge, "promises that the lanes of a warp agree");
  if (const Why why = why_not_group(body, inst); !why.empty()) return why;
  const ptx::Effects effects = ptx::effects(body, inst);
  if (effects.ordered) return at_line(body, inst, Reason::ordered, "volatile or ordered access");
  return why_it_observes(body, inst);
}

Why why_it_observes(const ptx::Body& body, const Inst& inst) {
  if (inst.opaque)
    return at_line(body, inst, Reason::unknown_instruction, "an operand form without semantics");
  for (const Arg& src : body.src(inst)) {
    if (src.kind == Arg::Kind::special && is_observation(src.special))
      return at_line(body, inst, Reason::reads_special,
                     fmt::format("reads {}", ptx::info(src.special).name));
  }
  return {};
}

bool is_block_barrier(const Inst& inst) {
  if (inst.op != Op::bar && inst.op != Op::barrier) return false;
  const ptx::Modifiers& mods = inst.mods;
  return (mods.has(Sub::sync) || mods.has(Sub::arrive) || mods.has(Sub::red)) &&
         !mods.has(Sub::warp) && mods.scope != ptx::Scope::cluster;
}

bool uses_local_memory(const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return makes_generic(inst, ptx::Space::local) ||
         ((group == Group::load || group == Group::store) && inst.mods.space == ptx::Space::local);
}

namespace {

bool is_debug_information(std::string_view directive) {
  return directive.starts_with(".section") && directive.find(".debug_info") != directive.npos;
}

} // namespace

Why why_not_a_plain_text(const emulator::Kernel& kernel) {
  const ptx::Module& module = *kernel.body.module;
  const bool names_labels = module.whole->once("debug information", [&] {
    return std::ranges::any_of(module.statements, [&](const ptx::Statement& statement) {
      return statement.kind == ptx::StatementKind::directive &&
             is_debug_information(module.slice(statement.range));
    });
  });
  return names_labels ? Why{Reason::debug_labels, "debug information names its labels"} : Why{};
}

Why why_not_coarsened(const emulator::Kernel& kernel) {
  const ptx::Body& body = kernel.body;
  if (const Why why = why_not_a_plain_kernel(kernel); !why.empty()) return why;
  if (const Why why = why_not_a_plain_text(kernel); !why.empty()) return why;
  for (const ptx::Statement& statement : body.module->body_of(*body.function)) {
    if (statement.kind != ptx::StatementKind::variable) continue;
    const ptx::Variable& variable = body.module->variables[statement.index];
    const bool of_a_call = variable.space == ptx::Space::param;
    if (variable.space != ptx::Space::reg && !of_a_call)
      return {reason_of(variable.space),
              fmt::format("declares {} memory", ptx::name(variable.space))};
  }
  // Generic addresses reach what the module declares for the block, too.
  for (const ptx::Symbol& symbol : body.symbols) {
    const bool of_the_block =
        symbol.space == ptx::Space::shared || symbol.space == ptx::Space::local;
    if (symbol.kind == ptx::Symbol::Kind::variable && of_the_block)
      return {reason_of(symbol.space),
              fmt::format("uses {}, in {} memory", symbol.name, ptx::name(symbol.space))};
  }
  for (const Inst& inst : body.insts) {
    if (const Why why = why_threads_synchronize(body, inst); !why.empty()) return why;
    if (uses_local_memory(inst))
      return at_line(body, inst, Reason::local_memory, copies_share_a_frame);
  }
  return {};
}

bool needs_agreement(const emulator::Kernel& kernel,
                     const analysis::ReplicaDivergence& replica_divergence, const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return (group == Group::branch || group == Group::exit) &&
         replica_divergence.reads(kernel.body, inst) &&
         !replica_divergence.is_apart(kernel.body, inst);
}

Why why_replicas_diverge(const emulator::Kernel& kernel,
                         const analysis::ReplicaDivergence& replica_divergence) {
  const ptx::Body& body = kernel.body;
  if (body.carry != ptx::none && replica_divergence.registers[body.carry])
    return {Reason::carry_flag,
            "its carry chains differ between replicas, and there is one carry flag"};
  for (InstId i = 0; i < body.insts.size(); ++i) {
    const Inst& inst = body.insts[i];
    if (!needs_agreement(kernel, replica_divergence, inst)) continue;
    if (inst.op != Op::bra && inst.op != Op::ret && inst.op != Op::exit)
      return at_line(body, inst, Reason::replicas_diverge, "replicas may diverge");
    if (kernel.loops.innermost[kernel.cfg.block_of[i]] != ~0U)
      return at_line(body, inst, Reason::replicas_diverge, "replicas may diverge in a loop");
    if (!can_start_over(kernel, i))
      return at_line(body, inst, Reason::replicas_diverge,
                     "replicas may diverge after memory has been written");
  }
  return {};
}

Why why_data_diverges_replicas(const emulator::Kernel& kernel,
                               const analysis::ReplicaDivergence& replica_divergence,
                               const analysis::ReplicaDivergence& data) {
  const ptx::Body& body = kernel.body;
  for (const Inst& inst : body.insts) {
    if (inst.guard != ptx::none && data.registers[inst.guard] &&
        needs_agreement(kernel, replica_divergence, inst))
      return at_line(body, inst, Reason::replicas_diverge,
                     "replicas would diverge over what they have loaded");
  }
  return {};
}

Why why_work_is_uneven(const emulator::Kernel& kernel,
                       const analysis::ReplicaDivergence& replica_divergence,
                       const analysis::ReplicaDivergence& data) {
  const ptx::Body& body = kernel.body;
  for (const analysis::Loop& loop : kernel.loops.loops)
    for (const auto& [from, to] : loop.exits) {
      const Inst& inst = body.insts[kernel.cfg.blocks[from].end - 1];
      if (inst.guard == ptx::none) continue;
      if (replica_divergence.registers[inst.guard] || data.registers[inst.guard])
        return at_line(
            body, inst, Reason::uneven_work,
            "blocks may make different numbers of iterations, and merged they would not be "
            "divided evenly");
    }
  return {};
}

bool can_start_over(const emulator::Kernel& kernel, InstId inst) {
  const auto acts = [&](InstId first, InstId end) {
    for (InstId i = first; i < end; ++i) {
      const ptx::Effects effects = ptx::effects(kernel.body, kernel.body.insts[i]);
      if (effects.writes_memory || effects.ordered) return true;
    }
    return false;
  };
  const BlockId here = kernel.cfg.block_of[inst];
  if (acts(kernel.cfg.blocks[here].first, inst)) return false;
  analysis::Worklist work(kernel.cfg.blocks.size(), {here});
  while (const auto b = work.next())
    for (const BlockId pred : kernel.cfg.blocks[*b].preds)
      if (work.add(pred) && acts(kernel.cfg.blocks[pred].first, kernel.cfg.blocks[pred].end))
        return false;
  return true;
}

} // namespace ptxasw::passes
