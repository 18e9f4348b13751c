// Random straight-line programs over bit-vectors, run twice: naively on concrete values, with the
// operators spelled out here once more and nothing normalised, and through a Context.
#pragma once

#include "symbolic/term.hpp"

#include <rapidcheck.h>

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

// The atoms of every program: odd and usual widths, with and without bounds.
struct AtomSpec {
  const char* name;
  unsigned width;
  Bits lo, hi;
};
inline const std::array<AtomSpec, 9> atom_specs{{
    {"tid", 32, 0, 1023},
    {"n", 32, 0, ~Bits{0}},
    {"ntid", 32, 1, 1024},
    {"p", 64, 0, ~Bits{0}},
    {"byte", 8, 0, ~Bits{0}},
    {"flag", 1, 0, 1},
    {"wide", 128, 0, ~Bits{0}},
    {"odd", 7, 3, 90},
    {"high", 32, 0xFFFFFFF0U, 0xFFFFFFFFU},
}};

using Assignment = std::array<Bits, atom_specs.size()>;

// Mostly corner values within the bounds.
Assignment assignment(std::uint64_t seed);
// Any function will do for an uninterpreted symbol.
Bits some_function(FunctionKey key, unsigned width, std::span<const Bits> args);

struct Run {
  std::vector<Value> values; // naive
  std::vector<Term> terms;
};
std::vector<Value> run_naively(const Program& program, const Assignment& atoms);
std::vector<Term> build(const Program& program, Context& context, std::vector<Term>& atoms);

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
