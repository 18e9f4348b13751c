#include "reuse/rounds_behind.hpp"

#include <algorithm>

namespace ptxasw::reuse {

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
    bool used = false, written = false;
    const Inst& here = k.body.insts[i];
    analysis::for_each_use(k.body, here, [&](ptx::RegId r) { used |= r == reg; });
    analysis::for_each_definition(k.body, here, [&](ptx::RegId r) { written |= r == reg; });
    if (used) return true;
    if (written && here.guard == ptx::none) return false;
  }
  return k.liveness->live_out(b, reg);
}

namespace {

bool needs_no_barrier(emulator::Kernel& k, sym::Solver& solver, const Rounds& rounds,
                      const Event& e) {
  sym::Context& c = *k.context;
  const Inst& inst = k.body.insts[e.inst];
  const bool elsewhere = inst.mods.space == ptx::Space::global;
  if (e.kind == EventKind::clobber)
    return ptx::group(inst.op) == ptx::Group::fence ||
           (ptx::group(inst.op) == ptx::Group::atomic && elsewhere);
  if (e.space != ptx::Space::shared) return e.space != ptx::Space::generic;
  if (e.kind == EventKind::store || e.ordered || e.elements != 1) return false;
  std::vector<Term> facts = k.facts_at(e.block);
  if (!c.value(e.guard)) facts.push_back(e.guard);
  const Term here = c.extract(e.address, 0, 32);
  return std::ranges::any_of(rounds.cells, [&](const Cell& cell) {
    const Term own = c.extract(k.trace.events[cell.event].address, 0, 32);
    return cell.bytes == e.element_bytes &&
           solver.prove(facts, c.eq(own, here)).verdict == sym::Verdict::proved;
  });
}

} // namespace

bool reads_own_only(emulator::Kernel& k, sym::Solver& solver, const Rounds& rounds) {
  if (rounds.end == k.body.insts.size()) return true;
  const BlockId first = k.cfg.block_of[rounds.end];
  std::vector<bool> reached(k.cfg.blocks.size(), false); // by its beginning
  std::vector<BlockId> work{first};
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId to : k.cfg.blocks[b].succs)
      if (!reached[to]) {
        reached[to] = true;
        work.push_back(to);
      }
  }
  return std::ranges::all_of(k.trace.events, [&](const Event& e) {
    const bool behind = reached[e.block] || (e.block == first && e.inst >= rounds.end);
    return !behind || needs_no_barrier(k, solver, rounds, e);
  });
}

} // namespace ptxasw::reuse
