// A fixpoint: what differs decides where copies part and which variables they must have of their
// own, and both make more differ. It ends, for all three only grow.
#include "passes/coarsen/find/block_uniform.hpp"

#include "analysis/sese_region.hpp"
#include "passes/coarsen/find/calls.hpp"
#include "passes/coarsen/find/region_loads.hpp"
#include "passes/coarsen/find/serialized_blocks.hpp"
#include "passes/coarsen/find/shared_symbols.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/shared/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ptxasw::passes {

using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::StatementKind;
using ptx::Sub;

namespace {

constexpr std::uint64_t most_shared_bytes = std::uint64_t{48} << 10; // of any launch

// What it gives hangs on the copy. A barrier may not be one of such and of others, so all stand as
// often.
bool is_combining_barrier(const Inst& inst) {
  return is_block_barrier(inst) && inst.mods.has(Sub::red);
}

bool is_memory_of_threads(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::generic || space == ptx::Space::shared;
}

bool is_of_a_warp(const Inst& inst) {
  switch (inst.op) {
  case Op::shfl:
  case Op::vote:
  case Op::match:
  case Op::redux: return inst.mods.sync;
  case Op::bar:
  case Op::barrier: return inst.mods.has(Sub::warp);
  default: return false;
  }
}

// Of all lanes of a warp, on registers and memory that the text names, so that it need not be known
// what they compute.
bool is_matrix(const Inst& inst) {
  switch (inst.op) {
  case Op::mma:
  case Op::movmatrix: return inst.mods.sync;
  case Op::wmma:
  case Op::ldmatrix:
  case Op::stmatrix: return inst.mods.sync && is_memory_of_threads(inst.mods.space);
  default: return false;
  }
}

bool is_atomic(const Inst& inst) {
  return (inst.op == Op::atom || inst.op == Op::red) && !inst.mods.has(Sub::async) &&
         is_memory_of_threads(inst.mods.space);
}

// Each copy does its own, in the order of its program. Not those of devices, each of which counts
// for itself.
bool is_ordered_access(const ptx::Body& body, const Inst& inst) {
  return (inst.op == Op::ld || inst.op == Op::st) && ptx::effects(body, inst).ordered &&
         !inst.mods.has(Sub::async) && !inst.mods.has(Sub::bulk) &&
         inst.mods.order != ptx::Order::mmio && is_memory_of_threads(inst.mods.space);
}

bool is_fence(const Inst& inst) {
  return (inst.op == Op::membar || inst.op == Op::fence) && inst.mods.sub == Sub::none;
}

bool is_shared_access(const Inst& inst) {
  return (inst.op == Op::ld || inst.op == Op::st) && inst.mods.space == ptx::Space::shared;
}

Why why_not_together(const ptx::Body& body, const Inst& inst) {
  const Group group = ptx::group(inst.op);
  const bool ordered = is_atomic(inst) || is_ordered_access(body, inst) || is_fence(inst);
  const bool plain_shared = is_shared_access(inst) && !ptx::effects(body, inst).ordered;
  if (ordered || is_block_barrier(inst) || is_of_a_warp(inst) || plain_shared)
    return why_it_observes(body, inst);
  if (is_matrix(inst)) return {};
  if (group == Group::barrier)
    return at_line(body, inst, Reason::barrier, "not a barrier of threads of the block");
  if (group == Group::call) return why_not_called(body, inst);
  if (uses_local_memory(inst))
    return at_line(body, inst, Reason::local_memory, copies_share_a_frame);
  // Lanes of a warp stay together, so they keep their promise.
  if ((group == Group::branch || group == Group::exit) && inst.mods.uni)
    return why_it_observes(body, inst);
  return why_threads_synchronize(body, inst);
}

Why why_not_declared(const ptx::Body& body) {
  for (const ptx::Statement& statement : body.module->body_of(*body.function)) {
    if (statement.kind != ptx::StatementKind::variable) continue;
    for (std::uint32_t n = 0; n < statement.count; ++n) {
      const ptx::Variable& variable = body.module->variables[statement.index + n];
      const bool of_a_call = variable.space == ptx::Space::param;
      if (variable.space != ptx::Space::reg && variable.space != ptx::Space::shared && !of_a_call)
        return {reason_of(variable.space),
                fmt::format("declares {} memory", ptx::name(variable.space))};
      const bool again = std::ranges::count(body.symbols, variable.name, &ptx::Symbol::name) > 1;
      if (variable.space == ptx::Space::shared && (again || variable.external))
        return {Reason::not_handled,
                fmt::format("declares {} in a way that is not handled", variable.name)};
    }
  }
  for (const ptx::Symbol& symbol : body.symbols) {
    if (symbol.kind != ptx::Symbol::Kind::variable) continue;
    if (symbol.space == ptx::Space::local)
      return {Reason::local_memory, fmt::format("uses {}, in local memory", symbol.name)};
    if (symbol.space == ptx::Space::shared && symbol.size == 0)
      return {Reason::dynamic_shared_memory,
              fmt::format("the host says how large {} is", symbol.name)};
  }
  return {};
}

// Scopes of registers open and close inside, or are none: the last one may close behind the last
// instruction, and is then part of the region.
bool holds_scopes(const ptx::Body& body, Region& region) {
  const auto statements = body.module->body_of(*body.function);
  InstId next = 0;
  int depth = 0;
  for (std::uint32_t n = 0; n < statements.size(); ++n) {
    const StatementKind kind = statements[n].kind;
    if (kind == StatementKind::instruction && next++ >= region.end) break;
    if (next <= region.first) continue;
    const bool behind = next == region.end && kind != StatementKind::instruction;
    if (behind && depth == 0) break;
    const bool goes_on = kind == StatementKind::label || kind == StatementKind::scope_open;
    if (kind == StatementKind::prototype || (behind && goes_on)) return false;
    if (kind == StatementKind::scope_open) ++depth;
    if (kind != StatementKind::scope_close) continue;
    --depth;
    if (behind) region.closes = n;
  }
  return depth == 0;
}

// A table of branches names labels, of which each copy has its own: of one that no branch uses it
// is not known which.
bool has_tables(const ptx::Body& body, const Region& region) {
  const auto is_table = [&](const ptx::Statement& statement) {
    return statement.kind == StatementKind::prototype &&
           body.module->prototypes[statement.index].directive == ".branchtargets";
  };
  const auto tables = std::ranges::count_if(body.module->body_of(*body.function), is_table);
  const auto is_used = [](const Inst& inst) { return inst.op == Op::brx; };
  return tables > std::ranges::count_if(body.insts, is_used) ||
         std::any_of(body.insts.begin() + region.first, body.insts.begin() + region.end, is_used);
}

// What copies that part at a branch run before they meet again, whoever else runs it; nothing where
// some thread may not come out.
std::optional<Region> region_around(const emulator::Kernel& kernel, InstId branch) {
  const auto stretch = analysis::closed_around(kernel.cfg, {branch, branch + 1});
  if (!stretch) return std::nullopt;
  Region region{stretch->first, stretch->end};
  if (has_tables(kernel.body, region) || !holds_scopes(kernel.body, region)) return std::nullopt;
  return region;
}

class Regions {
public:
  Regions(const emulator::Kernel& kernel, std::span<const ptx::Special> seeds, BlockPlan& plan,
          bool finds_repeats)
      : k_(kernel), body_(kernel.body), plan_(plan), shared_(kernel.body),
        finds_repeats_(finds_repeats) {
    known_.seeds.assign(seeds.begin(), seeds.end());
    known_.symbols.assign(body_.symbols.size(), false);
    agreed_.assign(body_.insts.size(), false);
    known_.repeats.assign(body_.insts.size(), false);
    // What other threads could tell from being done once for all copies.
    for (const Inst& inst : body_.insts)
      known_.apart.push_back(is_atomic(inst) || is_ordered_access(body_, inst) ||
                             is_combining_barrier(inst));
  }

  void run() {
    plan_.refused = shared_.refused;
    for (InstId i = 0; i < body_.insts.size() && plan_.refused.empty(); ++i) {
      if (ptx::group(body_.insts[i].op) == Group::call) call(i);
    }
    for (bool grown = true; grown && plan_.refused.empty();) {
      plan_.replica_divergence = analysis::spread_replica_divergence(body_, known_);
      grown = false;
      for (InstId i = 0; i < body_.insts.size() && plan_.refused.empty() && !grown; ++i)
        grown = look_at(i);
    }
    if (!plan_.refused.empty()) return;
    for (std::uint32_t symbol = 0; symbol < known_.symbols.size(); ++symbol)
      if (known_.symbols[symbol]) plan_.own.push_back(symbol);
    std::ranges::sort(plan_.regions, {}, &Region::first);
    check();
  }

private:
  // Something follows from what differs.
  bool look_at(InstId id) {
    const Inst& inst = body_.insts[id];
    if (needs_agreement(k_, plan_.replica_divergence, inst)) return !agreed_[id] && part(id);
    const bool stores = ptx::effects(body_, inst).writes_memory;
    if (!stores || inst.mods.space != ptx::Space::shared ||
        !plan_.replica_divergence.differs(body_, inst))
      return false;
    bool grown = false;
    for (const std::uint32_t symbol : shared_.of(inst)) {
      grown |= !known_.symbols[symbol];
      known_.symbols[symbol] = true;
    }
    return grown;
  }

  bool part(InstId branch) {
    const bool jumps = body_.insts[branch].op == Op::bra;
    if (!plan_.uniform && starts_over_alone(branch) && !is_decided_by_data(branch)) {
      agreed_[branch] = true;
      return false;
    }
    const auto region = jumps ? region_around(k_, branch) : std::nullopt;
    if (plan_.uniform ? (!region || has_barrier(*region)) && may_agree(branch)
                      : !region && starts_over_alone(branch)) {
      agreed_[branch] = true;
      return false;
    }
    if (!region) {
      plan_.refused = at_line(body_, body_.insts[branch], Reason::replicas_diverge,
                              "replicas may diverge here and not reconverge behind it");
      return false;
    }
    add(*region, branch);
    return plan_.refused.empty();
  }

  // Where the copies of a thread do not agree it runs one after the other.
  [[nodiscard]] bool starts_over_alone(InstId branch) const {
    const Op op = body_.insts[branch].op;
    return (op == Op::bra || op == Op::ret || op == Op::exit) &&
           k_.loops.innermost[k_.cfg.block_of[branch]] == ~0U && can_start_over(k_, branch);
  }

  // As a rule they would not.
  bool is_decided_by_data(InstId branch) {
    if (!data_) data_ = analysis::is_data_dependent(body_);
    const ptx::RegId guard = body_.insts[branch].guard;
    return guard != ptx::none && data_->registers[guard];
  }

  [[nodiscard]] bool has_barrier(const Region& region) const {
    return std::any_of(body_.insts.begin() + region.first, body_.insts.begin() + region.end,
                       is_block_barrier);
  }

  // Where the copies do not agree the block begins again, with one of them after the other.
  bool may_agree(InstId branch) {
    if (!turns_) turns_.emplace(k_);
    return turns_->are_possible() && turns_->may_begin_again_at(branch);
  }

  // Each copy makes its own.
  void call(InstId id) {
    const auto region = call_sequence(body_, id);
    if (region)
      add(*region, id);
    else
      plan_.refused = at_line(body_, body_.insts[id], Reason::call, "a call beside other code");
  }

  // Stretches that are closed lie in one another or apart.
  void add(const Region& region, InstId cause) {
    const auto contains = [](const Region& a, const Region& b) {
      return a.first <= b.first && b.end <= a.end;
    };
    std::erase_if(plan_.regions, [&](const Region& other) { return contains(region, other); });
    for (const Region& other : plan_.regions) {
      if (region.first < other.end && other.first < region.end)
        plan_.refused = at_line(body_, body_.insts[cause], Reason::replicas_diverge,
                                "replicas may diverge in regions that overlap");
    }
    plan_.regions.push_back(region);
    for (const InstId inst : repeated_moves(k_, region))
      known_.repeats[inst] = finds_repeats_;
    std::fill(known_.apart.begin() + region.first, known_.apart.begin() + region.end, true);
  }

  void check() {
    if (body_.carry != ptx::none && plan_.replica_divergence.registers[body_.carry])
      plan_.refused = {Reason::carry_flag,
                       "its carry chains differ between replicas, and there is one carry flag"};
    for (InstId i = 0; i < body_.insts.size(); ++i) {
      if (is_block_barrier(body_.insts[i]) && may_be_missed(i))
        plan_.refused = at_line(body_, body_.insts[i], Reason::replicas_diverge,
                                "some replicas may not reach this barrier");
    }
    if (shared_.bytes(plan_.own, plan_.count()) > most_shared_bytes)
      plan_.refused = {Reason::shared_memory,
                       fmt::format("{} bytes of shared memory would be needed",
                                   shared_.bytes(plan_.own, plan_.count()))};
    // Of copies that entries of this name declare in several files nvlink takes the sum.
    if (body_.function->weak && !plan_.own.empty() && plan_.count() > 1)
      plan_.refused = {Reason::shared_memory,
                       "other files may have the kernel, too, and nvlink would add up the copies "
                       "of its shared memory"};
  }

  // By one of the copies: it stands where they part, or which barrier it is hangs on the copy.
  [[nodiscard]] bool may_be_missed(InstId id) const {
    const bool in_region = std::ranges::any_of(
        plan_.regions, [&](const Region& r) { return id >= r.first && id < r.end; });
    const Inst& inst = body_.insts[id];
    const auto differs = [&](const ptx::Arg& arg) { return plan_.replica_divergence.of(arg); };
    const auto src = body_.src(inst);
    const std::size_t names = is_combining_barrier(inst) ? src.size() - 1 : src.size();
    return in_region ||
           (inst.guard != ptx::none && plan_.replica_divergence.registers[inst.guard]) ||
           std::ranges::any_of(src.first(names), differs);
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  BlockPlan& plan_;
  SharedSymbols shared_;
  bool finds_repeats_;
  analysis::ReplicaDivergence known_;
  std::optional<SerializedBlocks> turns_; // once there is something to ask
  std::optional<analysis::ReplicaDivergence> data_;
  std::vector<bool> agreed_; // by InstId: copies do so here
};

} // namespace

Why why_not_uniform(const emulator::Kernel& kernel) {
  if (const Why why = why_not_a_plain_kernel(kernel); !why.empty()) return why;
  if (const Why why = why_not_a_plain_text(kernel); !why.empty()) return why;
  if (const Why why = why_not_declared(kernel.body); !why.empty()) return why;
  for (const Inst& inst : kernel.body.insts) {
    if (const Why why = why_not_together(kernel.body, inst); !why.empty()) return why;
  }
  return {};
}

void find_regions(const emulator::Kernel& kernel, std::span<const ptx::Special> seeds,
                  bool finds_repeats, BlockPlan& plan) {
  Regions(kernel, seeds, plan, finds_repeats).run();
}

} // namespace ptxasw::passes
