// Follows the code behind the stretch to all places that it can reach.
#include "passes/warp_reduce/tree_behind.hpp"

#include "analysis/reachability.hpp"

#include <algorithm>
#include <optional>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using ptx::Inst;
using ptx::InstId;
using sym::Term;

bool is_live(const emulator::Kernel& k, InstId inst, ptx::RegId reg) {
  if (inst == k.body.insts.size()) return false;
  const BlockId b = k.cfg.block_of[inst];
  for (InstId i = inst; i < k.cfg.blocks[b].end; ++i) {
    bool used = false;
    const Inst& here = k.body.insts[i];
    analysis::for_each_use(k.body, here, [&](ptx::RegId r) { used |= r == reg; });
    if (used) return true;
    if (here.guard == ptx::none && analysis::written(k.body, i, i + 1, reg)) return false;
  }
  return k.liveness->live_out(b, reg);
}

namespace {

constexpr std::size_t longest_rest = 64; // instructions

Term address(emulator::Kernel& k, const Event& e) {
  return k.context->extract(e.address, 0, 32); // of shared memory
}

// The cell of which the load reads the thread's own element.
std::optional<std::size_t> own_cell(emulator::Kernel& k, sym::Solver& solver,
                                    const TreeReduction& rounds, const Event& e) {
  if (e.kind == EventKind::store || e.ordered || e.elements != 1) return std::nullopt;
  sym::Context& c = *k.context;
  std::vector<Term> facts = k.facts_at(e.block);
  if (!c.value(e.guard)) facts.push_back(e.guard);
  for (std::size_t n = 0; n < rounds.cells.size(); ++n) {
    const Cell& cell = rounds.cells[n];
    const Term own = c.eq(address(k, k.trace.events[cell.event]), address(k, e));
    if (cell.bytes == e.element_bytes && solver.prove(facts, own).verdict == sym::Verdict::proved)
      return n;
  }
  return std::nullopt;
}

bool needs_no_barrier(emulator::Kernel& k, sym::Solver& solver, const TreeReduction& rounds,
                      const Event& e) {
  const Inst& inst = k.body.insts[e.inst];
  const bool elsewhere = inst.mods.space == ptx::Space::global;
  if (e.kind == EventKind::clobber)
    return ptx::group(inst.op) == ptx::Group::fence ||
           (ptx::group(inst.op) == ptx::Group::atomic && elsewhere);
  if (e.space != ptx::Space::shared) return e.space != ptx::Space::generic;
  return own_cell(k, solver, rounds, e).has_value();
}

// Instructions and labels alone, of which none branches to what stands ahead.
bool is_plain_rest(const ptx::Body& body, const TreeReduction& rounds) {
  const auto count = static_cast<InstId>(body.insts.size());
  if (rounds.end == count || count - rounds.end > longest_rest) return false;
  const Inst& last = body.insts[count - 1];
  if (ptx::group(last.op) != ptx::Group::exit || last.guard != ptx::none) return false;
  for (InstId i = rounds.end; i < count; ++i) {
    const Inst& inst = body.insts[i];
    if (ptx::group(inst.op) == ptx::Group::branch && inst.op != ptx::Op::bra) return false;
    for (const InstId target : body.targets_of(inst))
      if (target < rounds.end || target >= count) return false;
  }
  const auto& statements = body.module->statements;
  for (std::uint32_t s = body.insts[rounds.end - 1].statement + 1; s < last.statement; ++s)
    if (statements[s].kind != ptx::StatementKind::instruction &&
        statements[s].kind != ptx::StatementKind::label &&
        statements[s].kind != ptx::StatementKind::location)
      return false;
  return true;
}

} // namespace

bool reads_own_only(emulator::Kernel& k, sym::Solver& solver, const TreeReduction& rounds) {
  if (rounds.end == k.body.insts.size()) return true;
  const BlockId first = k.cfg.block_of[rounds.end];
  const std::vector<bool> reached = analysis::reached_from(k.cfg, first); // by its beginning
  const auto is_behind = [&](InstId i) {
    const BlockId block = k.cfg.block_of[i];
    return reached[block] || (block == first && i >= rounds.end);
  };
  // What is called may read, and what it reads is no event where the call is seen through.
  for (InstId i = 0; i < k.body.insts.size(); ++i)
    if (ptx::group(k.body.insts[i].op) == ptx::Group::call && is_behind(i)) return false;
  return std::ranges::all_of(k.trace.events, [&](const Event& e) {
    return !is_behind(e.inst) || needs_no_barrier(k, solver, rounds, e);
  });
}

void look_at_rest(emulator::Kernel& k, sym::Solver& solver, TreeReduction& rounds) {
  rounds.own_behind = !rounds.global_ahead && reads_own_only(k, solver, rounds);
  if (!rounds.own_behind || !is_plain_rest(k.body, rounds)) return;
  sym::Context& c = *k.context;
  const Term t = k.trace.special(ptx::Special::tid_x);
  for (std::size_t e = 0; e < k.trace.events.size(); ++e) {
    const Event& load = k.trace.events[e];
    if (load.inst < rounds.end || load.space != ptx::Space::shared) continue;
    const auto dst = k.body.dst(k.body.insts[load.inst]);
    const auto cell = own_cell(k, solver, rounds, load);
    std::vector<Term> facts = k.facts_at(load.block);
    if (!c.value(load.guard)) facts.push_back(load.guard);
    const Term low = c.ult(t, c.constant(32, rounds.lanes()));
    const bool whole = dst.size() == 1 && dst[0].kind == ptx::Arg::Kind::reg &&
                       ptx::bit_width(k.body.registers[dst[0].id].type) == 8 * load.element_bytes;
    if (!cell || !whole || solver.prove(facts, low).verdict != sym::Verdict::proved) {
      rounds.rest.clear();
      return;
    }
    rounds.rest.push_back({.event = e, .cell = *cell});
  }
  rounds.rest_copied = true;
}

} // namespace ptxasw::passes
