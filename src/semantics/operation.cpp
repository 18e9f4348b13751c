// The operand widths of an instruction, the floating-point function that it applies, and whether it
// has the operands that its rule expects.
#include "semantics/compare.hpp"
#include "semantics/convert.hpp"
#include "semantics/step.hpp"
#include "semantics/video.hpp"

namespace ptxasw::sem {

namespace {

using ptx::Op;
using ptx::Type;

bool reads_carry(const ptx::Inst& inst) {
  return inst.op == Op::addc || inst.op == Op::subc || inst.op == Op::madc;
}

// Sources that the opcode calls for, without the carry.
unsigned source_count(const ptx::Inst& inst) {
  const bool combined = inst.mods.bool_op != ptx::BoolOp::none;
  switch (inst.op) {
  case Op::abs:
  case Op::neg:
  case Op::not_:
  case Op::cnot:
  case Op::popc:
  case Op::clz:
  case Op::brev:
  case Op::bfind:
  case Op::testp:
  case Op::rcp:
  case Op::sqrt:
  case Op::cvta:
  case Op::isspacep:
  case Op::cvt: return 1;
  case Op::mad:
  case Op::madc:
  case Op::mad24:
  case Op::fma:
  case Op::sad:
  case Op::dp4a:
  case Op::dp2a:
  case Op::bfe:
  case Op::prmt:
  case Op::shf:
  case Op::fns:
  case Op::selp:
  case Op::slct: return 3;
  case Op::bfi: return 4;
  case Op::lop3: return inst.dst.count == 2 ? 5 : 4;
  case Op::setp:
  case Op::set: return combined ? 3 : 2;
  default: return 2;
  }
}

bool is_pair(Type t) {
  return t == Type::f16x2 || t == Type::bf16x2;
}

unsigned packed_element(const ptx::Inst& inst) {
  return inst.dst.count == 0 ? 0 : ptx::bit_width(inst.mods.type) / inst.dst.count;
}

// The width of destination i as the instruction makes it: what a sink is given.
unsigned produced_width(const ptx::Inst& inst, unsigned i) {
  const ptx::Modifiers& m = inst.mods;
  const unsigned w = ptx::bit_width(m.type);
  const bool last = i + 1 == inst.dst.count;
  if (m.cc && last) return 1;
  switch (inst.op) {
  case Op::setp:
  case Op::testp:
  case Op::isspacep:
  case Op::istypep: return 1;
  case Op::lop3:
  case Op::shfl:
  case Op::match:
  case Op::elect: return i == 0 ? (w == 0 ? 32 : w) : 1;
  case Op::vote: return w == 0 ? 32 : w;
  case Op::popc:
  case Op::clz:
  case Op::bfind: return 32;
  case Op::mul:
  case Op::mad: return m.half == ptx::Half::wide && w <= 64 ? 2 * w : w;
  case Op::cvt: return m.sub == ptx::Sub::pack ? 32 : w;
  case Op::mov: return inst.dst.count > 1 && m.vector == 1 ? packed_element(inst) : w;
  default: return w;
  }
}

std::uint8_t source_width(const ptx::Body& body, const ptx::Arg& arg) {
  switch (arg.kind) {
  case ptx::Arg::Kind::reg:
    return static_cast<std::uint8_t>(ptx::bit_width(body.registers[arg.id].type));
  case ptx::Arg::Kind::special: return ptx::info(arg.special).width;
  default: return 64;
  }
}

std::uint8_t destination_width(const ptx::Body& body, const ptx::Inst& inst, unsigned i) {
  const ptx::Arg& arg = body.dst(inst)[i];
  if (arg.kind == ptx::Arg::Kind::reg)
    return static_cast<std::uint8_t>(ptx::bit_width(body.registers[arg.id].type));
  return static_cast<std::uint8_t>(produced_width(inst, i));
}

Type element(Type t) {
  switch (t) {
  case Type::f16x2: return Type::f16;
  case Type::bf16x2: return Type::bf16;
  case Type::f32x2: return Type::f32;
  default: return t;
  }
}

Fn conversion(const ptx::Modifiers& m) {
  const Type to = element(m.type), from = element(m.type2);
  if (is_plain_integer(from))
    return ptx::is_signed(from) ? Fn::signed_to_float : Fn::unsigned_to_float;
  if (is_plain_integer(to)) return ptx::is_signed(to) ? Fn::float_to_signed : Fn::float_to_unsigned;
  return to == from && to_integral(m.rounding) ? Fn::fround : Fn::fconvert;
}

Function function_of(const ptx::Inst& inst) {
  const ptx::Modifiers& m = inst.mods;
  Function f;
  f.to = f.from = element(m.type);
  f.rounding = m.rounding;
  f.ftz = m.ftz;
  f.sat = m.sat;
  f.satfinite = m.satfinite;
  f.nan = m.nan;
  f.xorsign = m.xorsign;
  f.abs = m.abs;
  f.relu = m.relu;
  switch (inst.op) {
  case Op::add: f.fn = Fn::fadd; break;
  case Op::sub: f.fn = Fn::fsub; break;
  case Op::mul: f.fn = Fn::fmul; break;
  case Op::mad:
  case Op::fma: f.fn = Fn::ffma; break;
  case Op::rcp:
  case Op::div: f.fn = Fn::fdiv; break;
  case Op::sqrt: f.fn = Fn::fsqrt; break;
  case Op::min: f.fn = Fn::fmin; break;
  case Op::max: f.fn = Fn::fmax; break;
  case Op::abs:
    f.fn = Fn::fabs;
    f.abs = false;
    break;
  case Op::neg: f.fn = Fn::fneg; break;
  case Op::testp:
    f.fn = Fn::ftestp;
    f.sub = m.sub;
    break;
  case Op::set:
  case Op::setp: // the comparison itself is put in by the rule
    f = {.fn = Fn::feq, .from = element(inst.op == Op::set ? m.type2 : m.type), .ftz = m.ftz};
    break;
  case Op::cvt:
    f.fn = conversion(m);
    f.from = element(m.type2);
    break;
  default: break;
  }
  return f;
}

} // namespace

bool well_formed(const ptx::Inst& inst) {
  if (inst.addr.count != 0 || inst.dst.count == 0 || inst.src.count == 0) return false;
  if (inst.op == Op::mov) return true; // find_move counts
  const unsigned results = inst.dst.count - (inst.mods.cc ? 1 : 0);
  const unsigned sources = inst.src.count - (reads_carry(inst) ? 1 : 0);
  const bool two_results =
      inst.op == Op::setp || (inst.op == Op::lop3 && (inst.mods.bool_op != ptx::BoolOp::none ||
                                                      inst.mods.sub != ptx::Sub::none));
  if (results != 1 && !(two_results && results == 2)) return false;
  if (inst.op == Op::lop3 && (results == 2) != two_results) return false;
  unsigned wanted = source_count(inst);
  const bool pair = is_pair(inst.mods.type) || is_narrow_pair(inst.mods.type);
  if (inst.op == Op::cvt && pair && inst.mods.type2 == Type::f32) wanted = 2;
  if (inst.op == Op::cvt && inst.mods.sub == ptx::Sub::pack)
    wanted = inst.mods.type3 == Type::none ? 2 : 3;
  const bool three = sources == 3 && inst.mods.type == Type::f32;
  return sources == wanted || (three && (inst.op == Op::min || inst.op == Op::max));
}

Operation operation(const ptx::Body& body, const ptx::Inst& inst) {
  Operation op;
  op.inst = &inst;
  const auto src = body.src(inst);
  op.src_width.reserve(src.size());
  for (std::size_t i = 0; i < src.size(); ++i) {
    op.src_width.push_back(source_width(body, src[i]));
    if (src[i].kind != ptx::Arg::Kind::imm || i >= 32) continue;
    if (src[i].literal == ptx::Arg::Literal::f32) op.f32_literals |= 1U << i;
    if (src[i].literal == ptx::Arg::Literal::f64) op.f64_literals |= 1U << i;
  }
  op.dst_width.reserve(inst.dst.count);
  for (unsigned i = 0; i < inst.dst.count; ++i)
    op.dst_width.push_back(destination_width(body, inst, i));
  if (inst.op == Op::lop3 && src.size() > 3) op.table = static_cast<std::uint8_t>(src[3].value);
  op.function = function_of(inst);
  if (ptx::is_video(inst.op)) op.video = video_parts(body, inst).value_or(Video{});
  return op;
}

} // namespace ptxasw::sem
