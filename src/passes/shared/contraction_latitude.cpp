// Least fixed points over the registers: may a register hold a product, a constant, the result of a
// function?
#include "passes/shared/contraction_latitude.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Space;
using ptx::Type;

namespace {

bool is_float_op(const Inst& inst) {
  return ptx::is_float(inst.mods.type);
}

bool is_rounded(const Inst& inst) {
  return inst.mods.rounding != ptx::Rounding::none;
}

bool is_zero(const Arg& arg) {
  const std::uint64_t sign = arg.literal == Arg::Literal::f64   ? std::uint64_t{1} << 63
                             : arg.literal == Arg::Literal::f32 ? std::uint64_t{1} << 31
                                                                : 0;
  return arg.kind == Arg::Kind::imm && (arg.value & ~sign) == 0;
}

bool is_one(const Arg& arg) {
  constexpr std::uint64_t one64 = 0x3ff0000000000000, one32 = 0x3f800000;
  if (arg.kind != Arg::Kind::imm) return false;
  return arg.literal == Arg::Literal::f64 ? (arg.value & ~(std::uint64_t{1} << 63)) == one64
                                          : (arg.value & ~(std::uint64_t{1} << 31)) == one32;
}

// One of the powers of two that a product can be scaled by, the one of 1 left in.
bool is_scale(const Arg& arg) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 31, eighth = 0x3e000000, eight = 0x41000000,
                          mantissa = 0x7fffff;
  if (arg.kind != Arg::Kind::imm) return false;
  const std::uint64_t size = arg.value & ~sign;
  return (size & mantissa) == 0 && size >= eighth && size <= eight;
}

// Results that a zero, or another extreme value, in one operand can decide alone.
bool can_be_absorbed(const Inst& inst) {
  switch (inst.op) {
  case Op::add:
  case Op::sub:
  case Op::mul:
  case Op::mad:
  case Op::fma: return !is_float_op(inst) && inst.op != Op::add && inst.op != Op::sub;
  case Op::neg:
  case Op::abs:
  case Op::not_:
  case Op::cvt:
  case Op::mov: return false;
  default: return !is_approximate(inst);
  }
}

// Does it differ between launches, or threads?
bool varies(const ptx::Function& function, ptx::Special special) {
  using enum ptx::Special;
  if (ptx::is_along_axis(special, tid_x))
    return function.reqntid[static_cast<unsigned>(special) - static_cast<unsigned>(tid_x)] != 1;
  if (ptx::is_along_axis(special, ntid_x)) return function.reqntid[0] == 0;
  return ptx::is_along_axis(special, ctaid_x) || ptx::is_along_axis(special, nctaid_x) ||
         special == laneid || special == warpid;
}

} // namespace

bool is_unrounded(const Inst& inst) {
  const bool opcode = inst.op == Op::add || inst.op == Op::sub || inst.op == Op::mul;
  return opcode && !inst.opaque && is_float_op(inst) && !is_rounded(inst);
}

bool is_approximate(const Inst& inst) {
  switch (inst.op) {
  case Op::sin:
  case Op::cos:
  case Op::lg2:
  case Op::ex2:
  case Op::tanh:
  case Op::rsqrt: return true;
  case Op::rcp:
  case Op::sqrt:
  case Op::div: return is_float_op(inst) && !is_rounded(inst);
  default: return false;
  }
}

ContractionLatitude::ContractionLatitude(const ptx::Body& body)
    : body_(body), product_(body.registers.size() + 1), constant_(body.registers.size() + 1),
      inverse_(body.registers.size() + 1), approximation_(body.registers.size() + 1),
      memory_(body.registers.size()) {
  has_local_ = std::ranges::any_of(
      body.symbols, [](const ptx::Symbol& symbol) { return symbol.space == Space::local; });
  solve();
}

bool ContractionLatitude::is_fusable(const Inst& inst) const {
  if (inst.op != Op::add && inst.op != Op::sub) return false;
  if (!is_unrounded(inst) && inst.mods.type != Type::f32x2) return false;
  return any(product_, inst);
}

bool ContractionLatitude::reads_approximation(const Inst& inst) const {
  return any(approximation_, inst);
}

// A quotient by a power of two is a product.
bool ContractionLatitude::is_scalable(const Inst& inst) const {
  const bool product = inst.op == Op::mul || (inst.op == Op::div && is_approximate(inst));
  return product && inst.mods.type == Type::f32 && any(product_, inst) &&
         any_operand(inst, is_scale);
}

bool ContractionLatitude::is_foldable(const Inst& inst) const {
  if (!is_approximate(inst)) return false;
  const auto sources = body_.src(inst);
  return inst.opaque || may_be_constant(sources[inst.op == Op::div ? 1 : 0]) || may_be_undone(inst);
}

// A reciprocal, or a quotient, of what may be an inverse.
bool ContractionLatitude::may_be_undone(const Inst& inst) const {
  if (inst.op != Op::rcp && inst.op != Op::div) return false;
  const Arg& divisor = body_.src(inst)[inst.op == Op::div ? 1 : 0];
  return divisor.kind == Arg::Kind::reg && inverse_[divisor.id];
}

bool ContractionLatitude::folds_alike(const Inst& inst) const {
  const auto sources = body_.src(inst);
  const bool constants = !inst.opaque && std::ranges::all_of(sources, [&](const Arg& arg) {
    return always_constant(arg, 0) || !may_be_constant(arg);
  });
  return constants &&
         (!may_be_undone(inst) || always_inverse(sources[inst.op == Op::div ? 1 : 0], 0));
}

// By moves from the only function that writes it.
bool ContractionLatitude::always_inverse(const Arg& arg, unsigned depth) const {
  constexpr unsigned deepest = 16;
  if (arg.kind != Arg::Kind::reg || depth > deepest || writer_[arg.id] == ptx::none) return false;
  const Inst& by = body_.insts[writer_[arg.id]];
  if (by.opaque || by.guard != ptx::none || by.dst.count != 1) return false;
  if (by.op == Op::mov && by.src.count == 1) return always_inverse(body_.src(by)[0], depth + 1);
  return is_approximate(by);
}

// Made of literals by operations that are exact, or rounded, each of which is the only one to write
// its register.
bool ContractionLatitude::always_constant(const Arg& arg, unsigned depth) const {
  constexpr unsigned deepest = 16;
  if (arg.kind == Arg::Kind::imm) return true;
  if (arg.kind != Arg::Kind::reg || depth > deepest || writer_[arg.id] == ptx::none) return false;
  const Inst& by = body_.insts[writer_[arg.id]];
  const bool plain = !by.opaque && by.guard == ptx::none && by.dst.count == 1 &&
                     ptx::group(by.op) == Group::pure && !is_approximate(by) && by.op != Op::selp &&
                     by.op != Op::slct;
  return plain && std::ranges::all_of(body_.src(by), [&](const Arg& source) {
           return always_constant(source, depth + 1);
         });
}

bool ContractionLatitude::may_be_constant(const Arg& arg) const {
  switch (arg.kind) {
  case Arg::Kind::reg: return constant_[arg.id];
  case Arg::Kind::special: return !varies(*body_.function, arg.special);
  case Arg::Kind::symbol: return false;
  default: return true;
  }
}

bool ContractionLatitude::any(const Held& held, const Inst& inst) const {
  return std::ranges::any_of(
      body_.src(inst), [&](const Arg& arg) { return arg.kind == Arg::Kind::reg && held[arg.id]; });
}

bool ContractionLatitude::all_constant(const Inst& inst) const {
  return std::ranges::all_of(body_.src(inst), [&](const Arg& arg) { return may_be_constant(arg); });
}

bool ContractionLatitude::any_constant(const Inst& inst) const {
  return std::ranges::any_of(body_.src(inst), [&](const Arg& arg) {
    return arg.kind == Arg::Kind::imm ? is_zero(arg) : may_be_constant(arg);
  });
}

// Memory that ptxas may keep in registers.
bool ContractionLatitude::reads_private(const Inst& inst) const {
  const Space space = inst.mods.space;
  if (space == Space::param) {
    const auto addresses = body_.addr(inst);
    const bool kernels_own =
        body_.function->is_entry && addresses.size() == 1 &&
        addresses[0].base.kind == Arg::Kind::symbol &&
        body_.symbols[addresses[0].base.id].kind == ptx::Symbol::Kind::parameter;
    return !kernels_own;
  }
  return space == Space::local || (space == Space::generic && has_local_);
}

bool ContractionLatitude::writes_private(const Inst& inst) const {
  const Space space = inst.mods.space;
  return space == Space::param || space == Space::local || (space == Space::generic && has_local_);
}

// What is known without a look at the operation itself.
std::optional<bool> ContractionLatitude::without_arithmetic(const Held& held,
                                                            const Inst& inst) const {
  if (inst.opaque) return true;
  switch (ptx::group(inst.op)) {
  case Group::pure:
  case Group::warp: return std::nullopt;
  case Group::load: return reads_private(inst) && held[memory_];
  case Group::call:
  case Group::unknown: return true;
  default: return false; // of memory that others write
  }
}

// Only what is known to end in a rounding of its own, or to come from elsewhere, is no product.
bool ContractionLatitude::gives_product(const Inst& inst) const {
  const auto sources = body_.src(inst);
  const auto constant = [&](const Arg& arg, bool (*which)(const Arg&)) {
    return arg.kind == Arg::Kind::imm ? which(arg) : may_be_constant(arg);
  };
  if (const auto known = without_arithmetic(product_, inst)) return *known;
  if (ptx::group(inst.op) == Group::warp) return false; // of other lanes
  if (is_approximate(inst)) return true;
  const bool real = is_float_op(inst);
  switch (inst.op) {
  case Op::add:
  case Op::sub: // x + 0 is x
    return real && any(product_, inst) &&
           (constant(sources[0], is_zero) || constant(sources[1], is_zero));
  case Op::mul:
    if (!is_rounded(inst) || inst.mods.type == Type::f32x2) return real;
    return any(product_, inst) && (constant(sources[0], is_one) || constant(sources[1], is_one));
  case Op::fma:
  case Op::mad: // x * y + 0 is x * y
    if (!real) return false;
    return constant(sources[2], is_zero) ||
           (any(product_, inst) && (constant(sources[0], is_one) || constant(sources[1], is_one)));
  case Op::div: return real && may_be_constant(sources[1]); // x / 2 is x * 0.5
  case Op::rcp:
  case Op::sqrt:
  case Op::set:
  case Op::setp:
  case Op::mul24:
  case Op::mad24:
  case Op::rem: return false;
  default: return any(product_, inst);
  }
}

bool ContractionLatitude::gives_constant(const Inst& inst) const {
  if (const auto known = without_arithmetic(constant_, inst)) return *known;
  switch (inst.op) {
  case Op::set:
  case Op::setp: return true; // one of two
  case Op::selp:
  case Op::slct:
    return any_constant(inst) || may_be_constant(body_.src(inst)[0]) ||
           may_be_constant(body_.src(inst)[1]);
  default: return all_constant(inst) || (can_be_absorbed(inst) && any_constant(inst));
  }
}

// May one of its operands be such a number? A register that only a literal is moved to is known.
bool ContractionLatitude::any_operand(const Inst& inst, bool (*which)(const Arg&)) const {
  return std::ranges::any_of(body_.src(inst), [&](const Arg& arg) {
    if (arg.kind == Arg::Kind::imm) return which(arg);
    if (!may_be_constant(arg)) return false;
    if (arg.kind != Arg::Kind::reg || writer_[arg.id] == ptx::none) return true;
    const Inst& by = body_.insts[writer_[arg.id]];
    const bool moved = by.op == Op::mov && !by.opaque && by.src.count == 1 &&
                       body_.src(by)[0].kind == Arg::Kind::imm;
    return !moved || which(body_.src(by)[0]);
  });
}

// Perhaps with another sign, as one of several, or in other bits; sums and products do if their
// other operand may be one that changes nothing.
bool ContractionLatitude::hands_on(const Held& held, const Inst& inst) const {
  if (!any(held, inst)) return false;
  const bool real = is_float_op(inst);
  switch (inst.op) {
  case Op::add:
  case Op::sub: return !real || any_operand(inst, is_zero);
  case Op::mul:
  case Op::div: return !real || any_operand(inst, is_one);
  case Op::fma: return any_operand(inst, is_one) || any_operand(inst, is_zero);
  case Op::rcp:
  case Op::sqrt: return !real;
  default: return true;
  }
}

bool ContractionLatitude::gives_inverse(const Inst& inst) const {
  if (const auto known = without_arithmetic(inverse_, inst)) return *known;
  if (inst.op == Op::ex2 || inst.op == Op::rcp || inst.op == Op::div) return is_float_op(inst);
  return !is_approximate(inst) && hands_on(inverse_, inst);
}

bool ContractionLatitude::gives_approximation(const Inst& inst) const {
  if (const auto known = without_arithmetic(approximation_, inst)) return *known;
  return is_approximate(inst) || hands_on(approximation_, inst);
}

void ContractionLatitude::solve() {
  const bool inlined = !body_.function->is_entry; // its parameters are then the caller's values
  const auto all = {&product_, &constant_, &inverse_, &approximation_};
  for (Held* held : all)
    (*held)[memory_] = inlined;
  std::vector<bool> written(body_.registers.size());
  writer_.assign(body_.registers.size(), ptx::none);
  for (InstId n = 0; n < body_.insts.size(); ++n)
    analysis::for_each_definition(body_, body_.insts[n], [&](ptx::RegId reg) {
      writer_[reg] = written[reg] ? ptx::none : n;
      written[reg] = true;
    });
  for (std::size_t reg = 0; reg < written.size(); ++reg)
    if (!written[reg]) // perhaps a parameter
      for (Held* held : all)
        (*held)[reg] = inlined;
  bool changed = true;
  const auto raise = [&changed](Held& held, std::size_t at) {
    changed |= !held[at];
    held[at] = true;
  };
  while (std::exchange(changed, false)) {
    for (const Inst& inst : body_.insts) {
      const bool constant = gives_constant(inst), product = gives_product(inst),
                 inverse = gives_inverse(inst), approximation = gives_approximation(inst);
      analysis::for_each_definition(body_, inst, [&](ptx::RegId reg) {
        if (constant) raise(constant_, reg);
        if (product) raise(product_, reg);
        if (inverse) raise(inverse_, reg);
        if (approximation) raise(approximation_, reg);
      });
      const Group group = ptx::group(inst.op);
      if (group == Group::call)
        for (Held* held : all)
          raise(*held, memory_);
      if (group == Group::store && writes_private(inst)) {
        for (Held* held : {&product_, &inverse_, &approximation_})
          if (any(*held, inst)) raise(*held, memory_);
        if (std::ranges::any_of(body_.src(inst), [&](const Arg& a) { return may_be_constant(a); }))
          raise(constant_, memory_);
      }
    }
  }
}

namespace {

bool computes_halves(const Inst& inst) {
  return (inst.mods.type == Type::f16 || inst.mods.type == Type::bf16) && inst.op != Op::mov &&
         inst.op != Op::cvt && inst.op != Op::selp;
}

bool selects_halves(const ptx::Body& body, const Inst& inst) {
  return inst.op == Op::selp && std::ranges::any_of(body.dst(inst), [&](const Arg& arg) {
           return arg.kind == Arg::Kind::reg && ptx::bit_width(body.registers[arg.id].type) == 16;
         });
}

} // namespace

Latitude count_latitude(const ptx::Body& body) {
  Latitude sum;
  if (std::ranges::any_of(body.insts, computes_halves))
    sum.halves = static_cast<unsigned>(std::ranges::count_if(
        body.insts, [&](const Inst& inst) { return selects_halves(body, inst); }));
  analysis::Worklist callees(body.module->functions.size());
  const auto add = [&](const ptx::Body& of) {
    const ContractionLatitude latitude(of);
    for (const Inst& inst : of.insts) {
      sum.fusable += latitude.is_fusable(inst) ? 1 : 0;
      if (latitude.is_scalable(inst)) {
        ++sum.scalable;
        sum.alike += &of == &body ? 1 : 0;
      }
      if (latitude.is_foldable(inst)) {
        ++sum.foldable;
        sum.alike += &of == &body && latitude.folds_alike(inst) ? 1 : 0;
      }
      if (inst.callee != ptx::none) callees.add(inst.callee);
    }
  };
  add(body);
  while (const auto id = callees.next()) {
    const ptx::Function& callee = body.module->functions[*id];
    if (callee.is_declaration) continue; // printf and the like: not to be seen by ptxas either
    const ptx::Body called = ptx::resolve(*body.module, callee);
    if (called.usable) {
      add(called);
    } else {
      ++sum.fusable;
    }
  }
  return sum;
}

bool leaves_no_choice(const ptx::Body& body) {
  const ContractionLatitude latitude(body);
  const auto is_half = [](Type type) {
    return ptx::is_float(type) && type != Type::f32 && type != Type::f64;
  };
  return body.usable && std::ranges::none_of(body.insts, [&](const Inst& inst) {
           const Group group = ptx::group(inst.op);
           return inst.opaque || group == Group::unknown || group == Group::call ||
                  is_half(inst.mods.type) || is_half(inst.mods.type2) || is_approximate(inst) ||
                  latitude.is_fusable(inst) || latitude.is_scalable(inst);
         });
}

} // namespace ptxasw::passes
