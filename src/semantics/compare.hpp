// Comparison and selection (PTX ISA 9.7.6 and 9.7.7).
#pragma once

#include "semantics/word.hpp"

#include <concepts>

namespace ptxasw::sem::rules {

using enum ptx::Compare;

// t combined with the predicate operand, if the instruction has one.
template <class F> auto combine(const F& f, typename F::template WordOf<1> t) {
  switch (f.mods().bool_op) {
  case ptx::BoolOp::and_: return t & f.pred(2);
  case ptx::BoolOp::or_: return t | f.pred(2);
  case ptx::BoolOp::xor_: return t ^ f.pred(2);
  default: return t;
  }
}

// Integer comparison. lo, ls, hi and hs are unsigned whatever the type.
template <class F> [[gnu::always_inline]] inline auto test_integers(const F& f, ptx::Compare how) {
  constexpr bool s = F::is_signed;
  const auto a = f.in(0), b = f.in(1);
  switch (how) {
  case eq: return a.eq(b);
  case ne: return ~a.eq(b);
  case lt: return less<s>(a, b);
  case le: return ~less<s>(b, a);
  case gt: return less<s>(b, a);
  case ge: return ~less<s>(a, b);
  case lo: return a.ult(b);
  case ls: return ~b.ult(a);
  case hi: return b.ult(a);
  default: return ~a.ult(b); // hs
  }
}
inline constexpr auto compare_integers = [](const auto& f) {
  return test_integers(f, f.mods().compare);
};
// The commonest comparison: one integer predicate, not combined with another.
template <ptx::Compare How>
inline constexpr auto setp_integers = [](auto f) { f.out(test_integers(f, How)); };

// Floating-point comparison of words x and y: ordered ones are false on NaN, ...u ones are true.
template <class F, class W> auto compare_floats(const F& f, W x, W y) {
  const auto holds = [&](Fn fn, W a, W b) {
    Function function = f.op.function;
    function.fn = fn;
    return apply<1>(function, a, b);
  };
  const auto nan_ = [&] { return holds(Fn::funordered, x, y); };
  switch (f.mods().compare) {
  case eq: return holds(Fn::feq, x, y);
  case ne: return ~holds(Fn::feq, x, y) & ~nan_();
  case lt: return holds(Fn::flt, x, y);
  case le: return holds(Fn::fle, x, y);
  case gt: return holds(Fn::flt, y, x);
  case ge: return holds(Fn::fle, y, x);
  case equ: return holds(Fn::feq, x, y) | nan_();
  case neu: return ~holds(Fn::feq, x, y);
  case ltu: return ~holds(Fn::fle, y, x);
  case leu: return ~holds(Fn::flt, y, x);
  case gtu: return ~holds(Fn::fle, x, y);
  case geu: return ~holds(Fn::flt, x, y);
  case num: return ~nan_();
  default: return nan_(); // nan
  }
}
inline constexpr auto compare_scalars = [](const auto& f) {
  return compare_floats(f, f.in(0), f.in(1));
};

// One predicate, or p|q with q made from the opposite outcome.
template <auto Test> inline constexpr auto setp = [](auto f) { f.out(combine(f, Test(f))); };
template <auto Test>
inline constexpr auto setp_pair = [](auto f) {
  const auto t = Test(f);
  f.out(combine(f, t));
  f.out(combine(f, ~t), false, 1);
};
// Packed: p is the low half's outcome, q the high half's.
inline constexpr auto setp_halves = [](auto f) {
  const auto a = f.in(0), b = f.in(1);
  f.out(combine(f, compare_floats(f, bits<0, 16>(a), bits<0, 16>(b))));
  f.out(combine(f, compare_floats(f, bits<16, 16>(a), bits<16, 16>(b))), false, 1);
};

inline constexpr std::uint64_t one_f16 = 0x3c00, one_bf16 = 0x3f80, one_f32 = 0x3f800000;
template <unsigned To, std::uint64_t True, auto Test>
inline constexpr auto set = [](auto f) {
  f.out(ite(combine(f, Test(f)), number<To>(f.domain, True), number<To>(f.domain, 0)));
};
template <std::uint64_t True>
inline constexpr auto set_halves = [](auto f) {
  f.out(by_halves(
      [&](auto a, auto b) {
        return ite(combine(f, compare_floats(f, a, b)), a.number(True), a.number(0));
      },
      f.in(0), f.in(1)));
};

inline constexpr auto selp = [](auto f) { f.out(ite(f.pred(2), f.in(0), f.in(1))); };
inline constexpr auto slct_s32 = [](auto f) {
  f.out(ite(f.u32(2).is_negative(), f.in(1), f.in(0)));
};
inline constexpr auto slct_f32 = [](auto f) {
  const auto c = f.u32(2);
  Function function{.fn = Fn::fle, .from = ptx::Type::f32, .ftz = f.mods().ftz};
  f.out(ite(apply<1>(function, c.number(0), c), f.in(0), f.in(1)));
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

inline bool is_half_pair(ptx::Type t) {
  return t == ptx::Type::f16x2 || t == ptx::Type::bf16x2;
}

// May these types be compared so? .b types only for equality, floats not by lo, ls, hi, hs.
inline bool comparable(ptx::Type t, ptx::Compare c) {
  using enum ptx::Compare;
  if (c == none) return false;
  if (ptx::is_float(t)) return c != lo && c != ls && c != hi && c != hs;
  return c == eq || c == ne || (c <= hs && t >= ptx::Type::u8);
}

template <class D> Step<D> find_plain_setp(ptx::Type t, ptx::Compare how) {
  using namespace rules;
  switch (how) {
  case eq: return at_type<D, setp_integers<eq>>(t);
  case ne: return at_type<D, setp_integers<ne>>(t);
  case lt: return at_type<D, setp_integers<lt>>(t);
  case le: return at_type<D, setp_integers<le>>(t);
  case gt: return at_type<D, setp_integers<gt>>(t);
  case ge: return at_type<D, setp_integers<ge>>(t);
  default: return at_type<D, setp<compare_integers>>(t);
  }
}
template <class D> Step<D> find_setp(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Type t = inst.mods.type;
  if (!comparable(t, inst.mods.compare)) return nullptr;
  const bool pair = inst.dst.count == 2;
  if (is_half_pair(t)) return pair ? step<D, 32, false, setp_halves> : nullptr;
  if (ptx::is_float(t))
    return pair ? at_width<D, setp_pair<compare_scalars>>(t)
                : at_width<D, setp<compare_scalars>>(t);
  if (pair) return at_type<D, setp_pair<compare_integers>>(t);
  if (inst.mods.bool_op == ptx::BoolOp::none) return find_plain_setp<D>(t, inst.mods.compare);
  return at_type<D, setp<compare_integers>>(t);
}

template <class D, unsigned To, std::uint64_t True> Step<D> find_set_to(ptx::Type from) {
  using namespace rules;
  return ptx::is_float(from) ? at_width<D, set<To, True, compare_scalars>>(from)
                             : at_type<D, set<To, True, compare_integers>>(from);
}
template <class D> Step<D> find_set(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Type to = inst.mods.type, from = inst.mods.type2;
  if (!comparable(from, inst.mods.compare)) return nullptr;
  if (is_half_pair(from)) {
    switch (to) {
    case ptx::Type::f16x2: return step<D, 32, false, set_halves<one_f16>>;
    case ptx::Type::bf16x2: return step<D, 32, false, set_halves<one_bf16>>;
    case ptx::Type::u32:
    case ptx::Type::s32: return step<D, 32, false, set_halves<0xffff>>;
    default: return nullptr;
    }
  }
  switch (to) {
  case ptx::Type::f16: return find_set_to<D, 16, one_f16>(from);
  case ptx::Type::bf16: return find_set_to<D, 16, one_bf16>(from);
  case ptx::Type::f32: return find_set_to<D, 32, one_f32>(from);
  case ptx::Type::u16:
  case ptx::Type::s16: return find_set_to<D, 16, 0xffff>(from);
  case ptx::Type::u32:
  case ptx::Type::s32: return find_set_to<D, 32, 0xffffffff>(from);
  default: return nullptr;
  }
}

template <class D> Step<D> find_compare(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  switch (inst.op) {
  case ptx::Op::setp: return find_setp<D>(inst);
  case ptx::Op::set: return find_set<D>(inst);
  case ptx::Op::selp: return at_width<D, selp>(m.type);
  case ptx::Op::slct:
    if (m.type2 == ptx::Type::s32) return at_width<D, slct_s32>(m.type);
    return m.type2 == ptx::Type::f32 ? at_width<D, slct_f32>(m.type) : nullptr;
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
