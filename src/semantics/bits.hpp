// Logic, shifts, bit fields and bit counting (PTX ISA 9.7.1, 9.7.8).
#pragma once

#include "semantics/word.hpp"

namespace ptxasw::sem::rules {

inline constexpr auto and_ = [](auto f) { f.out(f.in(0) & f.in(1)); };
inline constexpr auto or_ = [](auto f) { f.out(f.in(0) | f.in(1)); };
inline constexpr auto xor_ = [](auto f) { f.out(f.in(0) ^ f.in(1)); };
inline constexpr auto not_ = [](auto f) { f.out(~f.in(0)); };
inline constexpr auto cnot = [](auto f) { f.out(zext<f.width>(f.in(0).is_zero())); };

// The amount is 32 bits wide whatever the type; 16-bit values are shifted at 32 bits so that an
// amount of 65536 is not one of 0.
template <class F> inline constexpr unsigned shift_width = F::width < 32 ? 32 : F::width;
inline constexpr auto shl = [](auto f) {
  constexpr unsigned w = shift_width<decltype(f)>;
  f.out(trunc<f.width>(zext<w>(f.in(0)).shl(zext<w>(f.u32(1)))));
};
inline constexpr auto shr = [](auto f) {
  constexpr unsigned w = shift_width<decltype(f)>;
  const auto n = zext<w>(f.u32(1));
  if constexpr (f.is_signed)
    f.out(trunc<f.width>(sext<w>(f.in(0)).ashr(n)));
  else
    f.out(trunc<f.width>(zext<w>(f.in(0)).lshr(n)));
};

template <bool Left, bool Wrap>
inline constexpr auto funnel = [](auto f) {
  const auto c = f.u32(2);
  const auto limit = c.number(32);
  const auto n = zext<64>(Wrap ? c & c.number(31) : ite(c.ult(limit), c, limit));
  const auto pair = concat(f.u32(1), f.u32(0));
  if constexpr (Left)
    f.out(bits<32, 32>(pair.shl(n)));
  else
    f.out(bits<0, 32>(pair.lshr(n)));
};

// The function of N words that the table gives, split at the first word: x ? one : zero, bit by
// bit, in the shortest way. 0xf8 becomes a | (b & c), 0x96 becomes a ^ b ^ c.
template <unsigned N, class W> W look_up(unsigned table, const W* words) {
  if constexpr (N == 0) {
    return words[-1].number(table != 0 ? ~Bits{0} : 0);
  } else {
    constexpr unsigned rows = 1U << (N - 1), mask = (1U << rows) - 1;
    const unsigned one = table >> rows & mask, zero = table & mask;
    const W x = *words;
    const auto rest = [words](unsigned part) { return look_up<N - 1>(part, words + 1); };
    if (one == zero) return rest(zero);
    if (one == (~zero & mask)) return x ^ rest(zero);
    if (zero == 0) return x & rest(one);
    if (one == 0) return ~x & rest(zero);
    if (one == mask) return x | rest(zero);
    if (zero == mask) return ~x | rest(one);
    return (x & rest(one)) | (~x & rest(zero));
  }
}
template <class F> auto look_up(const F& f) {
  const std::array words{f.in(0), f.in(1), f.in(2)};
  return look_up<3>(f.op.table, words.data());
}
inline constexpr auto lop3 = [](auto f) { f.out(look_up(f)); };
template <bool And>
inline constexpr auto lop3_pred = [](auto f) {
  const auto d = look_up(f);
  const auto q = f.pred(4);
  f.out(d);
  f.out(And ? ~d.is_zero() & q : ~d.is_zero() | q, false, 1);
};

// A mask of `length` ones from bit 0.
template <class W> W ones(W length) {
  return ~(~length.number(0)).shl(length);
}

// A position or length: of 32-bit fields taken modulo 256, as the ISA says. It restricts the
// operands of 64-bit ones to that range too; outside of it the hardware takes them as they are.
template <class F> auto field(const F& f, unsigned i) {
  constexpr unsigned significant = F::width == 64 ? 32 : 8;
  return zext<F::width>(f.template at<significant>(i));
}

inline constexpr auto bfe = [](auto f) {
  const auto a = f.in(0), position = field(f, 1), length = field(f, 2);
  if constexpr (!f.is_signed) {
    f.out(a.lshr(position) & ones(length));
  } else {
    // Move the field, or as much of it as a has, to the top and back down.
    const auto w = a.number(f.width), stop = position + length;
    const auto end = ite(stop.ult(w), stop, w);
    const auto up = w - end;
    f.out(ite(length.is_zero(), a.number(0), a.shl(up).ashr(up + position)));
  }
};
inline constexpr auto bfi = [](auto f) {
  const auto position = field(f, 2), mask = ones(field(f, 3)).shl(position);
  f.out((f.in(0).shl(position) & mask) | (f.in(1) & ~mask));
};

template <bool Wrap>
inline constexpr auto szext = [](auto f) {
  const auto a = f.in(0), b = f.in(1), n = b & b.number(31);
  const auto mask = (~a.number(0)).shl(n);
  auto result = a & ~mask;
  if constexpr (f.is_signed) {
    const auto sign = a.lshr((n - n.number(1)) & n.number(31)) & a.number(1);
    result = ite(~n.is_zero() & sign.eq(a.number(1)), result | mask, result);
  }
  if constexpr (!Wrap) result = ite(b.ult(b.number(32)), result, a);
  f.out(result);
};
template <bool Wrap>
inline constexpr auto bmsk = [](auto f) {
  const auto a = f.in(0), b = f.in(1), limit = a.number(32);
  const auto position = a & a.number(31), length = b & b.number(31);
  const auto low = (~a.number(0)).shl(position);
  const auto mask = low & ~(~a.number(0)).shl(position + length);
  if constexpr (Wrap)
    f.out(mask);
  else
    f.out(ite(a.ult(limit), ite(b.ult(limit), mask, low), a.number(0)));
};

// Each control nibble picks one of eight bytes, or that byte's sign eight times.
inline constexpr auto prmt = [](auto f) {
  const auto source = concat(f.u32(1), f.u32(0));
  const auto control = f.u32(2);
  const auto pick = [&](auto nibble) {
    const auto place = zext<64>(nibble & nibble.number(7)).shl(source.number(3));
    const auto byte = trunc<8>(source.lshr(place));
    return ite(bits<3, 1>(nibble), byte.ashr(byte.number(7)), byte);
  };
  f.out(concat(concat(pick(bits<12, 4>(control)), pick(bits<8, 4>(control))),
               concat(pick(bits<4, 4>(control)), pick(bits<0, 4>(control)))));
};

// The fixed permutations: the two low bits of the control choose one of four control words.
template <std::uint16_t C0, std::uint16_t C1, std::uint16_t C2, std::uint16_t C3>
inline constexpr auto prmt_fixed = [](auto f) {
  const auto source = concat(f.u32(1), f.u32(0));
  const auto control = f.u32(2);
  const auto permuted = [&]<std::uint16_t Control>(std::integral_constant<std::uint16_t, Control>) {
    return concat(
        concat(bits<8 * (Control >> 12 & 7), 8>(source), bits<8 * (Control >> 8 & 7), 8>(source)),
        concat(bits<8 * (Control >> 4 & 7), 8>(source), bits<8 * (Control & 7), 8>(source)));
  };
  const auto even = ite(bits<1, 1>(control), permuted(std::integral_constant<std::uint16_t, C2>{}),
                        permuted(std::integral_constant<std::uint16_t, C0>{}));
  const auto odd = ite(bits<1, 1>(control), permuted(std::integral_constant<std::uint16_t, C3>{}),
                       permuted(std::integral_constant<std::uint16_t, C1>{}));
  f.out(ite(bits<0, 1>(control), odd, even));
};

template <class F> Function counting(Fn fn, const F&) {
  return {.fn = fn, .to = ptx::Type::u32, .from = F::width == 64 ? ptx::Type::b64 : ptx::Type::b32};
}
inline constexpr auto popc = [](auto f) { f.out(apply<32>(counting(Fn::popc, f), f.in(0))); };
inline constexpr auto clz = [](auto f) { f.out(apply<32>(counting(Fn::clz, f), f.in(0))); };
inline constexpr auto brev = [](auto f) {
  Function function = counting(Fn::brev, f);
  function.to = function.from;
  f.out(apply<f.width>(function, f.in(0)));
};
inline constexpr auto fns = [](auto f) {
  f.out(apply<32>(counting(Fn::fns, f), f.u32(0), f.u32(1), f.u32(2)));
};

// Of the most significant bit that differs from the sign; all ones if there is none.
template <bool Shift>
inline constexpr auto bfind = [](auto f) {
  auto a = f.in(0);
  if constexpr (f.is_signed) a = ite(a.is_negative(), ~a, a);
  const auto zeros = apply<32>(counting(Fn::clz, f), a);
  if constexpr (Shift)
    f.out(ite(a.is_zero(), zeros.number(~0U), zeros));
  else
    f.out(zeros.number(f.width - 1) - zeros);
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

template <class D, auto Rule> Step<D> at_logic(ptx::Type type) {
  return type == ptx::Type::pred ? step<D, 1, false, Rule> : at_width<D, Rule>(type);
}

template <class D> Step<D> find_prmt(ptx::Sub mode) {
  using namespace rules;
  switch (mode) {
  case ptx::Sub::none: return step<D, 32, false, prmt>;
  case ptx::Sub::f4e: return step<D, 32, false, prmt_fixed<0x3210, 0x4321, 0x5432, 0x6543>>;
  case ptx::Sub::b4e: return step<D, 32, false, prmt_fixed<0x5670, 0x6701, 0x7012, 0x0123>>;
  case ptx::Sub::rc8: return step<D, 32, false, prmt_fixed<0x0000, 0x1111, 0x2222, 0x3333>>;
  case ptx::Sub::ecl: return step<D, 32, false, prmt_fixed<0x3210, 0x3211, 0x3222, 0x3333>>;
  case ptx::Sub::ecr: return step<D, 32, false, prmt_fixed<0x0000, 0x1110, 0x2210, 0x3210>>;
  case ptx::Sub::rc16: return step<D, 32, false, prmt_fixed<0x1010, 0x3232, 0x1010, 0x3232>>;
  default: return nullptr;
  }
}

template <class D> Step<D> find_bits(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  const bool is32 = ptx::bit_width(m.type) == 32;
  const bool wrap = m.sub == ptx::Sub::wrap || m.sub2 == ptx::Sub::wrap;
  const bool clamp = m.sub == ptx::Sub::clamp || m.sub2 == ptx::Sub::clamp;
  switch (inst.op) {
  case ptx::Op::and_: return at_logic<D, and_>(m.type);
  case ptx::Op::or_: return at_logic<D, or_>(m.type);
  case ptx::Op::xor_: return at_logic<D, xor_>(m.type);
  case ptx::Op::not_: return at_logic<D, not_>(m.type);
  case ptx::Op::cnot: return at_width<D, cnot>(m.type);
  case ptx::Op::shl: return at_width<D, shl>(m.type);
  case ptx::Op::shr: return at_type<D, shr>(m.type);
  case ptx::Op::shf:
    if (!is32 || wrap == clamp) return nullptr;
    if (m.sub == ptx::Sub::l)
      return wrap ? step<D, 32, false, funnel<true, true>>
                  : step<D, 32, false, funnel<true, false>>;
    if (m.sub == ptx::Sub::r)
      return wrap ? step<D, 32, false, funnel<false, true>>
                  : step<D, 32, false, funnel<false, false>>;
    return nullptr;
  case ptx::Op::lop3: {
    if (!is32) return nullptr;
    const bool by_and = m.bool_op == ptx::BoolOp::and_ || m.sub == ptx::Sub::and_;
    const bool by_or = m.bool_op == ptx::BoolOp::or_ || m.sub == ptx::Sub::or_;
    if (by_and) return step<D, 32, false, lop3_pred<true>>;
    if (by_or) return step<D, 32, false, lop3_pred<false>>;
    return m.bool_op == ptx::BoolOp::none ? step<D, 32, false, lop3> : nullptr;
  }
  case ptx::Op::bfe: return at_word<D, bfe>(m.type);
  case ptx::Op::bfi: return at_word<D, bfi>(m.type);
  case ptx::Op::szext:
    if (!is32 || wrap == clamp) return nullptr;
    return wrap ? at_word<D, szext<true>>(m.type) : at_word<D, szext<false>>(m.type);
  case ptx::Op::bmsk:
    if (!is32 || wrap == clamp) return nullptr;
    return wrap ? step<D, 32, false, bmsk<true>> : step<D, 32, false, bmsk<false>>;
  case ptx::Op::prmt: return is32 ? find_prmt<D>(m.sub) : nullptr;
  case ptx::Op::popc: return at_word<D, popc>(m.type);
  case ptx::Op::clz: return at_word<D, clz>(m.type);
  case ptx::Op::brev: return at_word<D, brev>(m.type);
  case ptx::Op::fns: return is32 ? step<D, 32, false, fns> : nullptr;
  case ptx::Op::bfind:
    return m.shiftamt ? at_word<D, bfind<true>>(m.type) : at_word<D, bfind<false>>(m.type);
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
