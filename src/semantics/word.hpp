// The notation in which instruction meanings are written: Word<D, W>, a value of domain D that
// knows its width at compile time, with the operators of arithmetic; and Frame, the operands of the
// instruction at hand. A rule then reads like the ISA's own pseudo code, a width error does not
// compile, and in the concrete domain every width is a constant that the optimizer folds.
#pragma once

#include "semantics/step.hpp"

#include <array>
#include <concepts>

namespace ptxasw::sem {

template <class D, unsigned W> struct Word {
  static constexpr unsigned width = W;
  using Value = typename D::Value;
  D* domain;
  Value value;

  // Operands of the built-in operators; a plain number takes the width of the other side.
  friend Word operator+(Word a, Word b) { return {a.domain, a.domain->add(W, a.value, b.value)}; }
  friend Word operator-(Word a, Word b) { return {a.domain, a.domain->sub(W, a.value, b.value)}; }
  friend Word operator*(Word a, Word b) { return {a.domain, a.domain->mul(W, a.value, b.value)}; }
  friend Word operator&(Word a, Word b) { return {a.domain, a.domain->and_(W, a.value, b.value)}; }
  friend Word operator|(Word a, Word b) { return {a.domain, a.domain->or_(W, a.value, b.value)}; }
  friend Word operator^(Word a, Word b) { return {a.domain, a.domain->xor_(W, a.value, b.value)}; }
  friend Word operator~(Word a) { return {a.domain, a.domain->not_(W, a.value)}; }
  friend Word operator-(Word a) { return {a.domain, a.domain->neg(W, a.value)}; }

  // Shifts by W or more give 0, or the sign.
  [[nodiscard]] Word shl(Word n) const { return {domain, domain->shl(W, value, n.value)}; }
  [[nodiscard]] Word lshr(Word n) const { return {domain, domain->lshr(W, value, n.value)}; }
  [[nodiscard]] Word ashr(Word n) const { return {domain, domain->ashr(W, value, n.value)}; }

  [[nodiscard]] Word<D, 1> eq(Word b) const { return {domain, domain->eq(W, value, b.value)}; }
  [[nodiscard]] Word<D, 1> ult(Word b) const { return {domain, domain->ult(W, value, b.value)}; }
  [[nodiscard]] Word<D, 1> slt(Word b) const { return {domain, domain->slt(W, value, b.value)}; }
  [[nodiscard]] Word<D, 1> is_negative() const { return slt(number(0)); }
  [[nodiscard]] Word<D, 1> is_zero() const { return eq(number(0)); }

  // A constant of the same width.
  [[nodiscard]] Word number(Bits n) const { return {domain, domain->constant(W, n)}; }
};

template <unsigned N, class D> Word<D, N> number(D& d, Bits n) {
  return {&d, d.constant(N, n)};
}

template <unsigned Low, unsigned N, class D, unsigned W> Word<D, N> bits(Word<D, W> a) {
  static_assert(Low + N <= W);
  if constexpr (N == W)
    return a;
  else
    return {a.domain, a.domain->extract(W, a.value, Low, N)};
}
template <unsigned N, class D, unsigned W> Word<D, N> trunc(Word<D, W> a) {
  return bits<0, N>(a);
}
template <unsigned N, class D, unsigned W> Word<D, N> zext(Word<D, W> a) {
  static_assert(N >= W);
  if constexpr (N == W)
    return a;
  else
    return {a.domain, a.domain->zext(W, a.value, N)};
}
template <unsigned N, class D, unsigned W> Word<D, N> sext(Word<D, W> a) {
  static_assert(N >= W);
  if constexpr (N == W)
    return a;
  else
    return {a.domain, a.domain->sext(W, a.value, N)};
}
template <unsigned N, bool Signed, class D, unsigned W> Word<D, N> extend(Word<D, W> a) {
  if constexpr (Signed)
    return sext<N>(a);
  else
    return zext<N>(a);
}
// To any width: cut off, or extended with zeros.
template <unsigned N, class D, unsigned W> Word<D, N> resize(Word<D, W> a) {
  if constexpr (N <= W)
    return trunc<N>(a);
  else
    return zext<N>(a);
}
template <class D, unsigned H, unsigned L> Word<D, H + L> concat(Word<D, H> high, Word<D, L> low) {
  return {low.domain, low.domain->concat(H, high.value, L, low.value)};
}
template <class D, unsigned W> Word<D, W> ite(Word<D, 1> c, Word<D, W> a, Word<D, W> b) {
  return {c.domain, c.domain->ite(W, c.value, a.value, b.value)};
}
template <bool Signed, class D, unsigned W> Word<D, 1> less(Word<D, W> a, Word<D, W> b) {
  if constexpr (Signed)
    return a.slt(b);
  else
    return a.ult(b);
}
// f(halves of a, halves of b, ...) on both halves of packed values.
template <class F, class D, unsigned W, class... More>
auto by_halves(F f, Word<D, W> a, More... more) {
  return concat(f(bits<W / 2, W / 2>(a), bits<W / 2, W / 2>(more)...),
                f(bits<0, W / 2>(a), bits<0, W / 2>(more)...));
}
template <unsigned N, class D, unsigned W, class... More>
Word<D, N> apply(const Function& f, Word<D, W> a, More... more) {
  const std::array<typename D::Value, 1 + sizeof...(More)> args{a.value, more.value...};
  return {a.domain, a.domain->apply(f, N, args)};
}

// The operands of one instruction whose type is W bits wide and, if it matters, signed.
template <class D, unsigned W, bool Signed> struct Frame {
  static constexpr unsigned width = W;
  static constexpr bool is_signed = Signed;
  using Value = typename D::Value;
  template <unsigned N> using WordOf = Word<D, N>;

  D& domain;
  const Operation& op;
  std::span<const Value> src;
  std::span<Value> dst;

  [[nodiscard]] const ptx::Modifiers& mods() const { return op.inst->mods; }

  // Source i at N bits. Nearly always it has them already; the rest stays out of line.
  template <unsigned N> [[nodiscard, gnu::always_inline]] inline Word<D, N> at(unsigned i) const {
    const bool f32_literal = N == 64 && op.f32_literals != 0;
    if (op.src_width[i] == N && !f32_literal) [[likely]]
      return {&domain, src[i]};
    return adapted<N>(i);
  }
  [[nodiscard]] Word<D, W> in(unsigned i) const { return at<W>(i); }
  [[nodiscard]] Word<D, 1> pred(unsigned i) const { return at<1>(i); }
  [[nodiscard]] Word<D, 32> u32(unsigned i) const { return at<32>(i); }

  [[nodiscard]] Word<D, W> number(Bits n) const { return {&domain, domain.constant(W, n)}; }

  template <unsigned N> void out(Word<D, N> w, bool sign = false, unsigned i = 0) const {
    const unsigned to = op.dst_width[i];
    if (to == N)
      dst[i] = w.value;
    else if (to < N)
      dst[i] = domain.extract(N, w.value, 0, to);
    else
      dst[i] = sign ? domain.sext(N, w.value, to) : domain.zext(N, w.value, to);
  }

  // The carry flag is the last source or destination.
  [[nodiscard]] Word<D, 1> carry_in() const { return {&domain, src.back()}; }
  void carry_out(Word<D, 1> c) const { dst.back() = c.value; }

private:
  template <unsigned N> [[nodiscard, gnu::noinline]] Word<D, N> adapted(unsigned i) const {
    const unsigned from = op.src_width[i];
    // A floating-point literal takes the format of its place.
    if (N == 32 && (op.f64_literals >> i & 1U) != 0)
      return converted<N>(ptx::Type::f64, ptx::Type::f32, src[i]);
    if (N == 64 && (op.f32_literals >> i & 1U) != 0)
      return converted<N>(ptx::Type::f32, ptx::Type::f64, src[i]);
    if (from == N) return {&domain, src[i]};
    if (from > N) return {&domain, domain.extract(from, src[i], 0, N)};
    return {&domain, domain.zext(from, src[i], N)};
  }
  template <unsigned N>
  [[nodiscard]] Word<D, N> converted(ptx::Type from, ptx::Type to, Value literal) const {
    const std::array<Value, 1> bits{literal};
    return {&domain, domain.apply({.fn = Fn::fconvert, .to = to, .from = from}, N, bits)};
  }
};

// Rules are captureless lambdas over a Frame; a Step is a rule at a width and a signedness, with
// all of its notation inlined.
template <class D, unsigned W, bool Signed, auto Rule>
[[gnu::flatten]] void step(D& d, const Operation& op, std::span<const typename D::Value> src,
                           std::span<typename D::Value> dst) {
  Rule(Frame<D, W, Signed>{d, op, src, dst});
}

// The rule at the type's width, for rules to which the sign means nothing.
template <class D, auto Rule> Step<D> at_width(ptx::Type type) {
  switch (ptx::bit_width(type)) {
  case 16: return step<D, 16, false, Rule>;
  case 32: return step<D, 32, false, Rule>;
  case 64: return step<D, 64, false, Rule>;
  default: return nullptr;
  }
}
// The rule at the type's width and sign.
template <class D, auto Rule> Step<D> at_type(ptx::Type type) {
  if (!ptx::is_signed(type)) return at_width<D, Rule>(type);
  switch (ptx::bit_width(type)) {
  case 16: return step<D, 16, true, Rule>;
  case 32: return step<D, 32, true, Rule>;
  case 64: return step<D, 64, true, Rule>;
  default: return nullptr;
  }
}

// Likewise, of instructions that know 32 and 64 bits only.
template <class D, auto Rule> Step<D> at_word(ptx::Type type) {
  switch (ptx::bit_width(type)) {
  case 32: return ptx::is_signed(type) ? step<D, 32, true, Rule> : step<D, 32, false, Rule>;
  case 64: return ptx::is_signed(type) ? step<D, 64, true, Rule> : step<D, 64, false, Rule>;
  default: return nullptr;
  }
}

} // namespace ptxasw::sem
