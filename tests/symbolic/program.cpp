#include "program.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace ptxasw::sym::test {

namespace {

// RapidCheck draws a seed from the clock unless told otherwise; RC_PARAMS still overrides this.
[[maybe_unused]] const int fixed_seed = setenv("RC_PARAMS", "seed=2023 max_success=400", 0);

// Each domain says what the operators mean; the interpreter below is shared.
struct Naive {
  using V = Value;
  static unsigned width(V v) { return v.width; }
  static V make(unsigned w, Bits b) { return {w, b & mask_of(w)}; }
  static V constant(unsigned w, Bits b) { return make(w, b); }
  static SBits as_signed(V v) { return signed_value(v); }
  static V add(V a, V b) { return make(a.width, a.bits + b.bits); }
  static V sub(V a, V b) { return make(a.width, a.bits - b.bits); }
  static V mul(V a, V b) { return make(a.width, a.bits * b.bits); }
  static V neg(V a) { return make(a.width, 0 - a.bits); }
  static V not_(V a) { return make(a.width, ~a.bits); }
  static V and_(V a, V b) { return make(a.width, a.bits & b.bits); }
  static V or_(V a, V b) { return make(a.width, a.bits | b.bits); }
  static V xor_(V a, V b) { return make(a.width, a.bits ^ b.bits); }
  // Shifts bit by bit, so that no large amount can go wrong here.
  static V shl(V a, V b) {
    V r = a;
    for (Bits i = 0; i < b.bits && i < 128; ++i)
      r = make(a.width, r.bits * 2);
    return r;
  }
  static V lshr(V a, V b) {
    V r = a;
    for (Bits i = 0; i < b.bits && i < 128; ++i)
      r = make(a.width, r.bits / 2);
    return r;
  }
  static V ashr(V a, V b) {
    V r = a;
    const Bits top = negative(a) ? Bits{1} << (a.width - 1) : 0;
    for (Bits i = 0; i < b.bits && i < 128; ++i)
      r = make(a.width, r.bits / 2 | top);
    return r;
  }
  static V udiv(V a, V b) { return make(a.width, b.bits == 0 ? ~Bits{0} : a.bits / b.bits); }
  static V urem(V a, V b) { return make(a.width, b.bits == 0 ? a.bits : a.bits % b.bits); }
  static V sdiv(V a, V b) { // as SMT-LIB defines bvsdiv
    const V x = negative(a) ? neg(a) : a;
    const V y = negative(b) ? neg(b) : b;
    return negative(a) == negative(b) ? udiv(x, y) : neg(udiv(x, y));
  }
  static V srem(V a, V b) {
    const V x = negative(a) ? neg(a) : a;
    const V y = negative(b) ? neg(b) : b;
    return negative(a) ? neg(urem(x, y)) : urem(x, y);
  }
  static V extract(V a, unsigned low, unsigned w) { return make(w, a.bits >> low); }
  static V concat(V h, V l) { return make(h.width + l.width, h.bits << l.width | l.bits); }
  static V zext(V a, unsigned w) { return make(w, a.bits); }
  static V sext(V a, unsigned w) { return make(w, static_cast<Bits>(as_signed(a))); }
  static V eq(V a, V b) { return make(1, a.bits == b.bits ? 1 : 0); }
  static V ult(V a, V b) { return make(1, a.bits < b.bits ? 1 : 0); }
  static V slt(V a, V b) { return make(1, as_signed(a) < as_signed(b) ? 1 : 0); }
  static V ite(V c, V a, V b) { return c.bits != 0 ? a : b; }
  static V apply(FunctionKey key, unsigned w, V a, V b) {
    const std::array<Bits, 2> args{a.bits, b.bits};
    return make(w, some_function(key, w, args));
  }
};

struct Symbolic {
  using V = Term;
  Context& c;
  unsigned width(V v) const { return c.width(v); }
  V constant(unsigned w, Bits b) const { return c.constant(w, b); }
  V add(V a, V b) const { return c.add(a, b); }
  V sub(V a, V b) const { return c.sub(a, b); }
  V mul(V a, V b) const { return c.mul(a, b); }
  V neg(V a) const { return c.neg(a); }
  V not_(V a) const { return c.not_(a); }
  V and_(V a, V b) const { return c.and_(a, b); }
  V or_(V a, V b) const { return c.or_(a, b); }
  V xor_(V a, V b) const { return c.xor_(a, b); }
  V shl(V a, V b) const { return c.shl(a, b); }
  V lshr(V a, V b) const { return c.lshr(a, b); }
  V ashr(V a, V b) const { return c.ashr(a, b); }
  V udiv(V a, V b) const { return c.udiv(a, b); }
  V urem(V a, V b) const { return c.urem(a, b); }
  V sdiv(V a, V b) const { return c.sdiv(a, b); }
  V srem(V a, V b) const { return c.srem(a, b); }
  V extract(V a, unsigned low, unsigned w) const { return c.extract(a, low, w); }
  V concat(V h, V l) const { return c.concat(h, l); }
  V zext(V a, unsigned w) const { return c.zext(a, w); }
  V sext(V a, unsigned w) const { return c.sext(a, w); }
  V eq(V a, V b) const { return c.eq(a, b); }
  V ult(V a, V b) const { return c.ult(a, b); }
  V slt(V a, V b) const { return c.slt(a, b); }
  V ite(V x, V a, V b) const { return c.ite(x, a, b); }
  V apply(FunctionKey key, unsigned w, V a, V b) const {
    const std::array<Term, 2> args{a, b};
    return c.apply(key, "free", w, args);
  }
};

} // namespace

Assignment assignment(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Assignment result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Bits hi = std::min(atom_specs[i].hi, mask_of(atom_specs[i].width));
    const Bits lo = atom_specs[i].lo;
    const Bits span = hi - lo;
    const Bits any = Bits{random()} << 64 | random();
    switch (random() % 5) {
    case 0: result[i] = lo; break;
    case 1: result[i] = hi; break;
    case 2: result[i] = lo + std::min(span, Bits{random() % 4}); break;
    case 3: result[i] = lo + std::min(span, mask_of(atom_specs[i].width) / 2 + random() % 3); break;
    default: result[i] = span == ~Bits{0} ? any : lo + any % (span + 1);
    }
  }
  return result;
}

Bits some_function(FunctionKey key, unsigned width, std::span<const Bits> args) {
  std::uint64_t h = key + width;
  for (const Bits b : args)
    h = (h ^ static_cast<std::uint64_t>(b)) * 0x9E3779B97F4A7C15ULL + (h >> 31);
  return (Bits{h} << 64 | Bits{h * 3}) & mask_of(width);
}

std::vector<Value> run_naively(const Program& program, const Assignment& atoms) {
  std::vector<Value> leaves;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    leaves.push_back(Naive::make(atom_specs[i].width, atoms[i]));
  return Interpreter<Naive>({}, std::move(leaves)).run(program, [](Value) {});
}

std::vector<Term> build(const Program& program, Context& context, std::vector<Term>& atoms,
                        const std::function<void(Term)>& look) {
  for (const AtomSpec& spec : atom_specs)
    atoms.push_back(context.atom({.name = spec.name,
                                  .width = spec.width,
                                  .uniformity = spec.uniformity,
                                  .lo = spec.lo,
                                  .hi = spec.hi}));
  return Interpreter<Symbolic>({context}, atoms).run(program, [&](Term t) {
    if (look) look(t);
  });
}

Context::AtomValue reader(const Assignment& assignment, const std::vector<Term>& atoms) {
  return [&assignment, &atoms](const Atom&, Term t) {
    const auto place = std::ranges::find(atoms, t);
    return assignment[static_cast<std::size_t>(place - atoms.begin())];
  };
}

} // namespace ptxasw::sym::test
