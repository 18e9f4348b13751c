// atom and red: each active lane in turn reads, computes and writes back. Which lane comes first
// PTX does not say.
#include "simt/engine.hpp"

#include "semantics/windows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptxasw::simt {

namespace {

using ptx::Sub;
using ptx::Type;
using sem::Bits;

// A floating-point operation on one element. PTX ISA, atom: .f32 addition in global memory flushes
// subnormals, in shared memory it does not.
Bits float_operation(Sub op, Type type, Bits old, Bits b, bool global) {
  sem::Function f;
  f.fn = op == Sub::min ? sem::Fn::fmin : op == Sub::max ? sem::Fn::fmax : sem::Fn::fadd;
  f.to = f.from = type;
  f.rounding = ptx::Rounding::rn;
  f.ftz = type == Type::f32 && op == Sub::add && global;
  const std::array<Bits, 2> arguments{old, b};
  return sem::compute(f, ptx::bit_width(type), arguments);
}

Bits pair_operation(Sub op, Type element, Bits old, Bits b) {
  const Bits low = float_operation(op, element, old & 0xffff, b & 0xffff, false);
  const Bits high = float_operation(op, element, old >> 16 & 0xffff, b >> 16 & 0xffff, false);
  return high << 16 | low;
}

Bits operate(Sub op, Type type, Bits old, Bits b, Bits c, bool global) {
  using Domain = sem::ConcreteDomain;
  const unsigned w = ptx::bit_width(type);
  if (op == Sub::exch) return b;
  if (op == Sub::cas) return old == b ? c : old;
  if (type == Type::f16x2) return pair_operation(op, Type::f16, old, b);
  if (type == Type::bf16x2) return pair_operation(op, Type::bf16, old, b);
  if (ptx::is_float(type)) return float_operation(op, type, old, b, global);
  switch (op) {
  case Sub::add: return Domain::add(w, old, b);
  case Sub::and_: return old & b;
  case Sub::or_: return old | b;
  case Sub::xor_: return old ^ b;
  case Sub::inc: return old >= b ? Bits{0} : old + 1;
  case Sub::dec: return old == 0 || old > b ? b : old - 1;
  case Sub::min:
  case Sub::max: {
    const bool less = ptx::is_signed(type) ? Domain::slt(w, old, b) != 0 : old < b;
    return less == (op == Sub::min) ? old : b;
  }
  default: return old;
  }
}

} // namespace

template <class Visit> void Engine::for_lanes_in_any_order(std::uint32_t mask, Visit&& visit) {
  const bool any = launch_.schedule.kind == Schedule::Kind::independent;
  if (!any || std::has_single_bit(mask)) return for_lanes(mask, visit);
  const auto first = static_cast<unsigned>(random_.below(warp_size));
  const auto step = static_cast<unsigned>(2 * random_.below(warp_size / 2) + 1); // meets all lanes
  for (unsigned n = 0; n < warp_size; ++n) {
    const unsigned lane = (first + n * step) % warp_size;
    if ((mask >> lane & 1) != 0) visit(lane);
  }
}

void Engine::atomic(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
                    std::uint32_t mask) {
  if (!addresses(warp, operands, ins, mask)) return;
  const auto src = frame.code->src(ins);
  const auto dst = frame.code->dst(ins);
  const ptx::Sub op = ins.inst->mods.sub;
  const unsigned size = ins.element_bytes;
  const auto operand = [&](const OperandLocation& place, unsigned lane) {
    return sem::ConcreteDomain::constant(8 * size, operands.wide_lane(place, lane));
  };
  for_lanes_in_any_order(mask, [&](unsigned lane) {
    const std::uint64_t address = addresses_[lane];
    const auto bytes =
        reach(warp, frame, ins, ins.space, lane, address, std::uint64_t{size} * ins.elements, true);
    if (!bytes) return;
    const bool global = sem::space_of(address) == ptx::Space::global;
    for (std::size_t e = 0; e < ins.elements; ++e) {
      Bits old = 0;
      std::memcpy(&old, bytes->data + e * size, size);
      const Bits b = operand(src[e], lane);
      const Bits c = op == Sub::cas ? operand(src[ins.elements + e], lane) : 0;
      const Bits now = operate(op, ins.type, old, b, c, global);
      bool undefined = std::any_of(bytes->defined + e * size, bytes->defined + (e + 1) * size,
                                   [](std::uint8_t flag) { return flag == 0; });
      if (e < dst.size())
        write(frame, dst[e], lane, static_cast<std::uint64_t>(old),
              static_cast<std::uint64_t>(old >> 64), undefined);
      undefined = (undefined && op != Sub::exch) || operands.is_undefined(src[e], lane);
      std::memcpy(bytes->data + e * size, &now, size);
      std::memset(bytes->defined + e * size, undefined ? 0 : 1, size);
    }
  });
  if (result_.ok()) observe(Access::Kind::atomic, warp, ins, mask, size * ins.elements);
}

} // namespace ptxasw::simt
