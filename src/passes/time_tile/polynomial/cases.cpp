// Splits conditions into bounds of coordinates.
#include "passes/time_tile/polynomial/cases.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

namespace {

constexpr std::size_t most_cases = 32;

using Disjuncts = std::vector<Bounded>;

void add(Bounded& to, const Bounded& more) {
  for (const Bound& bound : more.bounds)
    if (std::ranges::find(to.bounds, bound) == to.bounds.end()) to.bounds.push_back(bound);
  to.edges.insert(to.edges.end(), more.edges.begin(), more.edges.end());
  to.ranges.insert(to.ranges.end(), more.ranges.begin(), more.ranges.end());
  to.of_places |= more.of_places;
}

// Both hold.
std::optional<Disjuncts> product(const Disjuncts& a, const Disjuncts& b) {
  if (a.size() * b.size() > most_cases) return std::nullopt;
  Disjuncts all;
  for (const Bounded& left : a)
    for (const Bounded& right : b)
      add(all.emplace_back(left), right);
  return all;
}

// size * times + rest. Of 0 <= rest < size it is below 0 where `times` is.
struct Multiple {
  IntegerPolynomial size, times, rest;
};

// By the size that the coordinate is multiplied with.
std::optional<Multiple> in_multiples(const IntegerPolynomial& whole, unsigned axis) {
  const IntegerPolynomial along = whole.along(axis);
  if (along.terms().size() != 1) return std::nullopt;
  const auto& [product, coefficient] = *along.terms().begin();
  const Number by = coefficient < 0 ? -coefficient : coefficient;
  Multiple made;
  made.size.add(product, by);
  for (const auto& [factors, n] : whole.terms()) {
    Number times = 0;
    if (std::ranges::includes(factors, product)) {
      times = floored(n, by);
      IntegerPolynomial::Product left;
      std::ranges::set_difference(factors, product, std::back_inserter(left));
      made.times.add(left, times);
    }
    made.rest.add(factors, n - times * by);
  }
  return made;
}

// A sum of places and of numbers that are not negative.
bool is_natural(const IntegerPolynomial& whole) {
  return std::ranges::all_of(whole.terms(), [](const auto& term) {
    const auto& [product, coefficient] = term;
    return coefficient >= 0 && (product.empty() || (product.size() == 1 && product[0].is_axis));
  });
}

class Splitter {
public:
  Splitter(const IntegerPolynomialReader& reader, sym::Context& context)
      : reader_(reader), c_(context) {}

  // `choices` were made.
  std::optional<Disjuncts> split(Term t, bool holds, const Choices& choices) {
    choices_ = choices;
    return split(t, holds);
  }

private:
  std::optional<Disjuncts> split(Term t, bool holds) {
    if (const auto value = c_.value(t)) return (*value != 0) == holds ? Disjuncts{{}} : Disjuncts{};
    if (const auto negated = c_.negated(t)) return split(*negated, !holds);
    if (const auto apart = signs_apart(c_, t)) return split(*apart, holds);
    switch (c_.kind(t)) {
    case Kind::and_: return split_all(t, true, holds);
    case Kind::or_: return split_all(t, false, holds);
    case Kind::ult:
      if (auto apart = ends_apart(t, holds)) return apart;
      return compare(t, holds);
    case Kind::eq:
    case Kind::slt: return compare(t, holds);
    default: return std::nullopt;
    }
  }

  // A conjunction, or a disjunction: all parts are as `conjunction` says; or one of them is the
  // first that is not.
  std::optional<Disjuncts> split_all(Term t, bool conjunction, bool holds) {
    const std::vector<Term> parts(c_.args(t).begin(), c_.args(t).end());
    std::optional<Disjuncts> before{Disjuncts{{}}};
    Disjuncts other;
    for (const Term part : parts) {
      const auto as = split(part, conjunction), differs = split(part, !conjunction);
      if (!as || !differs) return std::nullopt;
      const auto first = product(*before, *differs);
      before = product(*before, *as);
      if (!first || !before) return std::nullopt;
      other.insert(other.end(), first->begin(), first->end());
      if (other.size() > most_cases) return std::nullopt;
    }
    return holds == conjunction ? before : std::optional(std::move(other));
  }

  // An unsigned x - c < n, as compilers write c <= x < c + n, where places have an x below c: x - c
  // may be less than 0. Of places row by row x may be the number of the thread.
  std::optional<Disjuncts> ends_apart(Term t, bool holds) {
    const Term a = c_.args(t)[0], b = c_.args(t)[1];
    const unsigned width = c_.width(a);
    if (width != 32 && width != 64) return std::nullopt;
    Reading reading{.ranges = {}, .choices = &choices_, .open = {}};
    const auto value = reader_.read(a, reading), end = reader_.read(b, reading);
    if (!value || !end) return std::nullopt;
    const auto is_below = [&](const IntegerPolynomial& place) {
      const IntegerPolynomial beside = *value - place;
      return beside == beside.elsewhere() && seems_negative(beside);
    };
    bool is_apart = is_below(reader_.thread(0));
    for (unsigned axis = 0; axis < 3; ++axis)
      is_apart |= is_below(IntegerPolynomial::coordinate(axis));
    if (!is_apart) return std::nullopt;
    const Term from = c_.not_(c_.slt(a, c_.constant(width, 0)));
    auto ways = split(c_.and_(from, c_.slt(a, b)), holds);
    if (ways)
      for (Bounded& way : *ways)
        way.ranges.push_back({*end, 0, (Number{1} << (width - 1)) - 1});
    return ways;
  }

  // a - b is a coordinate, or a negated one, and something that is the same for all.
  std::optional<Disjuncts> compare(Term t, bool holds) {
    Term left = c_.args(t)[0], right = c_.args(t)[1];
    if (c_.kind(t) == Kind::eq && c_.width(left) < 32) { // lower bits
      left = c_.zext(left, 32);
      right = c_.zext(right, 32);
    }
    const unsigned width = c_.width(left);
    if (width != 32 && width != 64) return std::nullopt;
    Reading reading{.ranges = {}, .choices = &choices_, .open = {}};
    const bool is_sign = c_.kind(t) == Kind::slt && c_.value(right) == sym::Bits{0};
    const auto a = is_sign ? reader_.like_in_sign(left, reading) : reader_.read(left, reading),
               b = reader_.read(right, reading);
    if (reading.open.valid()) return compare_by_sides(t, holds, reading.open);
    if (!a || !b) return std::nullopt;
    IntegerPolynomial difference = *a - *b;
    if (difference.too_large() || !difference.is_linear()) return std::nullopt;
    Bounded made{.bounds = {}, .edges = {}, .ranges = std::move(reading.ranges)};
    // What the machine compares are these numbers; equal they are if they are equal modulo 2^width.
    if (c_.kind(t) == Kind::eq) {
      const Number end = Number{1} << width;
      made.ranges.push_back({difference, 1 - end, end - 1});
    } else {
      for (const IntegerPolynomial& number : {*a, *b})
        made.ranges.push_back(in_type(number, width, c_.kind(t) == Kind::slt));
    }
    if (is_sign && is_natural(difference)) return holds ? Disjuncts{} : Disjuncts{std::move(made)};
    // m * (x - n) < 0 is x - n < 0.
    difference = *quotient(difference, IntegerPolynomial(factor_of(difference)));
    const bool equal = c_.kind(t) == Kind::eq;
    if (difference == difference.elsewhere())
      return same_for_all(equal, difference, holds, std::move(made));
    const auto bound = equal ? std::nullopt : whole_rows(difference, holds);
    if (bound)
      made.bounds = {*bound};
    else if (!add_bounds(difference, equal, holds, made) &&
             !add_multiples(difference, equal, holds, made))
      return std::nullopt;
    return Disjuncts{std::move(made)};
  }

  // As y * n < n * m is y < m, and y * n + x < n * m, too, where x is a place in a row.
  static bool add_multiples(const IntegerPolynomial& difference, bool equal, bool holds,
                            Bounded& made) {
    constexpr Number most = Number{1} << 62;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto found = in_multiples(difference, axis);
      if (!found) continue;
      bool is_place = false;
      for (unsigned other = 0; other < 3; ++other)
        is_place |= found->rest == IntegerPolynomial::coordinate(other);
      if (!found->rest.is_zero() && (!is_place || equal)) continue;
      if (!add_bounds(found->times, equal, holds, made)) continue;
      made.of_places = true; // which are not negative
      made.ranges.push_back({found->size - found->rest, 1, most, "a place is beside its row"});
      return true;
    }
    return false;
  }

  // x - at, or at - x: is it zero, or less?
  static bool add_bounds(const IntegerPolynomial& difference, bool equal, bool holds,
                         Bounded& made) {
    std::optional<unsigned> axis;
    bool down = false;
    for (unsigned n = 0; n < 3; ++n) {
      const IntegerPolynomial along = difference.along(n);
      if (along.is_zero()) continue;
      if (axis || (along != IntegerPolynomial(1) && along != IntegerPolynomial(-1))) return false;
      axis = n;
      down = along == IntegerPolynomial(-1);
    }
    const IntegerPolynomial rest = difference.elsewhere(),
                            at = down ? rest : IntegerPolynomial(0) - rest;
    if (!equal) { // at - x < 0: x > at
      made.bounds = {{*axis, holds != down, down ? at + IntegerPolynomial(1) : at}};
    } else if (holds) {
      made.bounds = {{*axis, false, at}, {*axis, true, at + IntegerPolynomial(1)}};
    } else {
      const bool first = at.constant().has_value() && *at.constant() <= most_cases;
      const Bound bound{*axis, !first, first ? at + IntegerPolynomial(1) : at};
      made.bounds = {bound};
      made.edges = {{bound}};
    }
    return true;
  }

  // Of places row by row: a thread's number is less than n * row, or not, where y is less than n.
  [[nodiscard]] std::optional<Bound> whole_rows(const IntegerPolynomial& difference,
                                                bool holds) const {
    if (!reader_.row()) return std::nullopt;
    for (const bool down : {false, true}) { // number < at, or at - 1 < number
      const IntegerPolynomial number = reader_.thread(0),
                              rest = down ? difference + number : difference - number;
      if (rest != rest.elsewhere()) continue;
      const auto at = quotient(down ? rest + IntegerPolynomial(1) : IntegerPolynomial(0) - rest,
                               *reader_.row());
      if (at) return Bound{.axis = 1, .below = holds != down, .at = *at};
    }
    return std::nullopt;
  }

  // Of numbers that are chosen themselves, as a maximum is that a minimum is taken of.
  std::optional<Disjuncts> compare_by_sides(Term t, bool holds, Term open) {
    Disjuncts all;
    for (const bool side : {true, false}) {
      const auto ways = split(open, side);
      if (!ways) return std::nullopt;
      choices_[open] = side;
      const auto rest = compare(t, holds);
      choices_.erase(open);
      const auto both = rest ? product(*ways, *rest) : std::nullopt;
      if (!both) return std::nullopt;
      all.insert(all.end(), both->begin(), both->end());
    }
    return all.size() <= most_cases ? std::optional(std::move(all)) : std::nullopt;
  }

  // a < b or a == b of sizes: only launches with large ones are looked at.
  static std::optional<Disjuncts> same_for_all(bool equal, const IntegerPolynomial& difference,
                                               bool holds, Bounded made) {
    bool up = false, down = false;
    for (const auto& [product, coefficient] : difference.terms())
      if (!product.empty()) (coefficient > 0 ? up : down) = true;
    if (up == down) return std::nullopt;
    if (holds != (down && !equal)) return Disjuncts{};
    const Number least = up && !equal ? 0 : 1;
    made.ranges.push_back({down ? IntegerPolynomial(0) - difference : difference, least,
                           Number{1} << 64, "a size is too small"});
    return Disjuncts{std::move(made)};
  }

  const IntegerPolynomialReader& reader_;
  sym::Context& c_;
  Choices choices_;
};

// Reads under choices, and makes one more where one is missing.
class CaseReader {
public:
  CaseReader(const IntegerPolynomialReader& reader, sym::Context& context)
      : reader_(reader), splitter_(reader, context) {}

  bool read(Term address, const Choices& choices, const Bounded& where) {
    Reading reading{.ranges = {}, .choices = &choices, .open = {}};
    const auto place = reader_.place(address, reading);
    if (!place && !reading.open.valid()) {
      why = "not known over whole numbers";
      return false;
    }
    if (place) {
      cases.push_back({*place, where, std::move(reading.ranges)});
      return cases.size() <= most_cases;
    }
    for (const bool side : {true, false}) {
      const auto ways = splitter_.split(reading.open, side, choices);
      if (!ways) {
        why = "chosen by more than the place of the thread";
        return false;
      }
      Choices more = choices;
      more.emplace(reading.open, side);
      for (const Bounded& way : *ways) {
        Bounded both = where;
        add(both, way);
        if (!read(address, more, both)) return false;
      }
    }
    return true;
  }

  std::vector<AddressCase> cases;
  const char* why = "of too many cases";

private:
  const IntegerPolynomialReader& reader_;
  Splitter splitter_;
};

} // namespace

std::array<std::optional<IntegerPolynomial>, 3> pinned(const std::vector<Bound>& bounds) {
  std::array<std::optional<IntegerPolynomial>, 3> all;
  for (const Bound& from : bounds) {
    const Bound next{from.axis, true, from.at + IntegerPolynomial(1)};
    if (!from.below && std::ranges::find(bounds, next) != bounds.end()) all.at(from.axis) = from.at;
  }
  return all;
}

bool agree(const IntegerPolynomial& a, const IntegerPolynomial& b,
           const std::vector<Bound>& bounds) {
  IntegerPolynomial difference = a - b;
  if (!difference.is_linear()) return false;
  const auto at = pinned(bounds);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (at[axis])
      difference =
          difference + difference.along(axis) * (*at[axis] - IntegerPolynomial::coordinate(axis));
  return difference.is_zero();
}

Bounded both(const Bounded& a, const Bounded& b) {
  Bounded all = a;
  all.bounds.insert(all.bounds.end(), b.bounds.begin(), b.bounds.end());
  all.edges.insert(all.edges.end(), b.edges.begin(), b.edges.end());
  all.ranges.insert(all.ranges.end(), b.ranges.begin(), b.ranges.end());
  all.of_places |= b.of_places;
  return all;
}

InRange in_type(IntegerPolynomial value, unsigned width, bool is_signed) {
  const Number end = Number{1} << width;
  return {std::move(value), is_signed ? -end / 2 : 0, is_signed ? end / 2 - 1 : end - 1};
}

std::optional<LessThan> less_than(const sym::Context& context, Term condition,
                                  const ReadSide& read) {
  const Kind kind = context.kind(condition);
  if (kind != Kind::slt && kind != Kind::ult) return std::nullopt;
  const Term first = context.args(condition)[0], second = context.args(condition)[1];
  const unsigned width = context.width(first);
  if (width != 32 && width != 64) return std::nullopt;
  Reading reading;
  auto left = read(first, reading), right = left ? read(second, reading) : std::nullopt;
  if (!right) return std::nullopt;
  for (const IntegerPolynomial& side : {*left, *right})
    reading.ranges.push_back(in_type(side, width, kind == Kind::slt));
  return LessThan{std::move(*left), std::move(*right), std::move(reading.ranges)};
}

std::optional<std::vector<Bounded>> split(const IntegerPolynomialReader& reader,
                                          sym::Context& context, Term condition, bool holds) {
  return Splitter(reader, context).split(condition, holds, {});
}

// The sign of a | b is set where that of either is.
std::optional<Term> signs_apart(sym::Context& context, Term t) {
  if (context.kind(t) != Kind::slt) return std::nullopt;
  const Term joined = context.args(t)[0], than = context.args(t)[1];
  const bool is_any = context.kind(joined) == Kind::or_;
  if (context.value(than) != sym::Bits{0} || (!is_any && context.kind(joined) != Kind::and_))
    return std::nullopt;
  const std::vector<Term> parts(context.args(joined).begin(), context.args(joined).end());
  Term all = context.boolean(!is_any);
  for (const Term part : parts) {
    const Term is_negative = context.slt(part, than);
    all = is_any ? context.or_(all, is_negative) : context.and_(all, is_negative);
  }
  return all;
}

std::optional<std::vector<AddressCase>> read_cases(const IntegerPolynomialReader& reader,
                                                   sym::Context& context, Term address,
                                                   const char*& why) {
  CaseReader cases(reader, context);
  if (cases.read(address, {}, {})) return std::move(cases.cases);
  why = cases.why;
  return std::nullopt;
}

} // namespace ptxasw::passes
