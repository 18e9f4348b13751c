// Walks through terms of two kernels at once.
#include "passes/time_tile/other_kernel/same_values.hpp"

#include "emulator/load_key.hpp"
#include "ptx/build.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::AtomKind;
using sym::Kind;
using sym::Term;

namespace {

constexpr unsigned most_open = 4;

bool is(const sym::Atom& atom, AtomKind kind) {
  return atom.kind == static_cast<std::uint32_t>(kind);
}

// From where nothing changes, in global memory.
bool is_unchanging_load(const sym::Context& context, Term t) {
  return context.kind(t) == Kind::apply &&
         context.function(t) == emulator::unchanging_load_key(ptx::Space::global, context.width(t));
}

bool is_wide(const sym::Context& context, Term equation) {
  return context.width(context.args(equation)[0]) > 32;
}

std::vector<Term> arguments(const sym::Context& context, Term t) {
  const auto args = context.args(t);
  return {args.begin(), args.end()};
}

} // namespace

// --- One side -----------------------------------------------------------------------------------

std::optional<IntegerPolynomial> ValueSide::number(Term t, Reading& reading) const {
  const auto read = reader.read(places.at(t, 0), reading);
  return read ? said(*read) : std::nullopt;
}

// Numbers that are read are right modulo 2^width. Of less than 32 bits they are multiplied until
// these are the upper ones of 32: 4 * a = 4 * b, of 32 bits, is a = b of 30.
std::optional<IntegerPolynomial> ValueSide::zero_if_equal(Term equation, Reading& reading) const {
  const sym::Context& c = *kernel.context;
  const auto args = c.args(equation);
  const unsigned width = c.width(args[0]);
  const auto left = low_bits(places.at(args[0], 0), reading),
             right = low_bits(places.at(args[1], 0), reading);
  if (!left || !right) return std::nullopt;
  const Number scale = width < 32 ? Number{1} << (32 - width) : 1;
  return said((*left - *right) * IntegerPolynomial(scale));
}

std::optional<IntegerPolynomial> ValueSide::low_bits(Term t, Reading& reading) const {
  const sym::Context& c = *kernel.context;
  const unsigned width = c.width(t);
  if (width >= 32) return reader.read(t, reading);
  if (const auto value = c.value(t)) return IntegerPolynomial(signed_value(*value, width));
  if (c.kind(t) == Kind::extract && c.low(t) == 0) return reader.read(c.args(t)[0], reading);
  if (c.kind(t) != Kind::poly) return std::nullopt;
  const sym::Poly poly = c.poly(t);
  IntegerPolynomial sum(signed_value(poly.constant, width));
  for (const sym::Monomial& monomial : poly.terms) {
    IntegerPolynomial product(signed_value(monomial.coefficient, width));
    for (const Term factor : monomial.factors) {
      const auto number = factor == t ? std::nullopt : low_bits(factor, reading);
      if (!number) return std::nullopt;
      product = product * *number;
    }
    sum = sum + product;
  }
  return sum;
}

std::optional<IntegerPolynomialReader::Place> ValueSide::place(Term address,
                                                               Reading& reading) const {
  auto read = reader.place(places.at(address, 0), reading);
  if (!read) return std::nullopt;
  auto offset = said(read->offset);
  if (!offset) return std::nullopt;
  read->offset = *std::move(offset);
  return read;
}

std::optional<LoadedFrom> ValueSide::loaded_by(ptx::InstId inst, unsigned element,
                                               Reading& reading) const {
  const auto event = std::ranges::find(kernel.trace.events, inst, &emulator::Event::inst);
  if (event == kernel.trace.events.end() || event->ordered) return std::nullopt;
  auto from = reader.place(places.at(event->address, 0), reading);
  if (!from) return std::nullopt;
  from->offset = from->offset + IntegerPolynomial(Number{element} * event->element_bytes);
  return LoadedFrom{*std::move(from), event->type};
}

// Of an element as wide as its register all bits are as in memory.
std::optional<LoadedFrom> ValueSide::loaded(Term t, Reading& reading) const {
  const sym::Context& c = *kernel.context;
  std::optional<LoadedFrom> from;
  if (is_unchanging_load(c, t)) {
    if (auto at = reader.place(places.at(c.args(t)[0], 0), reading))
      from = LoadedFrom{*std::move(at), ptx::bits(c.width(t))};
  } else if (c.kind(t) == Kind::atom) {
    const sym::Atom& info = c.atom_info(t);
    from = is(info, AtomKind::carried)  ? handed_on(info, reading)
           : is(info, AtomKind::loaded) ? loaded_by(info.tag, info.tag2, reading)
                                        : std::nullopt;
  }
  if (!from) return std::nullopt;
  if (ptx::bit_width(from->type) == c.width(t)) from->type = ptx::bits(c.width(t));
  auto offset = said(from->place.offset);
  if (!offset) return std::nullopt;
  from->place.offset = *std::move(offset);
  return from;
}

// --- Both ---------------------------------------------------------------------------------------

// Ranges are those of places of both.
void SameValues::keep(const ValueSide& of, const Reading& reading) {
  for (InRange range : reading.ranges) {
    auto value = of.ranges_said ? of.ranges_said(range.value) : of.said(range.value);
    if (!value) {
      is_said_ = false;
      return;
    }
    range.value = *std::move(value);
    ranges.push_back(std::move(range));
  }
}

// With each side of a condition that is open in both.
bool SameValues::by_reading(const Ask& ask, bool& is_known) {
  Reading of_a{.choices = &a_.choices}, of_b{.choices = &b_.choices};
  const bool holds = ask(of_a, of_b, is_known);
  if (is_known) {
    if (!holds) return false;
    keep(a_, of_a);
    keep(b_, of_b);
    return is_said_;
  }
  if (!of_a.open.valid() || !of_b.open.valid() || open_ == most_open ||
      !same_condition(of_a.open, of_b.open))
    return false;
  ++open_;
  const auto known = std::exchange(known_, {});
  bool all = true;
  for (const bool side : {false, true}) {
    a_.choices[of_a.open] = b_.choices[of_b.open] = side;
    all = all && by_reading(ask, is_known) && is_known;
  }
  a_.choices.erase(of_a.open);
  b_.choices.erase(of_b.open);
  known_ = known;
  --open_;
  return all;
}

bool SameValues::same_address(Term a, Term b) {
  bool is_known = false;
  return by_reading(
      [&](Reading& of_a, Reading& of_b, bool& known) {
        const auto left = a_.place(a, of_a), right = b_.place(b, of_b);
        known = left && right;
        return known && left->parameter == right->parameter && left->offset == right->offset;
      },
      is_known);
}

bool SameValues::same_numbers(Term a, Term b, bool& is_known) {
  return by_reading(
      [&](Reading& of_a, Reading& of_b, bool& known) {
        const auto left = a_.number(a, of_a), right = b_.number(b, of_b);
        known = left && right;
        return known && *left == *right;
      },
      is_known);
}

bool SameValues::same_loads(Term a, Term b) {
  bool is_known = false;
  return by_reading(
      [&](Reading& of_a, Reading& of_b, bool& known) {
        const auto left = a_.loaded(a, of_a), right = b_.loaded(b, of_b);
        known = left && right;
        return known && left->type == right->type &&
               left->place.parameter == right->place.parameter &&
               left->place.offset == right->place.offset;
      },
      is_known);
}

Term SameValues::chosen(sym::Context& c, const Choices& choices, Term t) {
  while (t.valid() && c.kind(t) == Kind::ite) {
    const auto args = c.args(t);
    auto found = choices.find(args[0]);
    bool negated = false;
    if (const auto other = c.negated(args[0]); found == choices.end() && other) {
      found = choices.find(*other);
      negated = true;
    }
    if (found == choices.end()) break;
    t = args[found->second != negated ? 1 : 2];
  }
  return t;
}

bool SameValues::same(Term a, Term b) {
  a = chosen(*a_.kernel.context, a_.choices, a);
  b = chosen(*b_.kernel.context, b_.choices, b);
  const auto found = known_.find({a, b});
  if (found != known_.end()) return found->second;
  a_.kernel.context->spend(16);
  const bool holds = compare(a, b);
  known_[{a, b}] = holds;
  return holds;
}

bool SameValues::compare(Term a, Term b) {
  const sym::Context &left = *a_.kernel.context, &right = *b_.kernel.context;
  if (left.width(a) != right.width(b)) return false;
  if (left.width(a) == 1) return same_condition(a, b);
  const Kind kind = left.kind(a);
  if (kind == Kind::ite) return same_choices(a, b);
  bool is_known = false;
  const bool are_equal = same_numbers(a, b, is_known);
  if (is_known) return are_equal;
  const auto is_load = [](const sym::Context& c, Term t) {
    return c.kind(t) == Kind::atom || is_unchanging_load(c, t);
  };
  if (is_load(left, a) && is_load(right, b)) return same_loads(a, b);
  if (kind != right.kind(b)) return false;
  switch (kind) {
  case Kind::constant: return left.value(a) == right.value(b);
  case Kind::poly: return same_sums(a, b);
  case Kind::and_:
  case Kind::or_:
  case Kind::xor_: return same_in_any_order(arguments(left, a), arguments(right, b));
  default: return same_in_order(a, b);
  }
}

bool SameValues::same_in_order(Term a, Term b) {
  const sym::Context &left = *a_.kernel.context, &right = *b_.kernel.context;
  const auto of_a = arguments(left, a), of_b = arguments(right, b);
  if (left.kind(a) != right.kind(b) || left.low(a) != right.low(b) || of_a.size() != of_b.size())
    return false;
  const bool is_apply = left.kind(a) == Kind::apply;
  if (is_apply && left.function(a) != right.function(b)) return false;
  return std::ranges::equal(of_a, of_b, [&](Term x, Term y) { return same(x, y); });
}

bool SameValues::same_in_any_order(std::vector<Term> a, std::vector<Term> b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a, [&](Term one) {
    const auto found = std::ranges::find_if(b, [&](Term other) { return same(one, other); });
    if (found == b.end()) return false;
    b.erase(found);
    return true;
  });
}

bool SameValues::same_sums(Term a, Term b) {
  const sym::Poly left = a_.kernel.context->poly(a);
  sym::Poly right = b_.kernel.context->poly(b);
  if (left.constant != right.constant || left.terms.size() != right.terms.size()) return false;
  return std::ranges::all_of(left.terms, [&](const sym::Monomial& one) {
    const auto found = std::ranges::find_if(right.terms, [&](const sym::Monomial& other) {
      return one.coefficient == other.coefficient && one.factors != std::vector{a} &&
             same_in_any_order(one.factors, other.factors);
    });
    if (found == right.terms.end()) return false;
    right.terms.erase(found);
    return true;
  });
}

bool SameValues::same_choices(Term a, Term b) {
  if (b_.kernel.context->kind(b) != Kind::ite) return false;
  const auto of_a = arguments(*a_.kernel.context, a), of_b = arguments(*b_.kernel.context, b);
  if (same_condition(of_a[0], of_b[0])) return same(of_a[1], of_b[1]) && same(of_a[2], of_b[2]);
  return same_condition(of_a[0], of_b[0], true) && same(of_a[1], of_b[2]) && same(of_a[2], of_b[1]);
}

// --- Conditions ---------------------------------------------------------------------------------

// Of which one holds if and only if `t` does, or does not.
void SameValues::add_literals(const ValueSide& of, Term t, bool negated,
                              std::vector<Literal>& all) {
  sym::Context& c = *of.kernel.context;
  if (const auto other = c.negated(t)) return add_literals(of, *other, !negated, all);
  if (c.kind(t) == (negated ? Kind::and_ : Kind::or_)) {
    for (const Term one : arguments(c, t))
      add_literals(of, one, negated, all);
    return;
  }
  all.push_back({t, negated});
}

// `negated`: of b.
bool SameValues::same_condition(Term a, Term b, bool negated) {
  for (const bool as_all : {false, true}) {
    std::vector<Literal> left, right;
    add_literals(a_, a, as_all, left);
    add_literals(b_, b, as_all != negated, right);
    if (same_literals(std::move(left), std::move(right))) return true;
  }
  return false;
}

bool SameValues::same_literals(std::vector<Literal> a, std::vector<Literal> b) {
  std::erase_if(a, [&](const Literal& one) { return is_never_true(a_, one); });
  std::erase_if(b, [&](const Literal& one) { return is_never_true(b_, one); });
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a, [&](const Literal& one) {
    const auto found = std::ranges::find_if(b, [&](const Literal& other) {
      return one.negated == other.negated && same_comparison(one.term, other.term);
    });
    if (found == b.end()) return false;
    b.erase(found);
    return true;
  });
}

bool SameValues::is_never_true(const ValueSide& of, const Literal& literal) {
  const sym::Context& c = *of.kernel.context;
  if (const auto value = c.value(literal.term)) return (*value != 0) == literal.negated;
  if (c.kind(literal.term) != Kind::eq || literal.negated) return false;
  Reading reading{.choices = &of.choices};
  const auto difference = of.zero_if_equal(literal.term, reading);
  if (!difference || !never_zero_(*difference)) return false;
  keep(of, reading);
  return is_said_;
}

bool SameValues::same_comparison(Term a, Term b) {
  const sym::Context &left = *a_.kernel.context, &right = *b_.kernel.context;
  const Kind kind = left.kind(a);
  if (kind != right.kind(b)) return false;
  if (kind == Kind::constant) return left.value(a) == right.value(b);
  if (kind == Kind::atom) return same_loads(a, b);
  if (kind != Kind::eq) return same_in_order(a, b);
  bool is_known = false;
  const bool are_equal = by_reading(
      [&](Reading& in_a, Reading& in_b, bool& known) {
        if (is_wide(left, a) != is_wide(right, b)) return false; // of another modulus
        const auto of_left = a_.zero_if_equal(a, in_a), of_right = b_.zero_if_equal(b, in_b);
        known = of_left && of_right;
        return known && (*of_left == *of_right || (*of_left + *of_right).is_zero());
      },
      is_known);
  if (is_known) return are_equal;
  return same_in_any_order(arguments(left, a), arguments(right, b));
}

} // namespace ptxasw::passes
