// Terms as expressions with operators, so that a line of a table reads like the law that it states.
#pragma once

#include "symbolic/term.hpp"

namespace ptxasw::sym::test {

// Terms with operators, so that a table line reads like the law it states. 32-bit x, y, z are
// anything; i is 0..1023, j 0..7; b is a byte; p, q are 64 bits; c, d, e conditions.
struct Terms {
  Context context;
  Term x = atom("x", 32), y = atom("y", 32), z = atom("z", 32);
  Term i = atom("i", 32, 0, 1023), j = atom("j", 32, 0, 7), k = atom("k", 32, 1, 1024);
  Term b = atom("b", 8), h = atom("h", 16), p = atom("p", 64), q = atom("q", 64);
  Term c = atom("c", 1), d = atom("d", 1), e = atom("e", 1);

  Term atom(const char* name, unsigned width, Bits lo = 0, Bits hi = ~Bits{0}) {
    return context.atom({.name = name, .width = width, .lo = lo, .hi = hi});
  }
};

class E { // an expression: a term and the context that it is built in
public:
  E(Context& context, Term term) : context_(&context), term_(term) {}
  [[nodiscard]] Term term() const { return term_; }
  [[nodiscard]] E number(std::int64_t v) const {
    return {*context_, context_->constant(context_->width(term_), static_cast<Bits>(v))};
  }
  [[nodiscard]] E with(Term t) const { return {*context_, t}; }
  [[nodiscard]] Context& context() const { return *context_; }

private:
  Context* context_;
  Term term_;
};

#define PTXASW_OPERATOR(symbol, function)                                                          \
  inline E operator symbol(E a, E b) {                                                             \
    return a.with(a.context().function(a.term(), b.term()));                                       \
  }                                                                                                \
  inline E operator symbol(E a, std::int64_t b) {                                                  \
    return a symbol a.number(b);                                                                   \
  }                                                                                                \
  inline E operator symbol(std::int64_t a, E b) {                                                  \
    return b.number(a) symbol b;                                                                   \
  }
PTXASW_OPERATOR(+, add)
PTXASW_OPERATOR(-, sub)
PTXASW_OPERATOR(*, mul)
PTXASW_OPERATOR(&, and_)
PTXASW_OPERATOR(|, or_)
PTXASW_OPERATOR(^, xor_)
PTXASW_OPERATOR(<<, shl)
PTXASW_OPERATOR(>>, lshr)
PTXASW_OPERATOR(/, udiv)
PTXASW_OPERATOR(%, urem)
PTXASW_OPERATOR(==, eq)
#undef PTXASW_OPERATOR
#define PTXASW_FUNCTION(name, function)                                                            \
  inline E name(E a, E b) {                                                                        \
    return a.with(a.context().function(a.term(), b.term()));                                       \
  }                                                                                                \
  inline E name(E a, std::int64_t b) {                                                             \
    return name(a, a.number(b));                                                                   \
  }                                                                                                \
  inline E name(std::int64_t a, E b) {                                                             \
    return name(b.number(a), b);                                                                   \
  }
PTXASW_FUNCTION(ashr, ashr)
PTXASW_FUNCTION(sdiv, sdiv)
PTXASW_FUNCTION(srem, srem)
PTXASW_FUNCTION(ult, ult)
PTXASW_FUNCTION(slt, slt)
PTXASW_FUNCTION(ule, ule)
PTXASW_FUNCTION(sle, sle)
#undef PTXASW_FUNCTION
inline E operator-(E a) {
  return a.with(a.context().neg(a.term()));
}
inline E operator~(E a) {
  return a.with(a.context().not_(a.term()));
}
inline E cat(E high, E low) {
  return high.with(high.context().concat(high.term(), low.term()));
}
inline E bits(E a, unsigned high, unsigned low) {
  return a.with(a.context().extract(a.term(), low, high - low + 1));
}
inline E zext(E a, unsigned w = 64) {
  return a.with(a.context().zext(a.term(), w));
}
inline E sext(E a, unsigned w = 64) {
  return a.with(a.context().sext(a.term(), w));
}
inline E ite(E c, E a, E b) {
  return a.with(a.context().ite(c.term(), a.term(), b.term()));
}
inline E ite(E c, E a, std::int64_t b) {
  return ite(c, a, a.number(b));
}

struct V { // the variables of one table line
  explicit V(Terms& t) : terms(&t) {}
  Terms* terms;
  E of(Term t) const { return {terms->context, t}; }
  E x = of(terms->x), y = of(terms->y), z = of(terms->z), i = of(terms->i), j = of(terms->j),
    k = of(terms->k), b = of(terms->b), h = of(terms->h), p = of(terms->p), q = of(terms->q),
    c = of(terms->c), d = of(terms->d), e = of(terms->e);
};

} // namespace ptxasw::sym::test
