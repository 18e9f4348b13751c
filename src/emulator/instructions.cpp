// Values come from the shared semantics; this file supplies what they read (registers, special
// registers, parameters, memory that cannot change) and records what touches memory.
#include "emulator/instructions.hpp"

#include "emulator/load_key.hpp"
#include "emulator/specials.hpp"
#include "semantics/step.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::emulator {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Space;
using sym::Term;

namespace {

constexpr std::uint64_t steps_per_instruction = 8;

// Neither reads memory that can change, nor writes it, nor orders anything.
bool leaves_memory_alone(const Inst& inst) {
  switch (ptx::group(inst.op)) {
  case Group::pure:
  case Group::branch:
  case Group::exit:
  case Group::hint:
  case Group::stack: return true;
  default: return inst.op == Op::activemask;
  }
}

// A load or store whose address and width are known.
bool is_plain_access(const ptx::Body& body, const Inst& inst) {
  const bool opcode = inst.op == Op::ld || inst.op == Op::ldu || inst.op == Op::st;
  return opcode && !inst.opaque && ptx::bit_width(inst.mods.type) >= 8 &&
         body.addr(inst).size() == 1;
}

} // namespace

Term Instructions::fresh(AtomKind kind, std::string name, ptx::RegId reg,
                         sym::Uniformity uniformity, std::uint32_t tag, std::uint32_t tag2) {
  return c_.atom({.name = std::move(name),
                  .width = ptx::bit_width(k_.body.registers[reg].type),
                  .uniformity = uniformity,
                  .kind = static_cast<std::uint32_t>(kind),
                  .tag = tag,
                  .tag2 = tag2});
}

void Instructions::run(analysis::BlockId b, State& state) {
  const analysis::Block& block = k_.cfg.blocks[b];
  cells_.clear(); // a call and what belongs to it stand in one block
  for (InstId i = block.first; i < block.end; ++i) {
    const Inst& inst = k_.body.insts[i];
    c_.spend(steps_per_instruction);
    if (inst.op == Op::unknown) {
      k_.trace.refused = {Reason::unknown_instruction, fmt::format("unknown instruction at line {}",
                                                                   ptx::line_of(k_.body, inst))};
      return;
    }
    if (inst.op == Op::st && inst.mods.space == Space::param) store_parameter(inst, state);
    if (callees_.straight(inst)) {
      ++k_.trace.emulated_instructions;
      if (slice_.calls) see_through(i, state);
      continue;
    }
    if (ptx::group(inst.op) == Group::call) cells_.clear();
    const bool needed = writes_needed(inst);
    const std::optional<Event> event = make_event(i, b, state);
    if (!needed && !event) continue;
    ++k_.trace.emulated_instructions;
    if (needed) execute(i, event ? &*event : nullptr, state);
    if (!event) continue;
    k_.trace.events.push_back(*event);
    // An ordered load or store is an access and also ends what was known.
    if (event->kind != EventKind::clobber && event->ordered) {
      k_.trace.events.push_back(*event);
      k_.trace.events.back().kind = EventKind::clobber;
    }
  }
}

Term Instructions::special(ptx::Special id) {
  if (!fixed_while_running(id)) {
    const ptx::SpecialInfo& info = ptx::info(id);
    return c_.atom({.name = std::string(info.name),
                    .width = info.width,
                    .kind = static_cast<std::uint32_t>(AtomKind::unknown)});
  }
  const auto [place, missing] = k_.trace.specials.try_emplace(id);
  if (missing) place->second = special_value(c_, id, shape_);
  return place->second;
}

Term Instructions::symbol(std::uint32_t id) {
  const auto [place, missing] = symbols_.try_emplace(id);
  if (missing) {
    const ptx::Symbol& s = k_.body.symbols[id];
    place->second = c_.atom(
        {.name = fmt::format("&{}", s.name),
         .width = 64,
         .uniformity = s.space == Space::local ? sym::Uniformity::lane : sym::Uniformity::grid,
         .kind = static_cast<std::uint32_t>(AtomKind::symbol),
         .tag = id});
  }
  return place->second;
}

Term Instructions::value_of(const Arg& arg, const State& state) {
  switch (arg.kind) {
  case Arg::Kind::reg: {
    const Term held = state[slice_.index[arg.id]];
    return arg.negated ? c_.not_(held) : held;
  }
  case Arg::Kind::imm: return c_.constant(64, arg.value);
  case Arg::Kind::special: return special(arg.special);
  case Arg::Kind::symbol: return c_.add(symbol(arg.id), c_.constant(64, arg.value));
  case Arg::Kind::sink: break;
  }
  return c_.constant(64, 0);
}

Term Instructions::address_of(const ptx::Address& address, const State& state) {
  Term base = value_of(address.base, state);
  if (c_.width(base) < 64) base = c_.zext(base, 64); // 32-bit addresses of shared and local memory
  return c_.add(base, c_.constant(64, static_cast<std::uint64_t>(address.offset)));
}

Term Instructions::guard_of(const Inst& inst, const State& state) {
  if (inst.guard == ptx::none) return c_.boolean(true);
  const std::uint32_t slot = slice_.index[inst.guard];
  if (slot == ptx::none) { // a guard that no address or branch needs
    return fresh(AtomKind::unknown, k_.body.registers[inst.guard].name, inst.guard,
                 sym::Uniformity::lane, ptx::none, inst.guard);
  }
  return inst.guard_negated ? c_.not_(state[slot]) : state[slot];
}

bool Instructions::writes_needed(const Inst& inst) const {
  return std::ranges::any_of(k_.body.dst(inst), [&](const Arg& dst) {
    return dst.kind == Arg::Kind::reg && slice_.needs(dst.id);
  });
}

void Instructions::store_parameter(const Inst& inst, const State& state) {
  const auto place = parameter_place(k_.body, inst);
  if (!place) return cells_.clear();
  const unsigned bytes = ptx::bit_width(inst.mods.type) / 8;
  const auto src = k_.body.src(inst);
  for (std::size_t n = 0; n < src.size(); ++n) {
    const std::uint64_t offset = place->offset + n * bytes;
    const bool followed = src[n].kind != Arg::Kind::reg || slice_.needs(src[n].id);
    if (inst.guard != ptx::none || !followed) {
      cells_.forget(place->symbol, offset, bytes);
      continue;
    }
    const Term v = value_of(src[n], state);
    cells_.store(place->symbol, offset, bytes,
                 sem::truncate_stored(domain_, inst.mods.type, v, c_.width(v)));
  }
}

CallValues Instructions::arguments_of(const Inst& call, const State& state) {
  CallValues arguments;
  const auto src = k_.body.src(call);
  for (std::uint32_t n = 0; n < src.size(); ++n) {
    const bool followed = src[n].kind != Arg::Kind::symbol &&
                          (src[n].kind != Arg::Kind::reg || slice_.needs(src[n].id));
    arguments.registers.push_back(followed ? value_of(src[n], state) : Term{});
    if (src[n].kind == Arg::Kind::symbol) cells_.copy(src[n].id, arguments.cells, n);
  }
  return arguments;
}

// What a straight callee computes goes to its result registers and .param variables.
void Instructions::see_through(InstId id, State& state) {
  const Inst& call = k_.body.insts[id];
  const CallValues out = callees_.run(call, arguments_of(call, state));
  const auto returned = k_.body.returned(call), dst = k_.body.dst(call);
  for (std::uint32_t n = 0; n < returned.size(); ++n) {
    cells_.forget(returned[n].id, 0, ~0U);
    out.cells.copy(n, cells_, returned[n].id);
  }
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg || !slice_.needs(dst[n].id)) continue;
    const ptx::Register& reg = k_.body.registers[dst[n].id];
    const Term value = n < out.registers.size() ? out.registers[n] : Term{};
    const bool fits = value.valid() && c_.width(value) == ptx::bit_width(reg.type);
    Term& place = state[slice_.index[dst[n].id]];
    place =
        fits ? value
             : fresh(AtomKind::unknown, fmt::format("{}@{}", reg.name, ptx::line_of(k_.body, call)),
                     dst[n].id, sym::Uniformity::lane, id, static_cast<std::uint32_t>(n));
    k_.trace.definitions.push_back({id, dst[n].id, place});
  }
}

std::optional<Event> Instructions::make_event(InstId id, analysis::BlockId block,
                                              const State& state) {
  const Inst& inst = k_.body.insts[id];
  if (leaves_memory_alone(inst)) return std::nullopt;
  const bool access = is_plain_access(k_.body, inst);
  if (access && inst.mods.space == Space::param) return std::nullopt;
  Event event{.inst = id, .block = block, .space = inst.mods.space, .type = inst.mods.type};
  event.guard = guard_of(inst, state);
  if (!access) return event;
  event.kind = ptx::group(inst.op) == Group::load ? EventKind::load : EventKind::store;
  event.element_bytes = ptx::bit_width(inst.mods.type) / 8;
  event.elements = inst.mods.vector;
  event.ordered = inst.mods.order != ptx::Order::weak;
  event.plain_cache = inst.mods.cache != ptx::Cache::cv && inst.mods.cache != ptx::Cache::lu;
  event.read_only = inst.mods.nc || inst.mods.space == Space::const_;
  event.address = address_of(k_.body.addr(inst)[0], state);
  if (slice_.values && event.kind == EventKind::store) {
    for (const Arg& src : k_.body.src(inst)) {
      const Term v = value_of(src, state);
      event.values.push_back(sem::truncate_stored(domain_, event.type, v, c_.width(v)));
    }
  }
  return event;
}

void Instructions::execute(InstId id, const Event* event, State& state) {
  const Inst& inst = k_.body.insts[id];
  const auto dst = k_.body.dst(inst);
  const std::vector<Term> results = results_of(id, event, state);
  const Term guard = guard_of(inst, state);
  if (c_.value(guard) == sym::Bits{0}) return;
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg || !slice_.needs(dst[n].id)) continue;
    Term& place = state[slice_.index[dst[n].id]];
    place = c_.ite(guard, results[n], place);
    k_.trace.definitions.push_back({id, dst[n].id, place});
  }
}

std::vector<Term> Instructions::results_of(InstId id, const Event* event, const State& state) {
  const Inst& inst = k_.body.insts[id];
  const auto dst = k_.body.dst(inst);
  std::vector<Term> results(dst.size());
  if (!inst.opaque && ptx::group(inst.op) == Group::pure) {
    if (const auto step = sem::find_step<SymbolicDomain>(k_.body, inst)) {
      const sem::Operation operation = sem::operation(k_.body, inst);
      std::vector<Term> sources;
      for (const Arg& src : k_.body.src(inst))
        sources.push_back(value_of(src, state));
      step(domain_, operation, sources, results);
      return results;
    }
  }
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg) continue;
    results[n] = loaded(id, n, event);
    if (results[n].valid()) continue;
    const ptx::RegId reg = dst[n].id;
    const bool load = ptx::group(inst.op) == Group::load;
    results[n] =
        fresh(load ? AtomKind::loaded : AtomKind::unknown,
              fmt::format("{}@{}", k_.body.registers[reg].name, ptx::line_of(k_.body, inst)), reg,
              to_sym(k_.uniformity.registers[reg]), id, static_cast<std::uint32_t>(n));
  }
  return results;
}

// The value of a load from memory that cannot change: parameters, constants, .nc loads. Invalid for
// every other load.
Term Instructions::loaded(InstId id, std::size_t element, const Event* event) {
  const Inst& inst = k_.body.insts[id];
  if (!is_plain_access(k_.body, inst)) return {};
  const unsigned width = ptx::bit_width(inst.mods.type);
  Term raw;
  if (inst.mods.space == Space::param) {
    raw = parameter(k_.body.addr(inst)[0], static_cast<unsigned>(element), width);
  } else if (event != nullptr && event->read_only && !event->ordered) {
    const Term address =
        c_.add(event->address, c_.constant(64, element * std::size_t{event->element_bytes}));
    raw = unchanging_load(c_, inst.mods.space, width, address);
  }
  if (!raw.valid()) return {};
  const ptx::RegId reg = k_.body.dst(inst)[element].id;
  return sem::extend_loaded(domain_, inst.mods.type, raw,
                            ptx::bit_width(k_.body.registers[reg].type));
}

Term Instructions::parameter(const ptx::Address& address, unsigned element, unsigned width) {
  if (address.base.kind != Arg::Kind::symbol) return {};
  const ptx::Symbol& s = k_.body.symbols[address.base.id];
  if (s.kind == ptx::Symbol::Kind::variable) {
    const std::uint64_t offset = address.base.value + static_cast<std::uint64_t>(address.offset);
    return cells_.load(address.base.id, offset + std::uint64_t{element} * width / 8, width / 8);
  }
  if (s.kind != ptx::Symbol::Kind::parameter) return {};
  if (!k_.body.function->is_entry) return {};
  const std::uint64_t within = address.base.value + static_cast<std::uint64_t>(address.offset) +
                               std::uint64_t{element} * width / 8;
  const auto [place, missing] = parameters_.try_emplace({s.offset + within, width});
  if (missing) {
    std::string name(s.name);
    const std::string prefix = std::string(k_.body.function->name) + "_";
    if (name.starts_with(prefix)) name.erase(0, prefix.size()); // nvcc: KERNEL_param_0
    if (within != 0) name += fmt::format("+{}", within);
    place->second = c_.atom({.name = std::move(name),
                             .width = width,
                             .uniformity = sym::Uniformity::grid,
                             .kind = static_cast<std::uint32_t>(AtomKind::parameter),
                             .tag = static_cast<std::uint32_t>(s.offset + within)});
  }
  return place->second;
}

} // namespace ptxasw::emulator
