// Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5). Each instruction applies the function that
// operation() worked out from its modifiers; approximations have no semantics.
#pragma once

#include "semantics/compare.hpp"
#include "semantics/word.hpp"

namespace ptxasw::sem::rules {

inline constexpr auto float1 = [](auto f) { f.out(apply<f.width>(f.op.function, f.in(0))); };
inline constexpr auto float2 = [](auto f) {
  f.out(apply<f.width>(f.op.function, f.in(0), f.in(1)));
};
inline constexpr auto float3 = [](auto f) {
  f.out(apply<f.width>(f.op.function, f.in(0), f.in(1), f.in(2)));
};
// Packed formats: the function on each half.
inline constexpr auto halves1 = [](auto f) {
  f.out(by_halves([&](auto a) { return apply<f.width / 2>(f.op.function, a); }, f.in(0)));
};
inline constexpr auto halves2 = [](auto f) {
  f.out(by_halves([&](auto a, auto b) { return apply<f.width / 2>(f.op.function, a, b); }, f.in(0),
                  f.in(1)));
};
inline constexpr auto halves3 = [](auto f) {
  f.out(
      by_halves([&](auto a, auto b, auto c) { return apply<f.width / 2>(f.op.function, a, b, c); },
                f.in(0), f.in(1), f.in(2)));
};

inline constexpr auto reciprocal = [](auto f) {
  const Bits one = f.width == 32 ? Bits{0x3f800000} : Bits{0x3ff0000000000000};
  f.out(apply<f.width>(f.op.function, f.number(one), f.in(0)));
};
// Three operands: from left to right.
inline constexpr auto minmax3 = [](auto f) {
  const auto& best = f.op.function;
  f.out(apply<f.width>(best, apply<f.width>(best, f.in(0), f.in(1)), f.in(2)));
};
inline constexpr auto testp = [](auto f) { f.out(apply<1>(f.op.function, f.in(0))); };
// The sign of a on the magnitude of b.
inline constexpr auto copysign = [](auto f) {
  const auto sign = f.number(Bits{1} << (f.width - 1));
  f.out((f.in(0) & sign) | (f.in(1) & ~sign));
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

template <class D, auto Scalar, auto Halves> Step<D> at_format(ptx::Type type) {
  switch (type) {
  case ptx::Type::f16:
  case ptx::Type::bf16: return step<D, 16, false, Scalar>;
  case ptx::Type::f32: return step<D, 32, false, Scalar>;
  case ptx::Type::f64: return step<D, 64, false, Scalar>;
  case ptx::Type::f16x2:
  case ptx::Type::bf16x2: return step<D, 32, false, Halves>;
  case ptx::Type::f32x2: return step<D, 64, false, Halves>;
  default: return nullptr;
  }
}
template <class D, auto Rule> Step<D> at_f32_f64(ptx::Type type) {
  if (type == ptx::Type::f32) return step<D, 32, false, Rule>;
  return type == ptx::Type::f64 ? step<D, 64, false, Rule> : nullptr;
}

template <class D> Step<D> find_float(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  const bool rounded = m.rounding != ptx::Rounding::none;
  if (m.wide_approx || m.type2 != ptx::Type::none || m.oob || m.noftz ||
      m.rounding > ptx::Rounding::rp)
    return nullptr;
  switch (inst.op) {
  case ptx::Op::add:
  case ptx::Op::sub:
  case ptx::Op::mul: return at_format<D, float2, halves2>(m.type);
  case ptx::Op::fma: return rounded ? at_format<D, float3, halves3>(m.type) : nullptr;
  case ptx::Op::mad: return rounded ? at_f32_f64<D, float3>(m.type) : nullptr;
  case ptx::Op::div: return rounded ? at_f32_f64<D, float2>(m.type) : nullptr;
  case ptx::Op::rcp: return rounded ? at_f32_f64<D, reciprocal>(m.type) : nullptr;
  case ptx::Op::sqrt: return rounded ? at_f32_f64<D, float1>(m.type) : nullptr;
  case ptx::Op::abs:
  case ptx::Op::neg: return at_format<D, float1, halves1>(m.type);
  case ptx::Op::min:
  case ptx::Op::max:
    if (inst.src.count == 3)
      return m.type == ptx::Type::f32 && !m.xorsign ? step<D, 32, false, minmax3> : nullptr;
    return at_format<D, float2, halves2>(m.type);
  case ptx::Op::testp: return at_f32_f64<D, testp>(m.type);
  case ptx::Op::copysign: return at_f32_f64<D, copysign>(m.type);
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
