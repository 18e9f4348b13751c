// f32 values are computed in double and rounded once; double rounding stays far below the bounds.
#include "simt/approximate.hpp"

#include <bit>
#include <cmath>

namespace ptxasw::simt {

namespace {

using ptx::Op;
using sem::Bits;
using sem::ConcreteDomain;

double function(Op op, double a, double b) {
  switch (op) {
  case Op::div: return a / b;
  case Op::rcp: return 1.0 / a;
  case Op::sqrt: return std::sqrt(a);
  case Op::rsqrt: return 1.0 / std::sqrt(a);
  case Op::sin: return std::sin(a);
  case Op::cos: return std::cos(a);
  case Op::lg2: return std::log2(a);
  case Op::ex2: return std::exp2(a);
  default: return std::tanh(a);
  }
}

float flush(float x, bool ftz) {
  return ftz && std::fpclassify(x) == FP_SUBNORMAL ? x * 0.0F : x;
}

void single(ConcreteDomain&, const sem::Operation& operation, std::span<const Bits> src,
            std::span<Bits> dst) {
  const bool ftz = operation.inst->mods.ftz;
  const auto argument = [&](std::size_t i) {
    return i < src.size() ? flush(std::bit_cast<float>(static_cast<std::uint32_t>(src[i])), ftz)
                          : 0.0F;
  };
  const float result =
      flush(static_cast<float>(function(operation.inst->op, argument(0), argument(1))), ftz);
  dst[0] = std::isnan(result) ? 0x7fffffff : std::bit_cast<std::uint32_t>(result);
}

// rcp.approx.ftz.f64, rsqrt.approx.f64: only the upper 32 bits count, on the way in and out.
void gross_double(ConcreteDomain&, const sem::Operation& operation, std::span<const Bits> src,
                  std::span<Bits> dst) {
  const auto in = std::bit_cast<double>(static_cast<std::uint64_t>(src[0]) & ~0xffffffffULL);
  const double result = function(operation.inst->op, in, 0);
  dst[0] = std::isnan(result) ? 0x7fffffff00000000
                              : std::bit_cast<std::uint64_t>(result) & ~0xffffffffULL;
}

} // namespace

sem::Step<ConcreteDomain> find_approximate(const ptx::Inst& inst) {
  if (inst.opaque || inst.mods.unknown || inst.dst.count != 1 || inst.src.count == 0)
    return nullptr;
  switch (inst.op) {
  case Op::div:
    if (inst.src.count != 2) return nullptr;
    [[fallthrough]];
  case Op::rcp:
  case Op::sqrt:
  case Op::rsqrt:
  case Op::sin:
  case Op::cos:
  case Op::lg2:
  case Op::ex2:
  case Op::tanh: break;
  default: return nullptr;
  }
  if (inst.mods.type == ptx::Type::f32) return single;
  const bool gross = inst.op == Op::rcp || inst.op == Op::rsqrt;
  return inst.mods.type == ptx::Type::f64 && gross ? gross_double : nullptr;
}

} // namespace ptxasw::simt
