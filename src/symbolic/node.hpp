// What terms are made of: kinds, atoms, polynomials, and the nodes in which a Context keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::sym {

__extension__ using Bits = unsigned __int128; // values of up to 128 bits, high bits zero
__extension__ using SBits = __int128;

struct Term {
  std::uint32_t id = ~0U;
  [[nodiscard]] bool valid() const { return id != ~0U; }
  friend auto operator<=>(const Term&, const Term&) = default; // NOLINT(modernize-use-nullptr)
};

enum class Kind : std::uint8_t {
  constant,
  atom,
  poly,
  and_,
  or_,
  xor_, // and_/or_/xor_ are n-ary, flattened, sorted
  shl,  // amounts of width or more give 0 (or the sign), as SMT-LIB and PTX. Only 1 << s is left:
  lshr, // other left shifts are products, and shifts to the right by a constant are extended
  ashr, // extracts (x >> 5 is a zext of x[31:5]), as are x & 31 and the like
  udiv,
  urem,
  sdiv,
  srem,    // by zero as SMT-LIB
  extract, // one of the full width hides a polynomial that grew too large to expand
  concat,  // never left: a sum of shifted extensions
  zext,
  sext,
  eq,
  ult,
  slt, // width 1; other comparisons are built from these
  ite,
  apply, // function symbol over terms: congruent, otherwise unknown
};

// Over which threads a value is the same. Ordered: a larger value means "varies more".
enum class Uniformity : std::uint8_t { grid, block, warp, lane };

// What an atom stands for. `tag` and `tag2` are the creator's own numbers (parameter index,
// instruction, loop, ...).
struct Atom {
  std::string name;
  unsigned width = 32;
  Uniformity uniformity = Uniformity::lane;
  std::uint32_t kind = 0; // creator's own classification
  std::uint32_t tag = 0, tag2 = 0;
  Bits lo = 0;        // unsigned bounds known to hold (facts of kind 1 or 2)
  Bits hi = ~Bits{0}; // clipped to the width on creation
};

struct Monomial {
  Bits coefficient = 0;      // modulo 2^width, never zero
  std::vector<Term> factors; // sorted by id, at least one, none a polynomial or constant
};
struct Poly {
  Bits constant = 0;
  std::vector<Monomial> terms; // sorted by factors
};

// Function symbols are named by the creator: `key` identifies the function (two applications with
// equal keys and equal arguments are the same term), `name` is for printing and for SMT-LIB.
using FunctionKey = std::uint64_t;

// Unsigned interval [lo, hi], and signed one, both sound under the atoms' bounds.
struct Range {
  Bits lo = 0, hi = 0;
};
struct SignedRange {
  SBits lo = 0, hi = 0;
};

struct Node {
  Term self;
  Kind kind = Kind::constant;
  std::uint8_t width = 1;
  Uniformity uniformity = Uniformity::grid;
  std::uint8_t reserved = 0;
  std::uint32_t aux = 0;   // atom or function index, low bit of an extract, monomials of a poly
  std::uint32_t count = 0; // operands
  std::uint32_t hash = 0;
  std::uint32_t known = 0; // 1 + index of its ranges, once asked for
  std::uint32_t depth = 0;
  std::uint64_t atom_set = 0; // one bit per atom index modulo 64: a cheap "does not depend on"
  const Term* operands = nullptr;
  const Bits* numbers = nullptr;       // constant: its value; poly: constant, coefficients
  const std::uint32_t* ends = nullptr; // poly: where each monomial's factors end in operands

  [[nodiscard]] std::span<const Term> args() const { return {operands, count}; }
};

// What makes two nodes one.
struct NodeKey {
  Kind kind = Kind::constant;
  unsigned width = 1;
  std::uint32_t aux = 0;
  std::span<const Term> args;
  std::span<const Bits> numbers;
  std::span<const std::uint32_t> ends;
};

// A polynomial lying in a node or in a Sum. Any non-constant term t is also 0 + 1*t.
struct PolyView {
  Bits constant = 0;
  std::span<const Bits> coefficients;
  std::span<const std::uint32_t> ends;
  const Term* all_factors = nullptr;

  [[nodiscard]] std::size_t size() const { return coefficients.size(); }
  [[nodiscard]] std::span<const Term> factors(std::size_t i) const {
    const std::uint32_t first = i == 0 ? 0 : ends[i - 1];
    return {all_factors + first, ends[i] - first};
  }
};

// A polynomial under construction; monomials are pushed in order.
struct Sum {
  Bits constant = 0;
  std::vector<Bits> coefficients;
  std::vector<std::uint32_t> ends;
  std::vector<Term> factors;

  void clear();
  void push(Bits coefficient, std::span<const Term> monomial);
  [[nodiscard]] PolyView view() const { return {constant, coefficients, ends, factors.data()}; }
};

// What interval arithmetic knows about a term. `zeros`: bits that are certainly 0.
struct Known {
  Bits lo = 0, hi = 0;
  SBits slo = 0, shi = 0;
  Bits zeros = 0;
};

// Bounds of a sum in the integers, before any reduction modulo 2^width.
struct Exact {
  bool bounded = false;
  SBits lo = 0, hi = 0;
  [[nodiscard]] bool within(SBits low, SBits high) const {
    return bounded && low <= lo && hi <= high;
  }
  [[nodiscard]] bool fits_unsigned(unsigned width) const;
  [[nodiscard]] bool fits_signed(unsigned width) const;
};

// The integer that stands for a factor in an Exact sum: its unsigned or its signed reading,
// whichever has the narrower interval.
struct Reading {
  Exact interval;
  bool is_signed = false;
};

} // namespace ptxasw::sym
