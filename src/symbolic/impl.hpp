// The inside of a Context: node storage, the interning table and the normalising constructors,
// which are spread over several files by subject (polynomial.cpp, bitwise.cpp, ...).
//
// Nodes and their operands never move and are never freed before the Context, so spans and
// references into them stay valid while new terms are built. Children have smaller ids than their
// parents. Nothing here depends on addresses or on the order of an unordered container.
#pragma once

#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <cassert>
#include <cstddef>
#include <deque>

namespace ptxasw::sym {

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

struct Context::Impl {
  explicit Impl(std::size_t budget);

  // --- store.cpp: nodes ---
  struct Key {
    Kind kind = Kind::constant;
    unsigned width = 1;
    std::uint32_t aux = 0;
    std::span<const Term> args;
    std::span<const Bits> numbers;
    std::span<const std::uint32_t> ends;
  };
  struct Symbol {
    FunctionKey key = 0;
    std::string name;
  };
  [[nodiscard]] const Node& node(Term t) const {
    assert(t.id < node_total);
    return chunks[t.id / chunk_nodes][t.id % chunk_nodes];
  }
  [[nodiscard]] unsigned width(Term t) const { return node(t).width; }
  [[nodiscard]] bool is(Term t, Kind kind) const { return node(t).kind == kind; }
  [[nodiscard]] const Bits* value(Term t) const { // of a constant, or null
    const Node& n = node(t);
    return n.kind == Kind::constant ? n.numbers : nullptr;
  }
  [[nodiscard]] bool is_value(Term t, Bits wanted) const {
    const Bits* v = value(t);
    return v != nullptr && *v == wanted;
  }
  Term intern(const Key& key);
  Term intern(Kind kind, unsigned width, std::initializer_list<Term> args, std::uint32_t aux = 0) {
    return intern(Key{kind, width, aux, std::span(args.begin(), args.size()), {}, {}});
  }
  Term constant(unsigned width, Bits value);
  Term boolean(bool value) { return constant(1, value ? 1 : 0); }
  Term atom(Atom atom);
  Term apply(FunctionKey key, std::string_view name, unsigned width, std::span<const Term> args);
  // Children before parents, each term once; `skip` prunes.
  [[nodiscard]] std::vector<Term> postorder(Term root, const std::function<bool(Term)>& skip) const;
  [[nodiscard]] std::size_t memory() const;

  // --- store.cpp: what it costs ---
  void allow(const Allowance& wanted);
  void spend(std::uint64_t steps) const {
    spent += steps;
    if (spent >= next_check) check_allowance();
  }
  void check_allowance() const;
  void restart_clock();
  void check_memory() const;

  // --- polynomial.cpp ---
  [[nodiscard]] PolyView view(Term t) const;
  Term finish(unsigned width, const Sum& sum);
  Term opaque(Term t); // the same value, but a factor to every polynomial
  Term add(Term a, Term b);
  Term sub(Term a, Term b);
  Term mul(Term a, Term b);
  Term scale(Term a, Bits factor);
  Term neg(Term a) { return scale(a, ~Bits{0}); }
  // sum of coefficient(c) * product of factor(f), plus constant, at another width
  template <class CoefficientMap, class FactorMap>
  Term map_poly(PolyView p, unsigned width, Bits constant, CoefficientMap coefficient,
                FactorMap factor);
  [[nodiscard]] bool same_monomials(PolyView a, PolyView b, bool with_opposite_sign,
                                    unsigned w) const;
  // result = a + k*b; the monomials of both are sorted
  void merge(Sum& result, PolyView a, PolyView b, Bits k, unsigned width) const;

  // --- bitwise.cpp ---
  Term not_(Term a);
  Term and_(Term a, Term b);
  Term or_(Term a, Term b);
  Term xor_(Term a, Term b);
  [[nodiscard]] std::optional<Term> negated(Term t); // of width 1: u with t = not u
  [[nodiscard]] bool complements(Term a, Term b) const;

  // --- shift.cpp ---
  Term shl(Term a, Term amount);
  Term lshr(Term a, Term amount);
  Term ashr(Term a, Term amount);
  Term udiv(Term a, Term b);
  Term urem(Term a, Term b);
  Term sdiv(Term a, Term b);
  Term srem(Term a, Term b);

  // --- resize.cpp ---
  Term extract(Term a, unsigned low, unsigned width);
  Term concat(Term high, Term low);
  Term zext(Term a, unsigned width);
  Term sext(Term a, unsigned width);
  Term resize_unsigned(Term a, unsigned width); // zero-extend or truncate
  Term resize_signed(Term a, unsigned width);

  // --- compare.cpp ---
  Term eq(Term a, Term b);
  Term ult(Term a, Term b);
  Term slt(Term a, Term b);
  Term ite(Term condition, Term then, Term otherwise);

  // --- range.cpp ---
  const Known& known(Term t); // the reference stays valid
  Exact exact(PolyView p, unsigned width);
  Reading reading(Term factor);

  // --- query.cpp ---
  [[nodiscard]] Bits evaluate(Term t, const AtomValue& atom_value,
                              const FunctionValue& function_value) const;
  Term substitute(Term t, const Substitution& map);
  void prepare(const Substitution& map);
  Term rebuild(const Node& n, const std::function<Term(Term)>& mapped);
  [[nodiscard]] std::vector<Term> atoms_of(Term t) const;
  [[nodiscard]] bool depends_on(Term t, Term atom) const;
  [[nodiscard]] std::optional<std::int64_t> difference(Term a, Term b) const;
  [[nodiscard]] Poly poly(Term t) const;
  Term from_poly(unsigned width, const Poly& poly);

  // --- print.cpp ---
  [[nodiscard]] std::string to_string(Term t) const;

  // --- data ---
  static constexpr std::size_t chunk_nodes = 256;
  static constexpr std::size_t max_arguments = 32;  // of a flattened and/or/xor
  static constexpr std::size_t max_monomials = 256; // of a sum
  static constexpr std::size_t max_product = 64;    // monomials of an expanded product
  static constexpr std::size_t max_degree = 16;
  static constexpr std::uint32_t max_push_depth = 200; // how deep extensions and extracts sink
  std::size_t budget;
  std::size_t node_total = 0;
  std::vector<std::unique_ptr<Node[]>> chunks;
  std::vector<std::uint32_t> table; // open addressing, id + 1
  std::vector<Atom> atoms;
  std::vector<Symbol> symbols;
  std::unordered_map<FunctionKey, std::uint32_t> symbol_index;
  std::deque<Known> knowledge;
  struct Piece { // a monomial of a product being expanded
    Bits coefficient = 0;
    std::uint32_t first = 0, last = 0;
  };
  Sum scratch;
  std::vector<Piece> product_pieces;
  std::vector<Term> product_factors;
  // Memo of the constructors that sink into their operand, so that shared terms cost once.
  enum class Push : std::uint8_t { extract, zext, sext };
  std::unordered_map<std::uint64_t, Term> pushed;
  // The last substitution, and what it made of subterms.
  struct Replacing {
    Substitution map;
    std::uint32_t oldest = ~0U;
    std::uint64_t touched = 0; // atom sets of the replaced terms
    bool prune = true;
    std::unordered_map<std::uint32_t, Term> done;
  };
  Replacing replacing;
  // Answers of atoms_of for terms of few atoms, and of depends_on, by atom.
  mutable std::unordered_map<std::uint32_t, std::vector<Term>> atoms_known;
  mutable std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, bool>> dependence;
  mutable std::size_t remembered = 0; // entries of both

  Allowance allowance;
  std::size_t held = 0; // bytes, elsewhere
  mutable std::uint64_t spent = 0, next_check = ~std::uint64_t{0};
  std::chrono::nanoseconds began{0};

private:
  template <class T> const T* store(std::span<const T> values);
  Term append(Node n);
  void grow_table();
  [[nodiscard]] bool matches(const Node& n, const Key& key) const;
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
  Term product(Term a, Term b);
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
  template <class Build> Term remember(Push push, Term a, unsigned p, unsigned q, Build build);
  struct Division {
    Term quotient, rest; // a = divisor * quotient + rest
    bool rest_is_remainder = false;
  };
  std::optional<Division> split_multiples(Term a, Bits divisor);
  Term eq_zero(unsigned width, Sum difference);
  Term eq_sides(Term left, Term right);
  std::optional<Term> eq_extended(Term left, Term right);
  std::optional<bool> ordered_by_constant(Term a, Term b, bool is_signed);
  std::optional<Term> order_extended(Term a, Term b, bool is_signed);
  Term boolean_ite(Term c, Term a, Term b);
  Known compute_known(const Node& n);
  void know_poly(const Node& n, Known& k);
  void know_bitwise(const Node& n, Known& k);
  void know_shift(const Node& n, Known& k);
  void know_division(const Node& n, Known& k);
  void know_extract(const Node& n, Known& k);
  void know_ite(const Node& n, Known& k);
  Known branch(Term t, Term condition, bool holds);

  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::size_t block_used = 0, block_size = 0, arena_total = 0;
};

template <class CoefficientMap, class FactorMap>
Term Context::Impl::map_poly(PolyView p, unsigned new_width, Bits constant_part,
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
