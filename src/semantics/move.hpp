// Moves, packing and unpacking, address conversion (PTX ISA 9.7.9), and the ends of loads and
// stores.
#pragma once

#include "semantics/word.hpp"

namespace ptxasw::sem::rules {

inline constexpr auto mov = [](auto f) { f.out(f.in(0)); };

// mov.b64 d, {a, b}: the first element is the least significant.
template <unsigned N>
inline constexpr auto pack = [](auto f) {
  constexpr unsigned e = f.width / N;
  const auto pair = [&](unsigned i) {
    return concat(f.template at<e>(i + 1), f.template at<e>(i));
  };
  if constexpr (N == 2)
    f.out(pair(0));
  else
    f.out(concat(pair(2), pair(0)));
};
template <unsigned N>
inline constexpr auto unpack = [](auto f) {
  constexpr unsigned e = f.width / N;
  const auto a = f.in(0);
  f.out(bits<0, e>(a));
  f.out(bits<e, e>(a), false, 1);
  if constexpr (N == 4) {
    f.out(bits<2 * e, e>(a), false, 2);
    f.out(bits<3 * e, e>(a), false, 3);
  }
};

// mov.v4.b32 of registers in braces, or of those declared as vectors.
template <unsigned N>
inline constexpr auto mov_elements = [](auto f) {
  for (unsigned i = 0; i < N; ++i)
    f.out(f.in(i), false, i);
};

// Generic address = window base + address in the space.
template <class F> auto window(const F& f) {
  const Function base{.fn = Fn::window, .space = f.mods().space};
  return typename F::template WordOf<64>{&f.domain, f.domain.apply(base, 64, {})};
}
inline constexpr auto to_generic = [](auto f) { f.out(f.in(0) + window(f)); };
inline constexpr auto from_generic = [](auto f) { f.out(f.in(0) - window(f)); };
inline constexpr auto isspacep = [](auto f) {
  f.out(apply<1>({.fn = Fn::in_window, .space = f.mods().space}, f.in(0)));
};

} // namespace ptxasw::sem::rules

namespace ptxasw::sem {

template <class D, auto Rule> Step<D> at_packed(ptx::Type type, unsigned parts) {
  const unsigned w = ptx::bit_width(type);
  if (w == 128) return step<D, 128, false, Rule>;
  if (w == 16 && parts == 4) return nullptr;
  return at_width<D, Rule>(type);
}

template <class D> Step<D> find_move(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Type t = inst.mods.type;
  if (const unsigned elements = inst.mods.vector; elements != 1) {
    if (inst.dst.count != elements || inst.src.count != elements) return nullptr;
    if (elements == 2) return at_width<D, mov_elements<2>>(t);
    return elements == 4 ? at_width<D, mov_elements<4>>(t) : nullptr;
  }
  if (inst.dst.count == 1 && inst.src.count == 1) {
    if (t == ptx::Type::pred) return step<D, 1, false, mov>;
    return at_packed<D, mov>(t, 1);
  }
  if (inst.dst.count == 1 && inst.src.count == 2) return at_packed<D, pack<2>>(t, 2);
  if (inst.dst.count == 1 && inst.src.count == 4) return at_packed<D, pack<4>>(t, 4);
  if (inst.dst.count == 2 && inst.src.count == 1) return at_packed<D, unpack<2>>(t, 2);
  if (inst.dst.count == 4 && inst.src.count == 1) return at_packed<D, unpack<4>>(t, 4);
  return nullptr;
}

inline bool has_window(ptx::Space s) {
  return s == ptx::Space::shared || s == ptx::Space::local || s == ptx::Space::const_ ||
         s == ptx::Space::param;
}

template <class D> Step<D> find_address(const ptx::Inst& inst) {
  using namespace rules;
  const ptx::Modifiers& m = inst.mods;
  const bool global = m.space == ptx::Space::global;
  if (!global && !has_window(m.space)) return nullptr;
  if (inst.op == ptx::Op::isspacep) return step<D, 64, false, isspacep>;
  if (ptx::bit_width(m.type) != 64) return nullptr; // 32-bit addressing
  if (global) return step<D, 64, false, mov>;
  return m.to ? step<D, 64, false, from_generic> : step<D, 64, false, to_generic>;
}

template <class D>
typename D::Value extend_loaded(D& d, ptx::Type type, typename D::Value raw,
                                unsigned register_width) {
  const unsigned w = ptx::bit_width(type);
  if (w == register_width || w == 0) return raw;
  if (w > register_width) return d.extract(w, raw, 0, register_width);
  return ptx::is_signed(type) ? d.sext(w, raw, register_width) : d.zext(w, raw, register_width);
}

template <class D>
typename D::Value truncate_stored(D& d, ptx::Type type, typename D::Value value,
                                  unsigned register_width) {
  const unsigned w = ptx::bit_width(type);
  if (w == register_width || w == 0) return value;
  return w < register_width ? d.extract(register_width, value, 0, w)
                            : d.zext(register_width, value, w);
}

} // namespace ptxasw::sem
