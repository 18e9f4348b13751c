// Integer arithmetic, extended-precision arithmetic and dot products (PTX ISA 9.7.1 and 9.7.2).
#pragma once

#include "semantics/word.hpp"

namespace ptxasw::sem::rules {

// Clamps a wide sum to the range of N-bit signed numbers.
template <unsigned N, class D, unsigned W> Word<D, N> clamp_signed(Word<D, W> wide) {
  const auto result = trunc<N>(wide);
  const Bits most = (Bits{1} << (N - 1)) - 1;
  const auto bound =
      ite(wide.is_negative(), number<N>(*wide.domain, most + 1), number<N>(*wide.domain, most));
  return ite(sext<W>(result).eq(wide), result, bound);
}

inline constexpr auto add = [](auto f) { f.out(f.in(0) + f.in(1)); };
inline constexpr auto sub = [](auto f) { f.out(f.in(0) - f.in(1)); };
inline constexpr auto neg = [](auto f) { f.out(-f.in(0)); };
inline constexpr auto abs = [](auto f) {
  const auto a = f.in(0);
  f.out(ite(a.is_negative(), -a, a));
};

inline constexpr auto add_sat = [](auto f) {
  constexpr unsigned w = f.width;
  f.out(clamp_signed<w>(sext<w + 1>(f.in(0)) + sext<w + 1>(f.in(1))));
};
inline constexpr auto sub_sat = [](auto f) {
  constexpr unsigned w = f.width;
  f.out(clamp_signed<w>(sext<w + 1>(f.in(0)) - sext<w + 1>(f.in(1))));
};

inline constexpr auto add_halves = [](auto f) {
  f.out(by_halves([](auto a, auto b) { return a + b; }, f.in(0), f.in(1)));
};
inline constexpr auto sub_halves = [](auto f) {
  f.out(by_halves([](auto a, auto b) { return a - b; }, f.in(0), f.in(1)));
};

// add.cc, addc, addc.cc and so on: the sum is formed one bit wider. A subtraction adds the
// complement, so its carry means "no borrow": the ISA names the flag a borrow, which only code that
// mixes additions and subtractions could tell, and there the hardware does as here.
template <bool In, bool Out>
inline constexpr auto add_carry = [](auto f) {
  constexpr unsigned w = f.width;
  auto sum = zext<w + 1>(f.in(0)) + zext<w + 1>(f.in(1));
  if constexpr (In) sum = sum + zext<w + 1>(f.carry_in());
  f.out(trunc<w>(sum));
  if constexpr (Out) f.carry_out(bits<w, 1>(sum));
};
template <bool In, bool Out>
inline constexpr auto sub_borrow = [](auto f) {
  constexpr unsigned w = f.width;
  auto difference = zext<w + 1>(f.in(0)) - zext<w + 1>(f.in(1));
  if constexpr (In) difference = difference - zext<w + 1>(~f.carry_in());
  f.out(trunc<w>(difference));
  if constexpr (Out) f.carry_out(~bits<w, 1>(difference));
};

// The part of a product that .lo, .hi or .wide names.
template <ptx::Half Part, class F> auto product(const F& f) {
  constexpr unsigned w = F::width;
  if constexpr (Part == ptx::Half::lo) {
    return f.in(0) * f.in(1);
  } else {
    const auto full = extend<2 * w, F::is_signed>(f.in(0)) * extend<2 * w, F::is_signed>(f.in(1));
    if constexpr (Part == ptx::Half::wide)
      return full;
    else
      return bits<w, w>(full);
  }
}
template <ptx::Half Part> inline constexpr auto mul = [](auto f) { f.out(product<Part>(f)); };
template <ptx::Half Part>
inline constexpr auto mad = [](auto f) {
  const auto p = product<Part>(f);
  f.out(p + f.template at<decltype(p)::width>(2));
};
inline constexpr auto mad_hi_sat = [](auto f) {
  constexpr unsigned w = f.width;
  f.out(clamp_signed<w>(sext<w + 1>(product<ptx::Half::hi>(f)) + sext<w + 1>(f.in(2))));
};
template <ptx::Half Part, bool In, bool Out>
inline constexpr auto mad_carry = [](auto f) {
  constexpr unsigned w = f.width;
  auto sum = zext<w + 1>(product<Part>(f)) + zext<w + 1>(f.in(2));
  if constexpr (In) sum = sum + zext<w + 1>(f.carry_in());
  f.out(trunc<w>(sum));
  if constexpr (Out) f.carry_out(bits<w, 1>(sum));
};

// Products of the low 24 bits: bits 31..0 (.lo) or 47..16 (.hi).
template <ptx::Half Part, class F> auto product24(const F& f) {
  constexpr unsigned low = Part == ptx::Half::hi ? 16 : 0;
  return bits<low, 32>(extend<48, F::is_signed>(trunc<24>(f.in(0))) *
                       extend<48, F::is_signed>(trunc<24>(f.in(1))));
}
template <ptx::Half Part> inline constexpr auto mul24 = [](auto f) { f.out(product24<Part>(f)); };
template <ptx::Half Part>
inline constexpr auto mad24 = [](auto f) { f.out(product24<Part>(f) + f.u32(2)); };
inline constexpr auto mad24_hi_sat = [](auto f) {
  f.out(clamp_signed<32>(sext<33>(product24<ptx::Half::hi>(f)) + sext<33>(f.u32(2))));
};

inline constexpr auto sad = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  f.out(f.in(2) + ite(less<f.is_signed>(a, b), b - a, a - b));
};

// By zero the ISA leaves the result to the machine, which gives all ones.
inline constexpr auto div = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  auto quotient = a;
  if constexpr (f.is_signed) {
    quotient.value = f.domain.sdiv(f.width, a.value, b.value);
    quotient = ite(b.is_zero(), ~a.number(0), quotient);
  } else {
    quotient.value = f.domain.udiv(f.width, a.value, b.value);
  }
  f.out(quotient);
};
inline constexpr auto rem = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  auto rest = a;
  if constexpr (f.is_signed)
    rest.value = f.domain.srem(f.width, a.value, b.value);
  else
    rest.value = f.domain.urem(f.width, a.value, b.value);
  f.out(ite(b.is_zero(), ~a.number(0), rest));
};

template <bool Signed, bool Max>
inline constexpr auto choose = [](auto a, auto b) {
  return Max ? ite(less<Signed>(a, b), b, a) : ite(less<Signed>(b, a), b, a);
};
inline constexpr auto clip_negative = [](auto a) { return ite(a.is_negative(), a.number(0), a); };

template <bool Max, bool Relu>
inline constexpr auto minmax = [](auto f) {
  const auto best = choose<f.is_signed, Max>(f.in(0), f.in(1));
  if constexpr (Relu)
    f.out(clip_negative(best));
  else
    f.out(best);
};
template <bool Max, bool Relu>
inline constexpr auto minmax_halves = [](auto f) {
  const auto best = by_halves(choose<f.is_signed, Max>, f.in(0), f.in(1));
  if constexpr (Relu)
    f.out(by_halves(clip_negative, best));
  else
    f.out(best);
};

// dp4a: four bytes by four bytes; dp2a: two half words by the low or high two bytes. Types .u32 and
// .s32 say how each side's elements extend.
template <bool SignedA, bool SignedB>
inline constexpr auto dp4a = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  f.out(f.in(2) + extend<32, SignedA>(bits<0, 8>(a)) * extend<32, SignedB>(bits<0, 8>(b)) +
        extend<32, SignedA>(bits<8, 8>(a)) * extend<32, SignedB>(bits<8, 8>(b)) +
        extend<32, SignedA>(bits<16, 8>(a)) * extend<32, SignedB>(bits<16, 8>(b)) +
        extend<32, SignedA>(bits<24, 8>(a)) * extend<32, SignedB>(bits<24, 8>(b)));
};
template <bool SignedA, bool SignedB, unsigned From>
inline constexpr auto dp2a = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  f.out(f.in(2) + extend<32, SignedA>(bits<0, 16>(a)) * extend<32, SignedB>(bits<From, 8>(b)) +
        extend<32, SignedA>(bits<16, 16>(a)) * extend<32, SignedB>(bits<From + 8, 8>(b)));
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

inline bool is_packed(ptx::Type t) {
  return t == ptx::Type::u16x2 || t == ptx::Type::s16x2;
}
inline bool is_integer(ptx::Type t) {
  return t >= ptx::Type::b8 && t <= ptx::Type::s64;
}

template <class D, auto Plain, auto Halves, auto Sat, auto Out, auto In, auto InOut>
Step<D> find_sum(const ptx::Modifiers& m, bool carry_in) {
  if (m.cc || carry_in) {
    if (m.sat) return nullptr;
    if (carry_in) return m.cc ? at_width<D, InOut>(m.type) : at_width<D, In>(m.type);
    return at_width<D, Out>(m.type);
  }
  if (is_packed(m.type)) return m.sat ? nullptr : step<D, 32, false, Halves>;
  if (m.sat) return m.type == ptx::Type::s32 ? step<D, 32, true, Sat> : nullptr;
  return at_width<D, Plain>(m.type);
}

template <class D> Step<D> find_multiply(const ptx::Inst& inst) {
  using enum ptx::Half;
  const ptx::Modifiers& m = inst.mods;
  const bool wide_fits = ptx::bit_width(m.type) <= 32;
  if (inst.op == ptx::Op::mul) {
    if (m.half == lo) return at_width<D, rules::mul<lo>>(m.type);
    if (m.half == hi) return at_type<D, rules::mul<hi>>(m.type);
    if (m.half == wide && wide_fits) return at_type<D, rules::mul<wide>>(m.type);
    return nullptr;
  }
  if (inst.op == ptx::Op::madc || m.cc) {
    const bool in = inst.op == ptx::Op::madc;
    if (m.half == lo) {
      if (in && m.cc) return at_width<D, rules::mad_carry<lo, true, true>>(m.type);
      if (in) return at_width<D, rules::mad_carry<lo, true, false>>(m.type);
      return at_width<D, rules::mad_carry<lo, false, true>>(m.type);
    }
    if (m.half == hi) {
      if (in && m.cc) return at_type<D, rules::mad_carry<hi, true, true>>(m.type);
      if (in) return at_type<D, rules::mad_carry<hi, true, false>>(m.type);
      return at_type<D, rules::mad_carry<hi, false, true>>(m.type);
    }
    return nullptr;
  }
  if (m.sat)
    return m.half == hi && m.type == ptx::Type::s32 ? step<D, 32, true, rules::mad_hi_sat>
                                                    : nullptr;
  if (m.half == lo) return at_width<D, rules::mad<lo>>(m.type);
  if (m.half == hi) return at_type<D, rules::mad<hi>>(m.type);
  if (m.half == wide && wide_fits) return at_type<D, rules::mad<wide>>(m.type);
  return nullptr;
}

template <class D> Step<D> find_multiply24(const ptx::Inst& inst) {
  using enum ptx::Half;
  const ptx::Modifiers& m = inst.mods;
  if (ptx::bit_width(m.type) != 32 || (m.half != lo && m.half != hi)) return nullptr;
  if (inst.op == ptx::Op::mul24)
    return m.half == lo ? at_word<D, rules::mul24<lo>>(m.type)
                        : at_word<D, rules::mul24<hi>>(m.type);
  if (m.sat)
    return m.half == hi && m.type == ptx::Type::s32 ? step<D, 32, true, rules::mad24_hi_sat>
                                                    : nullptr;
  return m.half == lo ? at_word<D, rules::mad24<lo>>(m.type) : at_word<D, rules::mad24<hi>>(m.type);
}

template <class D> Step<D> find_dot_product(const ptx::Inst& inst) {
  const ptx::Modifiers& m = inst.mods;
  const bool a = ptx::is_signed(m.type), b = ptx::is_signed(m.type2);
  const auto pick = [&](Step<D> uu, Step<D> us, Step<D> su, Step<D> ss) {
    return a ? (b ? ss : su) : (b ? us : uu);
  };
  if (ptx::bit_width(m.type) != 32 || ptx::bit_width(m.type2) != 32) return nullptr;
  using namespace rules;
  if (inst.op == ptx::Op::dp4a)
    return pick(step<D, 32, false, dp4a<false, false>>, step<D, 32, false, dp4a<false, true>>,
                step<D, 32, false, dp4a<true, false>>, step<D, 32, false, dp4a<true, true>>);
  if (m.half == ptx::Half::lo)
    return pick(step<D, 32, false, dp2a<false, false, 0>>, step<D, 32, false, dp2a<false, true, 0>>,
                step<D, 32, false, dp2a<true, false, 0>>, step<D, 32, false, dp2a<true, true, 0>>);
  if (m.half == ptx::Half::hi)
    return pick(
        step<D, 32, false, dp2a<false, false, 16>>, step<D, 32, false, dp2a<false, true, 16>>,
        step<D, 32, false, dp2a<true, false, 16>>, step<D, 32, false, dp2a<true, true, 16>>);
  return nullptr;
}

template <class D, bool Max> Step<D> find_minmax(const ptx::Modifiers& m) {
  using namespace rules;
  if (m.type == ptx::Type::u16x2)
    return m.relu ? nullptr : step<D, 32, false, minmax_halves<Max, false>>;
  if (m.type == ptx::Type::s16x2)
    return m.relu ? step<D, 32, true, minmax_halves<Max, true>>
                  : step<D, 32, true, minmax_halves<Max, false>>;
  if (m.relu) return m.type == ptx::Type::s32 ? step<D, 32, true, minmax<Max, true>> : nullptr;
  return at_type<D, minmax<Max, false>>(m.type);
}

// Instructions of integer type only.
template <class D> Step<D> find_integer(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  switch (inst.op) {
  case ptx::Op::add:
  case ptx::Op::addc:
    return find_sum<D, add, add_halves, add_sat, add_carry<false, true>, add_carry<true, false>,
                    add_carry<true, true>>(m, inst.op == ptx::Op::addc);
  case ptx::Op::sub:
  case ptx::Op::subc:
    return find_sum<D, sub, sub_halves, sub_sat, sub_borrow<false, true>, sub_borrow<true, false>,
                    sub_borrow<true, true>>(m, inst.op == ptx::Op::subc);
  case ptx::Op::mul:
  case ptx::Op::mad:
  case ptx::Op::madc: return find_multiply<D>(inst);
  case ptx::Op::mul24:
  case ptx::Op::mad24: return find_multiply24<D>(inst);
  case ptx::Op::sad: return at_type<D, sad>(m.type);
  case ptx::Op::div: return at_type<D, div>(m.type);
  case ptx::Op::rem: return at_type<D, rem>(m.type);
  case ptx::Op::abs: return at_width<D, abs>(m.type);
  case ptx::Op::neg: return at_width<D, neg>(m.type);
  case ptx::Op::min: return find_minmax<D, false>(m);
  case ptx::Op::max: return find_minmax<D, true>(m);
  case ptx::Op::dp4a:
  case ptx::Op::dp2a: return find_dot_product<D>(inst);
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
