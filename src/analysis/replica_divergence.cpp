// The fixpoint of replica_divergence.hpp: an instruction that reads something varying, or writes
// one thing that varies already, writes varying things only. So what stands once for all copies and
// what stands for each never write the same register, but for what only repeats a value. What a
// load returns differs only if its address or guard does: the rewrite that this analysis serves
// loads once for all copies otherwise.
#include "analysis/replica_divergence.hpp"

#include "analysis/liveness.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::analysis {

using ptx::Arg;
using ptx::Inst;

bool ReplicaDivergence::of(const Arg& arg) const {
  if (arg.kind == Arg::Kind::reg) return registers[arg.id];
  if (arg.kind == Arg::Kind::symbol) return arg.id < symbols.size() && symbols[arg.id];
  return arg.kind == Arg::Kind::special && std::ranges::find(seeds, arg.special) != seeds.end();
}

bool ReplicaDivergence::reads(const ptx::Body& body, const Inst& inst) const {
  if (inst.guard != ptx::none && registers[inst.guard]) return true;
  return std::ranges::any_of(body.src(inst), [&](const Arg& arg) { return of(arg); }) ||
         std::ranges::any_of(body.addr(inst), [&](const ptx::Address& a) { return of(a.base); });
}

bool ReplicaDivergence::writes(const ptx::Body& body, const Inst& inst) const {
  return std::ranges::any_of(body.dst(inst), [&](const Arg& arg) { return of(arg); });
}

bool ReplicaDivergence::is_apart(const ptx::Body& body, const Inst& inst) const {
  return !apart.empty() && apart[static_cast<std::size_t>(&inst - body.insts.data())];
}

bool ReplicaDivergence::only_repeats(const ptx::Body& body, const Inst& inst) const {
  return !repeats.empty() && repeats[static_cast<std::size_t>(&inst - body.insts.data())];
}

ReplicaDivergence find_replica_divergence(const ptx::Body& body,
                                          std::span<const ptx::Special> seeds) {
  ReplicaDivergence replica_divergence;
  replica_divergence.seeds.assign(seeds.begin(), seeds.end());
  return spread_replica_divergence(body, std::move(replica_divergence));
}

ReplicaDivergence is_data_dependent(const ptx::Body& body) {
  ReplicaDivergence data;
  data.registers.resize(body.registers.size());
  for (const Inst& inst : body.insts) {
    const ptx::Group group = ptx::group(inst.op);
    const bool found = group == ptx::Group::atomic || group == ptx::Group::call ||
                       (group == ptx::Group::load && inst.mods.space != ptx::Space::param);
    if (!found) continue;
    for_each_definition(body, inst, [&](ptx::RegId reg) { data.registers[reg] = true; });
  }
  return spread_replica_divergence(body, std::move(data));
}

ReplicaDivergence spread_replica_divergence(const ptx::Body& body,
                                            ReplicaDivergence replica_divergence) {
  replica_divergence.registers.resize(body.registers.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Inst& inst : body.insts) {
      if (!replica_divergence.differs(body, inst)) continue;
      if (replica_divergence.only_repeats(body, inst)) continue;
      for (const Arg& dst : body.dst(inst)) {
        if (dst.kind != Arg::Kind::reg || replica_divergence.registers[dst.id]) continue;
        replica_divergence.registers[dst.id] = true;
        changed = true;
      }
    }
  }
  return replica_divergence;
}

} // namespace ptxasw::analysis
