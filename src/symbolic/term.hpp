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
//
// Nodes and their operands never move and are never freed before the Context, so spans and
// references into them stay valid while new terms are built. Children have smaller ids than their
// parents. Nothing hangs on addresses or on the order of an unordered container. The normalising
// constructors are spread over several files by subject (polynomial.cpp, bitwise.cpp, ...).
#pragma once

#include "symbolic/bits.hpp"
#include "symbolic/node.hpp"

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
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
  Term neg(Term a) { return scale(a, ~Bits{0}); }
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
  [[nodiscard]] Kind kind(Term t) const { return node(t).kind; }
  [[nodiscard]] unsigned width(Term t) const { return node(t).width; }
  [[nodiscard]] std::optional<Bits> value(Term t) const { // of a constant
    const Bits* v = numeral(t);
    return v != nullptr ? std::optional(*v) : std::nullopt;
  }
  [[nodiscard]] const Atom& atom_info(Term t) const { // of an atom
    assert(is(t, Kind::atom));
    return atoms_[node(t).aux];
  }
  // Operands; poly: all factors.
  [[nodiscard]] std::span<const Term> args(Term t) const { return node(t).args(); }
  [[nodiscard]] unsigned low(Term t) const { return is(t, Kind::extract) ? node(t).aux : 0; }
  [[nodiscard]] FunctionKey function(Term t) const { // of an apply
    assert(is(t, Kind::apply));
    return symbols_[node(t).aux].key;
  }
  [[nodiscard]] std::string_view function_name(Term t) const {
    assert(is(t, Kind::apply));
    return symbols_[node(t).aux].name;
  }
  // Of width 1: the u with t = not u, when t is a negation. (Negations are exclusive ors with 1,
  // `or` of conditions is a negated conjunction.)
  [[nodiscard]] std::optional<Term> negated(Term t);
  // Any term as a polynomial (a non-polynomial t is 0 + 1*t).
  [[nodiscard]] Poly poly(Term t) const;
  Term from_poly(unsigned width, const Poly& poly);
  // a - b when that is a constant, as a signed number of the width.
  [[nodiscard]] std::optional<std::int64_t> difference(Term a, Term b) const;
  // Largest uniformity of the atoms below t (applications of functions included).
  [[nodiscard]] Uniformity uniformity(Term t) const { return node(t).uniformity; }
  [[nodiscard]] bool depends_on(Term t, Term atom) const;
  [[nodiscard]] std::vector<Term> atoms(Term t) const; // sorted by id
  // Interval arithmetic under the atoms' bounds; always sound, never wrong, perhaps loose.
  [[nodiscard]] Range range(Term t) { return {known(t).lo, known(t).hi}; }
  [[nodiscard]] SignedRange signed_range(Term t) { return {known(t).slo, known(t).shi}; }

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

  [[nodiscard]] std::size_t node_count() const { return node_total_; }
  [[nodiscard]] std::size_t memory_bytes() const; // rough
  [[nodiscard]] bool exhausted() const { return node_total_ > budget_; }

  // From now on; of memory, all that there is.
  void allow(const Allowance& allowance);
  // The clock counts from now on: what the thread did for others since it was allowed is not this
  // kernel's. Steps count on.
  void restart_clock();
  // Counts work that is done for the kernel outside of this class; about 20 ns each.
  void spend(std::uint64_t steps) const {
    spent_ += steps;
    if (spent_ >= next_check_) check_allowance();
  }
  // Bytes held for the kernel outside of this class; negative: given back.
  void hold(std::ptrdiff_t bytes) {
    held_ += static_cast<std::size_t>(bytes);
    check_memory();
  }
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

private:
  friend class Printer;

  // --- store.cpp: nodes ---
  struct Symbol {
    FunctionKey key = 0;
    std::string name;
  };
  [[nodiscard]] const Node& node(Term t) const {
    assert(t.id < node_total_);
    return chunks_[t.id / chunk_nodes][t.id % chunk_nodes];
  }
  [[nodiscard]] bool is(Term t, Kind kind) const { return node(t).kind == kind; }
  [[nodiscard]] const Bits* numeral(Term t) const { // of a constant, or null
    const Node& n = node(t);
    return n.kind == Kind::constant ? n.numbers : nullptr;
  }
  [[nodiscard]] bool is_value(Term t, Bits wanted) const {
    const Bits* v = numeral(t);
    return v != nullptr && *v == wanted;
  }
  Term intern(const NodeKey& key);
  Term intern(Kind kind, unsigned width, std::initializer_list<Term> args, std::uint32_t aux = 0) {
    return intern(NodeKey{kind, width, aux, std::span(args.begin(), args.size()), {}, {}});
  }
  // Children before parents, each term once; `skip` prunes.
  [[nodiscard]] std::vector<Term> postorder(Term root, const std::function<bool(Term)>& skip) const;
  template <class T> const T* store(std::span<const T> values);
  Term append(Node n);
  void grow_table();
  [[nodiscard]] bool matches(const Node& n, const NodeKey& key) const;
  void check_allowance() const;
  void check_memory() const;

  // --- polynomial.cpp ---
  [[nodiscard]] PolyView view(Term t) const;
  Term finish(unsigned width, const Sum& sum);
  Term opaque(Term t); // the same value, but a factor to every polynomial
  Term scale(Term a, Bits factor);
  // sum of coefficient(c) * product of factor(f), plus constant, at another width
  template <class CoefficientMap, class FactorMap>
  Term map_poly(PolyView p, unsigned width, Bits constant, CoefficientMap coefficient,
                FactorMap factor);
  [[nodiscard]] bool same_monomials(PolyView a, PolyView b, bool with_opposite_sign,
                                    unsigned w) const;
  // result = a + k*b; the monomials of both are sorted
  void merge(Sum& result, PolyView a, PolyView b, Bits k, unsigned width) const;
  Term product(Term a, Term b);

  // --- bitwise.cpp ---
  [[nodiscard]] bool complements(Term a, Term b) const;
  // The operands of a and b under an associative operator: constants folded, the rest sorted.
  struct Operands {
    Bits constant = 0;
    std::vector<Term> terms;
  };
  [[nodiscard]] Operands flatten(Kind kind, Term a, Term b) const;
  Term nary(Kind kind, unsigned width, std::span<const Term> terms, Bits constant, Bits identity);
  Term boolean_and(Term a, Term b);
  Term boolean_xor(Term a, Term b);
  bool simplify_conjunct(Term& conjunct, std::span<const Term> others);
  Term masked(Term a, Bits mask);
  [[nodiscard]] bool any_complements(std::span<const Term> terms) const;
  void absorb(Kind inner, std::vector<Term>& terms) const;
  void strip_affine(Operands& operands, unsigned width);

  // --- shift.cpp ---
  struct Division {
    Term quotient, rest; // a = divisor * quotient + rest
    bool rest_is_remainder = false;
  };
  std::optional<Division> split_multiples(Term a, Bits divisor);

  // --- resize.cpp ---
  Term resize_unsigned(Term a, unsigned width); // zero-extend or truncate
  Term resize_signed(Term a, unsigned width);
  struct Split {
    Sum above, rest;
  };
  static Split split_at(PolyView p, unsigned at);
  Term above_at(const Split& split, unsigned at, unsigned width);
  Term extract_node(Term a, unsigned low, unsigned width);
  Term extract_poly(Term a, unsigned low, unsigned width);
  Term extract_extension(Term a, unsigned low, unsigned width);
  std::optional<Term> rejoin(Term high, Term low);
  Term extract_uncached(Term a, unsigned low, unsigned width);
  Term zext_uncached(Term a, unsigned width);
  Term sext_uncached(Term a, unsigned width);
  Term extend_poly(Term a, unsigned width);
  std::optional<Term> extend_ite(Term a, unsigned width, bool is_signed);
  // Memo of the constructors that sink into their operand, so that shared terms cost once.
  enum class Push : std::uint8_t { extract, zext, sext };
  template <class Build> Term remember(Push push, Term a, unsigned p, unsigned q, Build build);

  // --- compare.cpp ---
  Term eq_zero(unsigned width, Sum difference);
  Term eq_sides(Term left, Term right);
  std::optional<Term> eq_extended(Term left, Term right);
  std::optional<bool> ordered_by_constant(Term a, Term b, bool is_signed);
  std::optional<Term> order_extended(Term a, Term b, bool is_signed);
  Term boolean_ite(Term c, Term a, Term b);

  // --- range.cpp ---
  const Known& known(Term t); // the reference stays valid
  Exact exact(PolyView p, unsigned width);
  Reading reading(Term factor);
  Known compute_known(const Node& n);
  void know_poly(const Node& n, Known& k);
  void know_bitwise(const Node& n, Known& k);
  void know_shift(const Node& n, Known& k);
  void know_division(const Node& n, Known& k);
  void know_extract(const Node& n, Known& k);
  void know_ite(const Node& n, Known& k);
  Known branch(Term t, Term condition, bool holds);

  // --- query.cpp ---
  void prepare(const Substitution& map);
  Term rebuild(const Node& n, const std::function<Term(Term)>& mapped);

  static constexpr std::size_t chunk_nodes = 256;
  static constexpr std::size_t max_arguments = 32;  // of a flattened and/or/xor
  static constexpr std::size_t max_monomials = 256; // of a sum
  static constexpr std::size_t max_product = 64;    // monomials of an expanded product
  static constexpr std::size_t max_degree = 16;
  static constexpr std::uint32_t max_push_depth = 200; // how deep extensions and extracts sink
  std::size_t budget_;
  std::size_t node_total_ = 0;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  std::vector<std::uint32_t> table_; // open addressing, id + 1
  std::vector<Atom> atoms_;
  std::vector<Symbol> symbols_;
  std::unordered_map<FunctionKey, std::uint32_t> symbol_index_;
  std::deque<Known> knowledge_;
  struct Piece { // a monomial of a product being expanded
    Bits coefficient = 0;
    std::uint32_t first = 0, last = 0;
  };
  Sum scratch_;
  std::vector<Piece> product_pieces_;
  std::vector<Term> product_factors_;
  std::unordered_map<std::uint64_t, Term> pushed_;
  // The last substitution, and what it made of subterms.
  struct Replacing {
    Substitution map;
    std::uint32_t oldest = ~0U;
    std::uint64_t touched = 0; // atom sets of the replaced terms
    bool prune = true;
    std::unordered_map<std::uint32_t, Term> done;
  };
  Replacing replacing_;
  // Answers of atoms() for terms of few atoms, and of depends_on, by atom.
  mutable std::unordered_map<std::uint32_t, std::vector<Term>> atoms_known_;
  mutable std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, bool>> dependence_;
  mutable std::size_t remembered_ = 0; // entries of both

  Allowance allowance_;
  std::size_t held_ = 0; // bytes, elsewhere
  mutable std::uint64_t spent_ = 0, next_check_ = ~std::uint64_t{0};
  std::chrono::nanoseconds began_{0};

  std::vector<std::unique_ptr<std::byte[]>> blocks_; // of operands and numbers
  std::size_t block_used_ = 0, block_size_ = 0, arena_total_ = 0;
};

template <class CoefficientMap, class FactorMap>
Term Context::map_poly(PolyView p, unsigned new_width, Bits constant_part,
                       CoefficientMap coefficient, FactorMap factor) {
  const auto mapped = [&](std::span<const Term> factors) {
    Term monomial = factor(factors[0]);
    for (const Term f : factors.subspan(1))
      monomial = mul(monomial, factor(f));
    return monomial;
  };
  if (new_width == 1) { // one bit: exclusive ors of conjunctions
    Term parity = constant(1, constant_part);
    for (std::size_t i = 0; i < p.size(); ++i)
      if ((coefficient(p.coefficients[i]) & 1) != 0) parity = xor_(parity, mapped(p.factors(i)));
    return parity;
  }
  Sum sum;
  Sum next;
  sum.constant = constant_part & low_mask(new_width);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Bits c = coefficient(p.coefficients[i]) & low_mask(new_width);
    if (c == 0) continue;
    merge(next, sum.view(), view(mapped(p.factors(i))), c, new_width);
    std::swap(sum, next);
  }
  return finish(new_width, sum);
}

} // namespace ptxasw::sym
