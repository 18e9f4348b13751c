// The fixpoint of variance.hpp: an instruction that reads something varying, or writes one thing
// that varies already, writes varying things only. So what stands once for all copies and what
// stands for each never write the same register. What a load returns differs only if its address or
// guard does: the rewrite that this analysis serves loads once for all copies otherwise.
#include "analysis/variance.hpp"

#include "analysis/liveness.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::analysis {

using ptx::Arg;
using ptx::Inst;

bool Variance::of(const Arg& arg) const {
  if (arg.kind == Arg::Kind::reg) return registers[arg.id];
  if (arg.kind == Arg::Kind::symbol) return arg.id < symbols.size() && symbols[arg.id];
  return arg.kind == Arg::Kind::special && std::ranges::find(seeds, arg.special) != seeds.end();
}

bool Variance::reads(const ptx::Body& body, const Inst& inst) const {
  if (inst.guard != ptx::none && registers[inst.guard]) return true;
  return std::ranges::any_of(body.src(inst), [&](const Arg& arg) { return of(arg); }) ||
         std::ranges::any_of(body.addr(inst), [&](const ptx::Address& a) { return of(a.base); });
}

bool Variance::writes(const ptx::Body& body, const Inst& inst) const {
  return std::ranges::any_of(body.dst(inst), [&](const Arg& arg) { return of(arg); });
}

bool Variance::is_apart(const ptx::Body& body, const Inst& inst) const {
  return !apart.empty() && apart[static_cast<std::size_t>(&inst - body.insts.data())];
}

Variance find_variance(const ptx::Body& body, std::span<const ptx::Special> seeds) {
  Variance variance;
  variance.seeds.assign(seeds.begin(), seeds.end());
  return spread_variance(body, std::move(variance));
}

Variance hangs_on_data(const ptx::Body& body) {
  Variance data;
  data.registers.resize(body.registers.size());
  for (const Inst& inst : body.insts) {
    const ptx::Group group = ptx::group(inst.op);
    const bool found = group == ptx::Group::atomic || group == ptx::Group::call ||
                       (group == ptx::Group::load && inst.mods.space != ptx::Space::param);
    if (!found) continue;
    for_each_definition(body, inst, [&](ptx::RegId reg) { data.registers[reg] = true; });
  }
  return spread_variance(body, std::move(data));
}

Variance spread_variance(const ptx::Body& body, Variance variance) {
  variance.registers.resize(body.registers.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Inst& inst : body.insts) {
      if (!variance.differs(body, inst)) continue;
      for (const Arg& dst : body.dst(inst)) {
        if (dst.kind != Arg::Kind::reg || variance.registers[dst.id]) continue;
        variance.registers[dst.id] = true;
        changed = true;
      }
    }
  }
  return variance;
}

} // namespace ptxasw::analysis
