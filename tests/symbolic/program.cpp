#include "program.hpp"

#include <algorithm>
#include <random>

namespace ptxasw::sym::test {

namespace {

constexpr std::array<unsigned, 12> widths{1, 8, 16, 32, 64, 128, 7, 31, 33, 5, 65, 127};

unsigned width_of(const Instruction& i) {
  return i.width % 4 == 3 ? i.width % 128U + 1 : widths[i.width % widths.size()];
}
Bits number_of(const Instruction& i) {
  const Bits wide = Bits{i.number2} << 64 | i.number;
  switch (i.c % 5) {
  case 0: return wide;
  case 1: return i.number % 40;
  case 2: return ~Bits{i.number % 40};
  case 3: return Bits{1} << (i.number % 128);
  default: return (Bits{1} << (i.number % 128)) - 1;
  }
}
Bits small_of(const Instruction& i) {
  return i.number % 9;
}

// Each domain says what the operators mean; the interpreter below is shared.
struct Naive {
  using V = Value;
  static unsigned width(V v) { return v.width; }
  static V make(unsigned w, Bits b) { return {w, b & mask_of(w)}; }
  static V constant(unsigned w, Bits b) { return make(w, b); }
  static SBits as_signed(V v) {
    return negative(v) ? static_cast<SBits>(v.bits | ~mask_of(v.width))
                       : static_cast<SBits>(v.bits);
  }
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
    return c.apply(key, std::to_string(key), w, args);
  }
};

template <class D> class Interpreter {
public:
  using V = typename D::V;
  Interpreter(D domain, std::vector<V> leaves) : d_(domain), values_(std::move(leaves)) {}

  std::vector<V> run(const Program& program) {
    for (const Instruction& i : program)
      values_.push_back(step(i));
    return values_;
  }

private:
  V operand(std::uint8_t index) const {
    // Recent values are picked more often, so that expressions grow deep.
    const std::size_t n = values_.size();
    return index % 2 == 0 ? values_[index / 2 % n]
                          : values_[n - 1 - index / 2 % std::min<std::size_t>(n, 4)];
  }
  V resized(V v, unsigned w, bool is_signed) {
    if (w < d_.width(v)) return d_.extract(v, 0, w);
    return is_signed ? d_.sext(v, w) : d_.zext(v, w);
  }
  V step(const Instruction& i);

  D d_;
  std::vector<V> values_;
};

template <class D> typename D::V Interpreter<D>::step(const Instruction& i) {
  const V a = operand(i.a);
  const unsigned w = d_.width(a);
  const V b = resized(operand(i.b), w, i.width % 2 == 0);
  const V small = d_.constant(w, small_of(i));
  switch (i.op) {
  case Op::constant: return d_.constant(width_of(i), number_of(i));
  case Op::small_constant: return d_.constant(width_of(i), small_of(i));
  case Op::add: return d_.add(a, b);
  case Op::add_small:
    return d_.add(a, d_.constant(w, i.c % 2 == 0 ? small_of(i) : 0 - small_of(i)));
  case Op::sub: return d_.sub(a, b);
  case Op::mul: return d_.mul(a, b);
  case Op::neg: return d_.neg(a);
  case Op::not_: return d_.not_(a);
  case Op::and_: return d_.and_(a, b);
  case Op::or_: return d_.or_(a, b);
  case Op::xor_: return d_.xor_(a, b);
  case Op::shl: return d_.shl(a, b);
  case Op::shl_small: return d_.shl(a, small);
  case Op::lshr: return d_.lshr(a, b);
  case Op::lshr_small: return d_.lshr(a, small);
  case Op::ashr: return d_.ashr(a, b);
  case Op::ashr_small: return d_.ashr(a, small);
  case Op::udiv: return d_.udiv(a, b);
  case Op::urem: return d_.urem(a, b);
  case Op::sdiv: return d_.sdiv(a, b);
  case Op::srem: return d_.srem(a, b);
  case Op::udiv_small: return d_.udiv(a, small);
  case Op::urem_small: return d_.urem(a, small);
  case Op::mask: return d_.and_(a, d_.constant(w, number_of(i)));
  case Op::extract: {
    const unsigned low = static_cast<unsigned>(i.number % w);
    return d_.extract(a, low, 1 + static_cast<unsigned>(i.number2 % (w - low)));
  }
  case Op::low: return d_.extract(a, 0, 1 + static_cast<unsigned>(i.number % w));
  case Op::concat: {
    const V low = operand(i.b);
    return w + d_.width(low) <= 128 ? d_.concat(a, low) : d_.add(a, b);
  }
  case Op::zext: return resized(a, width_of(i), false);
  case Op::sext: return resized(a, width_of(i), true);
  case Op::eq: return d_.eq(a, b);
  case Op::ult: return d_.ult(a, b);
  case Op::slt: return d_.slt(a, b);
  case Op::ite: return d_.ite(resized(operand(i.c), 1, false), a, b);
  default: return d_.apply(i.number % 3, width_of(i), resized(a, 32, false), resized(b, 8, false));
  }
}

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
  return Interpreter<Naive>({}, std::move(leaves)).run(program);
}

std::vector<Term> build(const Program& program, Context& context, std::vector<Term>& atoms) {
  for (const AtomSpec& spec : atom_specs)
    atoms.push_back(context.atom({.name = spec.name,
                                  .width = spec.width,
                                  .uniformity = Uniformity::lane,
                                  .lo = spec.lo,
                                  .hi = spec.hi}));
  return Interpreter<Symbolic>({context}, atoms).run(program);
}

Context::AtomValue reader(const Assignment& assignment, const std::vector<Term>& atoms) {
  return [&assignment, &atoms](const Atom&, Term t) {
    const auto place = std::ranges::find(atoms, t);
    return assignment[static_cast<std::size_t>(place - atoms.begin())];
  };
}

} // namespace ptxasw::sym::test
