// What an instruction may do besides writing registers, from its group and its modifiers. Where the
// ISA leaves doubt the answer is the larger set of effects.
#include "ptx/body.hpp"

namespace ptxasw::ptx {

namespace {

unsigned access_bytes(const Modifiers& mods) {
  return bit_width(mods.type) * mods.vector / 8;
}

// Other threads may watch the access, or it orders others. The cache operators .cv and .wt reach
// past the caches and count as volatile.
bool is_ordered(const Modifiers& mods) {
  return mods.order != Order::weak || mods.cache == Cache::cv || mods.cache == Cache::wt;
}

void everything(Effects& e) {
  e.reads_memory = e.writes_memory = e.ordered = e.waits = e.convergent = true;
  e.space = Space::generic;
  e.bytes = 0;
}

void access(Effects& e, const Modifiers& mods, bool reads, bool writes) {
  e.reads_memory = reads;
  e.writes_memory = writes;
  e.space = mods.space;
  e.bytes = access_bytes(mods);
  e.ordered = is_ordered(mods);
}

Effects load(const Modifiers& mods) {
  Effects e;
  access(e, mods, true, false);
  return e;
}

Effects store(Op op, const Modifiers& mods) {
  Effects e;
  access(e, mods, false, true);
  if (op == Op::discard) e.bytes = 128;
  if (mods.sub == Sub::async || mods.sub == Sub::bulk) {
    e.ordered = true; // lands later
    e.bytes = 0;
  }
  return e;
}

Effects atomic(Op op, const Modifiers& mods) {
  Effects e;
  access(e, mods, true, true);
  e.ordered = true;
  if (op == Op::multimem) e.space = Space::global;
  if (mods.sub == Sub::async) e.bytes = 0;
  return e;
}

Effects async_copy(Op op, const Modifiers& mods) {
  Effects e;
  if (op == Op::clusterlaunchcontrol && mods.sub == Sub::query_cancel) return e;
  e.reads_memory = e.writes_memory = e.ordered = true;
  e.waits = mods.has(Sub::wait_group) || mods.has(Sub::wait_all);
  return e;
}

Effects texture(Op op) {
  Effects e;
  const bool query = op == Op::txq || op == Op::suq;
  e.reads_memory = !query;
  e.space = op == Op::suld ? Space::global : Space::tex;
  return e;
}

Effects surface(Op op) {
  Effects e;
  e.writes_memory = true;
  e.reads_memory = e.ordered = op == Op::sured;
  e.space = Space::global;
  return e;
}

Effects barrier(const Modifiers& mods) {
  Effects e;
  e.ordered = e.convergent = true;
  e.waits = mods.sub != Sub::arrive;
  return e;
}

Effects mbarrier(const Modifiers& mods) {
  Effects e;
  if (mods.sub == Sub::pending_count) return e;
  e.reads_memory = e.writes_memory = e.ordered = true;
  e.space = Space::shared;
  e.waits = mods.sub == Sub::test_wait || mods.sub == Sub::try_wait;
  return e;
}

Effects matrix(Op op, const Modifiers& mods) {
  Effects e;
  e.convergent = true;
  switch (op) {
  case Op::mma:
  case Op::movmatrix: break;
  case Op::ldmatrix:
    e.reads_memory = true;
    e.space = Space::shared;
    break;
  case Op::stmatrix:
    e.writes_memory = true;
    e.space = Space::shared;
    break;
  case Op::wmma:
    e.reads_memory = mods.sub == Sub::load;
    e.writes_memory = mods.sub == Sub::store;
    e.space = mods.space;
    break;
  default: everything(e); break; // asynchronous: wgmma, tcgen05
  }
  return e;
}

} // namespace

Effects effects(const Body& /*body*/, const Inst& inst) {
  const Modifiers& mods = inst.mods;
  Effects e;
  switch (group(inst.op)) {
  case Group::unknown:
    everything(e);
    e.unknown = true;
    return e;
  case Group::pure:
  case Group::hint: return e;
  case Group::load: return load(mods);
  case Group::store: return store(inst.op, mods);
  case Group::atomic: return atomic(inst.op, mods);
  case Group::async_copy: return async_copy(inst.op, mods);
  case Group::warp: e.convergent = true; return e;
  case Group::texture: return texture(inst.op);
  case Group::surface: return surface(inst.op);
  case Group::branch: e.branches = true; return e;
  case Group::call:
    everything(e);
    e.calls = e.unknown = true;
    return e;
  case Group::exit: e.terminates = true; return e;
  case Group::barrier: return barrier(mods);
  case Group::fence:
    e.ordered = true;
    e.waits = inst.op == Op::griddepcontrol && mods.sub == Sub::wait;
    return e;
  case Group::mbarrier: return mbarrier(mods);
  case Group::matrix: return matrix(inst.op, mods);
  case Group::stack:
    e.writes_memory = true; // frames come and go
    e.space = Space::local;
    return e;
  }
  return e;
}

bool loads_some_bytes_only(const Body& body, const Inst& inst) {
  const Module& module = *body.module;
  for (std::uint32_t s = inst.statement; s-- > body.function->body.first;) {
    const Statement& statement = module.statements[s];
    if (statement.kind == StatementKind::instruction) return false;
    if (statement.kind == StatementKind::directive &&
        module.slice(statement.range).find("used_bytes_mask") != std::string_view::npos)
      return true;
  }
  return false;
}

} // namespace ptxasw::ptx
