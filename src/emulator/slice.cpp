// The slice is a closure over "who defines what I need", with a work list of registers.
#include "emulator/slice.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"

#include <utility>

namespace ptxasw::emulator {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;

namespace {

// Reads back what a call left in a .param variable.
bool reads_result(const ptx::Body& body, const Inst& inst) {
  if (inst.op != ptx::Op::ld || inst.mods.space != ptx::Space::param) return false;
  for (const ptx::Address& address : body.addr(inst))
    if (address.base.kind == Arg::Kind::symbol &&
        body.symbols[address.base.id].kind == ptx::Symbol::Kind::variable)
      return true;
  return false;
}

bool touches_memory(const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return group == Group::load || group == Group::store || group == Group::atomic;
}

} // namespace

Slice slice_of(const ptx::Body& body, Follow follow) {
  Slice slice;
  slice.values = follow == Follow::stored_values;
  slice.index.assign(body.registers.size(), ptx::none);
  analysis::Worklist work(body.registers.size());
  const auto need = [&](ptx::RegId reg) {
    if (reg == ptx::none || !work.add(reg)) return;
    slice.index[reg] = static_cast<std::uint32_t>(slice.registers.size());
    slice.registers.push_back(reg);
  };
  const auto need_arg = [&](const Arg& arg) {
    if (arg.kind == Arg::Kind::reg) need(arg.id);
  };
  const auto need_addresses = [&](const Inst& inst) {
    for (const ptx::Address& address : body.addr(inst))
      need_arg(address.base);
  };

  for (const Inst& inst : body.insts) {
    if (touches_memory(inst)) {
      need_addresses(inst);
      need(inst.guard);
      if (slice.values && ptx::group(inst.op) == Group::store)
        for (const Arg& src : body.src(inst))
          need_arg(src);
    } else if (ptx::group(inst.op) == Group::branch || ptx::group(inst.op) == Group::exit) {
      need(inst.guard);
      for (const Arg& src : body.src(inst))
        need_arg(src);
    }
  }
  // What a call returns may depend on all that is passed to calls.
  const auto need_calls = [&] {
    if (std::exchange(slice.calls, true)) return;
    for (const Inst& inst : body.insts) {
      const bool passes = inst.op == ptx::Op::st && inst.mods.space == ptx::Space::param;
      if (!passes && ptx::group(inst.op) != Group::call) continue;
      for (const Arg& src : body.src(inst))
        need_arg(src);
    }
  };
  const auto definitions = analysis::definitions(body);
  while (const auto reg = work.next())
    for (const ptx::InstId id : definitions[*reg]) {
      const Inst& inst = body.insts[id];
      if (ptx::group(inst.op) == Group::call || reads_result(body, inst)) need_calls();
      need(inst.guard);
      need_addresses(inst);
      for (const Arg& src : body.src(inst))
        need_arg(src);
    }
  return slice;
}

} // namespace ptxasw::emulator
