// A fixpoint over registers; then each access is looked at once more for what it must not do.
#include "passes/coarsen/find/shared_symbols.hpp"

#include "passes/shared/block_rules.hpp"

#include <algorithm>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::Op;

namespace {

// Operands through which an address may go into another one.
bool passes_on(const Inst& inst, std::size_t operand) {
  switch (inst.op) {
  case Op::mov:
  case Op::add: return true;
  case Op::sub: return operand == 0;
  case Op::mad: return operand == 2 && inst.mods.half != ptx::Half::hi;
  case Op::selp: return operand < 2;
  default: return false;
  }
}

bool is_access(const ptx::Body& body, const Inst& inst) {
  const ptx::Effects effects = ptx::effects(body, inst);
  return (effects.reads_memory || effects.writes_memory) && inst.mods.space == ptx::Space::shared;
}

} // namespace

SharedSymbols::SharedSymbols(const ptx::Body& body)
    : body_(body), registers_(body.registers.size()) {
  follow();
  for (const Inst& inst : body.insts) {
    if (refused.empty()) check(inst);
  }
}

bool SharedSymbols::is_shared(std::uint32_t symbol) const {
  return body_.symbols[symbol].kind == ptx::Symbol::Kind::variable &&
         body_.symbols[symbol].space == ptx::Space::shared;
}

SharedSymbols::Set SharedSymbols::of(const Arg& arg) const {
  if (arg.kind == Arg::Kind::reg) return registers_[arg.id];
  if (arg.kind == Arg::Kind::symbol && is_shared(arg.id)) return {arg.id};
  return {};
}

SharedSymbols::Set SharedSymbols::of(const Inst& access) const {
  Set all;
  for (const ptx::Address& address : body_.addr(access))
    all.merge(of(address.base));
  return all;
}

void SharedSymbols::follow() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Inst& inst : body_.insts) {
      Set all;
      for (const Arg& src : body_.src(inst))
        all.merge(of(src));
      if (all.empty()) continue;
      for (const Arg& dst : body_.dst(inst)) {
        if (dst.kind != Arg::Kind::reg) continue;
        const std::size_t before = registers_[dst.id].size();
        registers_[dst.id].insert(all.begin(), all.end());
        changed |= registers_[dst.id].size() != before;
      }
    }
  }
}

void SharedSymbols::check(const Inst& inst) {
  const auto src = body_.src(inst);
  for (std::size_t n = 0; n < src.size(); ++n) {
    if (!of(src[n]).empty() && !passes_on(inst, n))
      refused = at_line(body_, inst, Reason::shared_memory, "reads the address of shared memory");
  }
  for (const ptx::Address& address : body_.addr(inst)) {
    const bool shared = !of(address.base).empty();
    if (shared && !is_access(body_, inst))
      refused = at_line(body_, inst, Reason::shared_memory, "uses the address of shared memory");
    if (!shared && is_access(body_, inst))
      refused = at_line(body_, inst, Reason::shared_memory, "shared memory without a name");
  }
}

std::uint64_t SharedSymbols::bytes(std::span<const std::uint32_t> own, unsigned copies) const {
  std::uint64_t sum = 0;
  for (std::uint32_t symbol = 0; symbol < body_.symbols.size(); ++symbol) {
    if (!is_shared(symbol)) continue;
    const std::uint64_t size = (body_.symbols[symbol].size + alignment - 1) / alignment * alignment;
    sum += size * (std::ranges::count(own, symbol) != 0 ? copies : 1);
  }
  return sum;
}

} // namespace ptxasw::passes
