// cvt (PTX ISA 9.7.9.21): integer to integer is written out; whatever has a floating-point side
// applies a function.
#pragma once

#include "semantics/move.hpp"
#include "semantics/word.hpp"

namespace ptxasw::sem::rules {

// The frame is the destination's type. Without .sat the value is cut off; either way a wider
// destination register receives it extended by the destination's sign.
template <unsigned From, bool SignedFrom, bool Sat>
inline constexpr auto cvt_integer = [](auto f) {
  constexpr unsigned to = f.width;
  const auto a = f.template at<From>(0);
  if constexpr (!Sat) {
    if constexpr (From >= to)
      f.out(trunc<to>(a), f.is_signed);
    else
      f.out(extend<to, SignedFrom>(a), f.is_signed);
  } else {
    constexpr unsigned wide = (From > to ? From : to) + 1;
    const Bits top = Bits{1} << (to - (f.is_signed ? 1 : 0));
    const auto x = extend<wide, SignedFrom>(a);
    const auto low = x.number(f.is_signed ? -top : 0), high = x.number(top - 1);
    f.out(trunc<to>(ite(x.slt(low), low, ite(high.slt(x), high, x))), f.is_signed);
  }
};

// To a floating-point format, or from one to an integer: the frame is the destination's type.
template <unsigned From>
inline constexpr auto cvt_function =
    [](auto f) { f.out(apply<f.width>(f.op.function, f.template at<From>(0)), f.is_signed); };
inline constexpr auto bf16_to_f32 = [](auto f) {
  f.out(concat(f.template at<16>(0), number<16>(f.domain, 0)));
};
// cvt.f16x2.f32 d, a, b: a goes to the upper half.
inline constexpr auto cvt_pack = [](auto f) {
  f.out(concat(apply<16>(f.op.function, f.u32(0)), apply<16>(f.op.function, f.u32(1))));
};

// To and from two narrow numbers, each in a byte.
inline constexpr auto cvt_narrow_pack = [](auto f) {
  f.out(concat(apply<8>(f.op.function, f.u32(0)), apply<8>(f.op.function, f.u32(1))));
};
inline constexpr auto cvt_narrow = [](auto f) {
  const auto a = f.u32(0);
  f.out(concat(apply<8>(f.op.function, bits<16, 16>(a)), apply<8>(f.op.function, bits<0, 16>(a))));
};
inline constexpr auto cvt_from_narrow = [](auto f) {
  const auto a = f.template at<16>(0);
  f.out(concat(apply<16>(f.op.function, bits<8, 8>(a)), apply<16>(f.op.function, bits<0, 8>(a))));
};

// cvt.pack d, a, b, c: a and b within the range of N bits, b lowest, c above them.
template <unsigned N, bool Signed>
inline constexpr auto cvt_pack_integers = [](auto f) {
  const auto within = [&](unsigned i) {
    const auto x = f.u32(i);
    const Bits top = Bits{1} << (N - (Signed ? 1 : 0));
    const auto low = x.number(Signed ? -top : 0), high = x.number(top - 1);
    return trunc<N>(ite(x.slt(low), low, ite(high.slt(x), high, x)));
  };
  const auto both = concat(within(0), within(1));
  if constexpr (N == 16)
    f.out(both);
  else
    f.out(concat(bits<0, 32 - 2 * N>(f.u32(2)), both));
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

template <class D> Step<D> find_cvt_pack(const ptx::Modifiers& m, unsigned sources) {
  using namespace rules;
  if (!m.sat || m.type2 != ptx::Type::s32) return nullptr;
  const bool with_third = m.type3 == ptx::Type::b32 && sources == 3;
  switch (m.type) {
  case ptx::Type::u16:
    return sources == 2 && !with_third ? step<D, 32, false, cvt_pack_integers<16, false>> : nullptr;
  case ptx::Type::s16:
    return sources == 2 && !with_third ? step<D, 32, false, cvt_pack_integers<16, true>> : nullptr;
  case ptx::Type::u8: return with_third ? step<D, 32, false, cvt_pack_integers<8, false>> : nullptr;
  case ptx::Type::s8: return with_third ? step<D, 32, false, cvt_pack_integers<8, true>> : nullptr;
  default: return nullptr;
  }
}

inline bool is_narrow_pair(ptx::Type t) {
  return t >= ptx::Type::e4m3x2 && t <= ptx::Type::e3m2x2;
}
template <class D> Step<D> find_cvt_narrow(const ptx::Modifiers& m, unsigned sources) {
  using namespace rules;
  if (m.rounding != ptx::Rounding::rn || m.sat || m.ftz) return nullptr;
  if (is_narrow_pair(m.type2))
    return m.type == ptx::Type::f16x2 && !m.satfinite && sources == 1
               ? step<D, 32, false, cvt_from_narrow>
               : nullptr;
  if (!m.satfinite) return nullptr;
  if (m.type2 == ptx::Type::f32 && sources == 2) return step<D, 16, false, cvt_narrow_pack>;
  return m.type2 == ptx::Type::f16x2 && sources == 1 ? step<D, 16, false, cvt_narrow> : nullptr;
}

// The rule in a frame of the destination's type.
template <class D, auto Rule> Step<D> at_destination(ptx::Type type) {
  if (ptx::bit_width(type) != 8) return at_type<D, Rule>(type);
  return ptx::is_signed(type) ? step<D, 8, true, Rule> : step<D, 8, false, Rule>;
}

template <class D, bool Sat> Step<D> find_cvt_integer(ptx::Type to, ptx::Type from) {
  using namespace rules;
  switch (from) {
  case ptx::Type::u8: return at_destination<D, cvt_integer<8, false, Sat>>(to);
  case ptx::Type::u16: return at_destination<D, cvt_integer<16, false, Sat>>(to);
  case ptx::Type::u32: return at_destination<D, cvt_integer<32, false, Sat>>(to);
  case ptx::Type::u64: return at_destination<D, cvt_integer<64, false, Sat>>(to);
  case ptx::Type::s8: return at_destination<D, cvt_integer<8, true, Sat>>(to);
  case ptx::Type::s16: return at_destination<D, cvt_integer<16, true, Sat>>(to);
  case ptx::Type::s32: return at_destination<D, cvt_integer<32, true, Sat>>(to);
  case ptx::Type::s64: return at_destination<D, cvt_integer<64, true, Sat>>(to);
  default: return nullptr;
  }
}

inline bool is_plain_integer(ptx::Type t) {
  return t >= ptx::Type::u8 && t <= ptx::Type::s64;
}
inline bool is_plain_float(ptx::Type t) {
  return t == ptx::Type::f16 || t == ptx::Type::bf16 || t == ptx::Type::f32 || t == ptx::Type::f64;
}
inline bool to_integral(ptx::Rounding r) {
  return r >= ptx::Rounding::rni && r <= ptx::Rounding::rpi;
}

template <class D> Step<D> find_cvt(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  const ptx::Type to = m.type, from = m.type2;
  if (m.sub == ptx::Sub::pack) return find_cvt_pack<D>(m, inst.src.count);
  if (m.type3 != ptx::Type::none || m.rounding == ptx::Rounding::rs) return nullptr;
  if (is_narrow_pair(to) || is_narrow_pair(from)) return find_cvt_narrow<D>(m, inst.src.count);
  const bool integers = is_plain_integer(to) && is_plain_integer(from);
  if (inst.src.count == 2) {
    const bool pair = to == ptx::Type::f16x2 || to == ptx::Type::bf16x2;
    return pair && from == ptx::Type::f32 && !m.sat ? step<D, 32, false, cvt_pack> : nullptr;
  }
  if (integers)
    return m.sat ? find_cvt_integer<D, true>(to, from) : find_cvt_integer<D, false>(to, from);
  // A format to itself or bf16 to f32, with nothing to do on the way: the bits move as they are.
  const bool plain = m.rounding == ptx::Rounding::none && !m.sat && !m.ftz && !m.relu;
  if (plain && to == from && is_plain_float(to)) return at_width<D, mov>(to);
  if (plain && to == ptx::Type::f32 && from == ptx::Type::bf16)
    return step<D, 32, false, bf16_to_f32>;
  if (m.satfinite && to == ptx::Type::tf32) return nullptr;
  const bool target = is_plain_integer(to) || is_plain_float(to) || to == ptx::Type::tf32;
  const bool source = is_plain_integer(from) || is_plain_float(from);
  if (!target || !source || (to == ptx::Type::tf32 && from != ptx::Type::f32)) return nullptr;
  if (is_plain_integer(to) && !to_integral(m.rounding)) return nullptr;
  if (is_plain_integer(from) && to_integral(m.rounding)) return nullptr;
  switch (ptx::bit_width(from)) {
  case 8: return at_destination<D, cvt_function<8>>(to);
  case 16: return at_destination<D, cvt_function<16>>(to);
  case 32: return at_destination<D, cvt_function<32>>(to);
  case 64: return at_destination<D, cvt_function<64>>(to);
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
