// Random straight-line programs over bit-vectors, run twice: naively on concrete values, with the
// operators spelled out here once more and nothing normalised, and through a Context.
#pragma once

#include "symbolic/term.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::sym::test {

enum class Op : std::uint8_t {
  constant,
  small_constant,
  add,
  sub,
  mul,
  neg,
  not_,
  and_,
  or_,
  xor_,
  shl,
  shl_small,
  lshr,
  lshr_small,
  ashr,
  ashr_small,
  udiv,
  urem,
  sdiv,
  srem,
  udiv_small,
  urem_small,
  mask,
  extract,
  low,
  concat,
  zext,
  sext,
  eq,
  ult,
  slt,
  ite,
  apply,
  add_small,
  count,
};

struct Instruction {
  Op op = Op::constant;
  std::uint8_t a = 0, b = 0, c = 0, width = 0;
  std::uint64_t number = 0, number2 = 0;
};
using Program = std::vector<Instruction>;

struct Value {
  unsigned width = 1;
  Bits bits = 0;
};

inline Bits mask_of(unsigned width) {
  return width >= 128 ? ~Bits{0} : (Bits{1} << width) - 1;
}
inline bool negative(Value v) {
  return ((v.bits >> (v.width - 1)) & 1) != 0;
}

inline SBits signed_value(Value v) {
  return negative(v) ? static_cast<SBits>(v.bits | ~mask_of(v.width)) : static_cast<SBits>(v.bits);
}

// The atoms of every program: odd and usual widths, with and without bounds.
struct AtomSpec {
  const char* name;
  unsigned width;
  Bits lo, hi;
  Uniformity uniformity = Uniformity::grid;
};
inline const std::array<AtomSpec, 9> atom_specs{{
    {"tid", 32, 0, 1023, Uniformity::lane},
    {"n", 32, 0, ~Bits{0}},
    {"ntid", 32, 1, 1024},
    {"p", 64, 0, ~Bits{0}},
    {"byte", 8, 0, ~Bits{0}, Uniformity::warp},
    {"flag", 1, 0, 1},
    {"wide", 128, 0, ~Bits{0}},
    {"odd", 7, 3, 90, Uniformity::block},
    {"high", 32, 0xFFFFFFF0U, 0xFFFFFFFFU},
}};

using Assignment = std::array<Bits, atom_specs.size()>;

// Mostly corner values within the bounds.
Assignment assignment(std::uint64_t seed);
// Any function will do for an uninterpreted symbol.
Bits some_function(FunctionKey key, unsigned width, std::span<const Bits> args);

inline constexpr std::array<unsigned, 12> widths{1, 8, 16, 32, 64, 128, 7, 31, 33, 5, 65, 127};

inline unsigned width_of(const Instruction& i) {
  return i.width % 4 == 3 ? i.width % 128U + 1 : widths[i.width % widths.size()];
}
inline Bits number_of(const Instruction& i) {
  const Bits wide = Bits{i.number2} << 64 | i.number;
  switch (i.c % 5) {
  case 0: return wide;
  case 1: return i.number % 40;
  case 2: return ~Bits{i.number % 40};
  case 3: return Bits{1} << (i.number % 128);
  default: return (Bits{1} << (i.number % 128)) - 1;
  }
}
inline Bits small_of(const Instruction& i) {
  return i.number % 9;
}

// Runs a program over a domain that says what the operators mean.
template <class D> class Interpreter {
public:
  using V = typename D::V;
  Interpreter(D domain, std::vector<V> leaves) : d_(domain), values_(std::move(leaves)) {}

  template <class Look> std::vector<V> run(const Program& program, Look look) {
    for (const Instruction& i : program) {
      values_.push_back(step(i));
      look(values_.back());
    }
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

std::vector<Value> run_naively(const Program& program, const Assignment& atoms);
std::vector<Term> build(const Program& program, Context& context, std::vector<Term>& atoms,
                        const std::function<void(Term)>& look = {});

Context::AtomValue reader(const Assignment& assignment, const std::vector<Term>& atoms);

} // namespace ptxasw::sym::test

namespace rc {
template <> struct Arbitrary<ptxasw::sym::test::Instruction> {
  static Gen<ptxasw::sym::test::Instruction> arbitrary() {
    using ptxasw::sym::test::Instruction;
    using ptxasw::sym::test::Op;
    return gen::build<Instruction>(
        gen::set(&Instruction::op, gen::map(gen::inRange(0, static_cast<int>(Op::count)),
                                            [](int i) { return static_cast<Op>(i); })),
        gen::set(&Instruction::a), gen::set(&Instruction::b), gen::set(&Instruction::c),
        gen::set(&Instruction::width), gen::set(&Instruction::number),
        gen::set(&Instruction::number2));
  }
};
} // namespace rc
