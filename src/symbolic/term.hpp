// Hash-consed bit-vector terms of width 1 to 128.
//
// Two terms that the constructors can see to be equal have the same id, so that nearly every
// question the optimizer asks is an integer comparison. The workhorse is the polynomial: sums,
// differences, negations, complements (~x = -x - 1), products and left shifts by constants are kept
// as   constant + sum(coefficient * monomial)   modulo 2^width, where a monomial is a sorted
// product of non-polynomial terms. An address is thus affine in %tid.x exactly when its polynomial
// says so.
//
// A Context belongs to one kernel's analysis and one thread. Where it was given an allowance, what
// spends more than that throws BudgetSpent, and the kernel is given up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
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

// What the terms of one kernel may cost. Counted in steps of work, so that what is done to a kernel
// hangs on the kernel and not on what else the machine is doing; the clock stands behind that for
// work that nobody counted.
struct Allowance {
  std::uint64_t steps = ~std::uint64_t{0};
  std::size_t bytes = ~std::size_t{0};
  std::chrono::nanoseconds clock = std::chrono::nanoseconds::max(); // of this thread's processor
};

// Thrown by whatever spends more. The context is of no use then.
class BudgetSpent : public std::runtime_error {
public:
  enum class Of : std::uint8_t { work, memory, clock };
  BudgetSpent(Of of, const char* what) : std::runtime_error(what), of_(of) {}
  [[nodiscard]] Of of() const { return of_; }

private:
  Of of_;
};

class Context {
public:
  explicit Context(std::size_t node_budget = 1U << 20);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Leaves
  Term constant(unsigned width, Bits value);
  Term atom(Atom atom); // always a new atom
  Term boolean(bool value) { return constant(1, value ? 1 : 0); }

  // Operators; operands must have equal widths (asserted), results are normalised.
  Term add(Term a, Term b);
  Term sub(Term a, Term b);
  Term mul(Term a, Term b);
  Term neg(Term a);
  Term not_(Term a);
  Term and_(Term a, Term b);
  Term or_(Term a, Term b);
  Term xor_(Term a, Term b);
  Term shl(Term a, Term amount);
  Term lshr(Term a, Term amount);
  Term ashr(Term a, Term amount);
  Term udiv(Term a, Term b);
  Term urem(Term a, Term b);
  Term sdiv(Term a, Term b);
  Term srem(Term a, Term b);
  Term extract(Term a, unsigned low, unsigned width);
  Term concat(Term high, Term low);
  Term zext(Term a, unsigned width);
  Term sext(Term a, unsigned width);
  Term eq(Term a, Term b);
  Term ult(Term a, Term b);
  Term slt(Term a, Term b);
  Term ule(Term a, Term b) { return not_(ult(b, a)); }
  Term sle(Term a, Term b) { return not_(slt(b, a)); }
  Term ite(Term condition, Term then, Term otherwise);
  Term apply(FunctionKey key, std::string_view name, unsigned width, std::span<const Term> args);

  // Inspection
  [[nodiscard]] Kind kind(Term t) const;
  [[nodiscard]] unsigned width(Term t) const;
  [[nodiscard]] std::optional<Bits> value(Term t) const;  // of a constant
  [[nodiscard]] const Atom& atom_info(Term t) const;      // of an atom
  [[nodiscard]] std::span<const Term> args(Term t) const; // operands; poly: all factors
  [[nodiscard]] unsigned low(Term t) const;               // of an extract
  [[nodiscard]] FunctionKey function(Term t) const;       // of an apply
  [[nodiscard]] std::string_view function_name(Term t) const;
  // Of width 1: the u with t = not u, when t is a negation. (Negations are exclusive ors with 1,
  // `or` of conditions is a negated conjunction.)
  [[nodiscard]] std::optional<Term> negated(Term t) const;
  // Any term as a polynomial (a non-polynomial t is 0 + 1*t).
  [[nodiscard]] Poly poly(Term t) const;
  Term from_poly(unsigned width, const Poly& poly);
  // a - b when that is a constant, as a signed number of the width.
  [[nodiscard]] std::optional<std::int64_t> difference(Term a, Term b);
  // Largest uniformity of the atoms below t (applications of functions included).
  [[nodiscard]] Uniformity uniformity(Term t) const;
  [[nodiscard]] bool depends_on(Term t, Term atom) const;
  [[nodiscard]] std::vector<Term> atoms(Term t) const; // sorted by id
  // Interval arithmetic under the atoms' bounds; always sound, never wrong, perhaps loose.
  [[nodiscard]] Range range(Term t) const;
  [[nodiscard]] SignedRange signed_range(Term t) const;

  // Simultaneous substitution of terms by terms of equal width; results are normalised.
  using Substitution = std::unordered_map<std::uint32_t, Term>; // atom id -> replacement
  Term substitute(Term t, const Substitution& map);

  // Concrete value. `atom_value` and `function_value` supply what the terms do not know.
  using AtomValue = std::function<Bits(const Atom&, Term)>;
  using FunctionValue = std::function<Bits(FunctionKey, unsigned width, std::span<const Bits>)>;
  [[nodiscard]] Bits evaluate(Term t, const AtomValue& atom_value,
                              const FunctionValue& function_value) const;

  // For people: "in + 4*sext(%tid.x + %ctaid.x*%ntid.x - n) + 8". Stable across runs.
  [[nodiscard]] std::string to_string(Term t) const;

  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] std::size_t memory_bytes() const; // rough
  [[nodiscard]] bool exhausted() const;

  // From now on; of memory, all that there is.
  void allow(const Allowance& allowance);
  // The clock counts from now on: what the thread did for others since it was allowed is not this
  // kernel's. Steps count on.
  void restart_clock();
  // Counts work that is done for the kernel outside of this class; about 20 ns each.
  void spend(std::uint64_t steps) const;
  // Bytes held for the kernel outside of this class; negative: given back.
  void hold(std::ptrdiff_t bytes);
  [[nodiscard]] std::uint64_t spent() const;

  struct Impl; // see impl.hpp; for the files of this folder only

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace ptxasw::sym
