// A callee is followed as a list of instructions over a frame of its own. Values that it does not
// compute from its arguments are fresh atoms that vary by lane.
#include "emulator/callee.hpp"

#include "emulator/emulate.hpp"
#include "emulator/load_key.hpp"
#include "semantics/step.hpp"

#include <algorithm>

namespace ptxasw::emulator {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::Op;
using ptx::Space;
using sym::Term;

namespace {

constexpr unsigned most_instructions = 256, most_depth = 8;

bool overlap(std::uint64_t a, unsigned a_bytes, std::uint64_t b, unsigned b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// The number of a symbol among the parameters, or among the results.
std::uint32_t operand_number(const ptx::Body& body, std::uint32_t symbol, ptx::Symbol::Kind kind) {
  const ptx::Symbol& s = body.symbols[symbol];
  return s.kind == kind ? s.index : ptx::none;
}

std::optional<ptx::RegId> register_named(const ptx::Body& body, std::string_view name) {
  const auto found = std::ranges::find(body.registers, name, &ptx::Register::name);
  if (found == body.registers.end()) return std::nullopt;
  return static_cast<ptx::RegId>(found - body.registers.begin());
}

} // namespace

void ParameterCells::forget(std::uint32_t symbol, std::uint64_t offset, unsigned bytes) {
  std::erase_if(cells_, [&](const Cell& cell) {
    return cell.symbol == symbol && overlap(cell.offset, cell.bytes, offset, bytes);
  });
}

void ParameterCells::store(std::uint32_t symbol, std::uint64_t offset, unsigned bytes, Term value) {
  forget(symbol, offset, bytes);
  cells_.push_back({symbol, offset, bytes, value});
}

Term ParameterCells::load(std::uint32_t symbol, std::uint64_t offset, unsigned bytes) const {
  for (const Cell& cell : cells_)
    if (cell.symbol == symbol && cell.offset == offset && cell.bytes == bytes) return cell.value;
  return {};
}

void ParameterCells::copy(std::uint32_t from, ParameterCells& other, std::uint32_t to) const {
  for (const Cell& cell : cells_)
    if (cell.symbol == from) other.store(to, cell.offset, cell.bytes, cell.value);
}

std::optional<ParameterPlace> parameter_place(const ptx::Body& body, const Inst& inst) {
  const bool plain = (inst.op == Op::ld || inst.op == Op::st) && !inst.opaque &&
                     inst.mods.space == Space::param && ptx::bit_width(inst.mods.type) >= 8;
  if (!plain || body.addr(inst).size() != 1) return std::nullopt;
  const ptx::Address& address = body.addr(inst)[0];
  if (address.base.kind != Arg::Kind::symbol) return std::nullopt;
  return ParameterPlace{address.base.id,
                        address.base.value + static_cast<std::uint64_t>(address.offset)};
}

bool Callees::straight(const Inst& call) {
  if (call.op != Op::call || call.opaque || call.callee == ptx::none || call.guard != ptx::none)
    return false;
  return known(call.callee, 0).straight;
}

const Callees::Known& Callees::known(std::uint32_t function, unsigned depth) {
  const auto [place, missing] = known_.try_emplace(function); // in progress: not straight
  if (missing) examine(place->second, function, depth);
  return place->second;
}

void Callees::examine(Known& callee, std::uint32_t function, unsigned depth) {
  const ptx::Function& f = module_.functions[function];
  const bool small = f.body.count <= 4 * most_instructions; // statements: lines and labels too
  if (f.is_entry || f.is_declaration || f.external || f.weak || f.has_opaque || !small ||
      depth > most_depth)
    return;
  callee.body = ptx::resolve(module_, f);
  const auto& insts = callee.body.insts;
  if (!callee.body.usable || insts.empty()) return;
  callee.size = static_cast<unsigned>(insts.size());
  for (std::size_t i = 0; i < insts.size(); ++i)
    if (!acceptable(callee, insts[i], i + 1 == insts.size(), depth)) return;
  callee.straight = callee.size <= most_instructions;
}

bool Callees::acceptable(Known& callee, const Inst& inst, bool last, unsigned depth) {
  if (last != (inst.op == Op::ret && inst.guard == ptx::none)) return false;
  switch (ptx::group(inst.op)) {
  case Group::pure: return true;
  case Group::exit: return last;
  case Group::load: return !inst.opaque && inst.mods.order == ptx::Order::weak;
  case Group::store: return parameter_place(callee.body, inst).has_value();
  case Group::call: {
    if (inst.opaque || inst.callee == ptx::none || inst.guard != ptx::none) return false;
    const Known& inner = known(inst.callee, depth + 1);
    callee.size += inner.size;
    return inner.straight && callee.size <= most_instructions;
  }
  default: return false;
  }
}

Term Callees::unknown(std::string_view name, unsigned width) {
  return c_.atom({.name = std::string(name),
                  .width = width,
                  .uniformity = sym::Uniformity::lane,
                  .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                  .tag = ptx::none});
}

CallValues Callees::run(const Inst& call, const CallValues& arguments) {
  return run(known(call.callee, 0), arguments);
}

CallValues Callees::run(const Known& callee, const CallValues& arguments) {
  const ptx::Body& body = callee.body;
  Frame frame{body, std::vector<Term>(body.registers.size()), {}};
  const auto& parameters = body.function->parameters;
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.registers.size()); ++i) {
    const auto reg = register_named(body, parameters[i].name);
    const Term value = arguments.registers[i];
    if (parameters[i].space != Space::reg || !reg || !value.valid()) continue;
    const unsigned width = ptx::bit_width(body.registers[*reg].type);
    if (c_.width(value) >= width) frame.registers[*reg] = c_.extract(value, 0, width);
  }
  for (std::uint32_t s = 0; s < body.symbols.size(); ++s) {
    const std::uint32_t n = operand_number(body, s, ptx::Symbol::Kind::parameter);
    if (n != ptx::none) arguments.cells.copy(n, frame.cells, s);
  }
  for (const Inst& inst : body.insts)
    step(frame, inst);

  CallValues out;
  for (const ptx::Variable& result : body.function->returns) {
    const auto reg = register_named(body, result.name);
    out.registers.push_back(result.space == Space::reg && reg ? frame.registers[*reg] : Term{});
  }
  for (std::uint32_t s = 0; s < body.symbols.size(); ++s) {
    const std::uint32_t n = operand_number(body, s, ptx::Symbol::Kind::return_parameter);
    if (n != ptx::none) frame.cells.copy(s, out.cells, n);
  }
  return out;
}

void Callees::step(Frame& frame, const Inst& inst) {
  const Group group = ptx::group(inst.op);
  if (group == Group::exit) return;
  if (group == Group::call) return call(frame, inst);
  if (group == Group::store) {
    const auto place = parameter_place(frame.body, inst);
    const unsigned bytes = ptx::bit_width(inst.mods.type) / 8;
    const auto src = frame.body.src(inst);
    for (std::size_t n = 0; n < src.size(); ++n) {
      const std::uint64_t offset = place->offset + n * bytes;
      if (inst.guard != ptx::none) {
        frame.cells.forget(place->symbol, offset, bytes);
        continue;
      }
      const Term v = value(frame, src[n]);
      frame.cells.store(place->symbol, offset, bytes,
                        sem::truncate_stored(domain_, inst.mods.type, v, c_.width(v)));
    }
    return;
  }
  const std::vector<Term> values = results(frame, inst);
  const auto dst = frame.body.dst(inst);
  Term guard;
  if (inst.guard != ptx::none) {
    Arg predicate;
    predicate.kind = Arg::Kind::reg;
    predicate.id = inst.guard;
    guard = value(frame, predicate);
    if (inst.guard_negated) guard = c_.not_(guard);
  }
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg) continue;
    const Term before = guard.valid() ? value(frame, dst[n]) : Term{};
    frame.registers[dst[n].id] = guard.valid() ? c_.ite(guard, values[n], before) : values[n];
  }
}

void Callees::call(Frame& frame, const Inst& inst) {
  CallValues arguments;
  const auto src = frame.body.src(inst);
  for (std::uint32_t n = 0; n < src.size(); ++n) {
    const bool in_memory = src[n].kind == Arg::Kind::symbol;
    arguments.registers.push_back(in_memory ? Term{} : value(frame, src[n]));
    if (in_memory) frame.cells.copy(src[n].id, arguments.cells, n);
  }
  const CallValues out = run(known(inst.callee, 0), arguments);
  const auto dst = frame.body.dst(inst), returned = frame.body.returned(inst);
  for (std::size_t n = 0; n < dst.size(); ++n)
    if (dst[n].kind == Arg::Kind::reg)
      frame.registers[dst[n].id] = n < out.registers.size() ? out.registers[n] : Term{};
  for (std::uint32_t n = 0; n < returned.size(); ++n) {
    frame.cells.forget(returned[n].id, 0, ~0U);
    out.cells.copy(n, frame.cells, returned[n].id);
  }
}

std::vector<Term> Callees::results(Frame& frame, const Inst& inst) {
  const auto dst = frame.body.dst(inst);
  std::vector<Term> values(dst.size());
  if (ptx::group(inst.op) == Group::pure && !inst.opaque) {
    if (const auto rule = sem::find_step<SymbolicDomain>(frame.body, inst)) {
      std::vector<Term> sources;
      for (const Arg& src : frame.body.src(inst)) {
        const Term v = value(frame, src);
        sources.push_back(src.negated ? c_.not_(v) : v);
      }
      rule(domain_, sem::operation(frame.body, inst), sources, values);
      return values;
    }
  }
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg) continue;
    const ptx::Register& reg = frame.body.registers[dst[n].id];
    values[n] = loaded(frame, inst, n);
    if (!values[n].valid()) values[n] = unknown(reg.name, ptx::bit_width(reg.type));
  }
  return values;
}

// Of a parameter, or of memory that cannot change.
Term Callees::loaded(Frame& frame, const Inst& inst, std::size_t element) {
  const unsigned width = ptx::bit_width(inst.mods.type);
  if (inst.op != Op::ld || inst.opaque || width < 8 || frame.body.addr(inst).size() != 1) return {};
  Term raw;
  if (const auto place = parameter_place(frame.body, inst)) {
    raw = frame.cells.load(place->symbol, place->offset + element * width / 8, width / 8);
  } else if (inst.mods.space != Space::param &&
             (inst.mods.nc || inst.mods.space == Space::const_)) {
    const ptx::Address& address = frame.body.addr(inst)[0];
    Term base = value(frame, address.base);
    if (c_.width(base) < 64) base = c_.zext(base, 64);
    const std::uint64_t offset =
        static_cast<std::uint64_t>(address.offset) + element * std::uint64_t{width} / 8;
    raw = unchanging_load(c_, inst.mods.space, width, c_.add(base, c_.constant(64, offset)));
  }
  if (!raw.valid()) return {};
  const ptx::RegId reg = frame.body.dst(inst)[element].id;
  return sem::extend_loaded(domain_, inst.mods.type, raw,
                            ptx::bit_width(frame.body.registers[reg].type));
}

Term Callees::value(Frame& frame, const Arg& arg) {
  switch (arg.kind) {
  case Arg::Kind::imm: return c_.constant(64, arg.value);
  case Arg::Kind::reg: {
    const ptx::Register& reg = frame.body.registers[arg.id];
    Term& held = frame.registers[arg.id];
    if (!held.valid()) held = unknown(reg.name, ptx::bit_width(reg.type));
    return held;
  }
  case Arg::Kind::special: return special_(arg.special);
  // A variable's address has one atom in its kernel's body; here it may be anything.
  case Arg::Kind::symbol: return unknown(frame.body.symbols[arg.id].name, 64);
  case Arg::Kind::sink: break;
  }
  return c_.constant(64, 0);
}

} // namespace ptxasw::emulator
