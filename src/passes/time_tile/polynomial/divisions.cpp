// Quotients and rests, as numbers: of places row by row, and of what is next to a multiple.
#include "passes/time_tile/polynomial/polynomial_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

// q * row + x, where 0 <= x < row, is divided: of 0 <= q the result is q and x, signed or not.
std::optional<IntegerPolynomialReader::Divided>
IntegerPolynomialReader::by_row(Term t, Reading& reading) const {
  if (!row_) return std::nullopt;
  Reading made{.ranges = {}, .choices = reading.choices, .open = {}, .depth = reading.depth};
  const auto a = read(c_.args(t)[0], made);
  reading.open = made.open;
  if (!a) return std::nullopt;
  const auto by = read(c_.args(t)[1], made);
  reading.open = made.open;
  if (!by || *by != *row_) return std::nullopt;
  const auto x = IntegerPolynomial::coordinate(0);
  auto whole = quotient(*a - x, *row_);
  if (!whole || !whole->along(0).is_zero()) return std::nullopt;
  const bool is_signed = c_.kind(t) == Kind::sdiv || c_.kind(t) == Kind::srem;
  const Number last = (Number{1} << (c_.width(t) - (is_signed ? 1 : 0))) - 1;
  if (*a != thread(0)) made.ranges.push_back({*a, 0, last});
  // Of a longer number the low bits.
  if (c_.kind(c_.args(t)[1]) == Kind::extract) made.ranges.push_back({*by, 1, last});
  reading.ranges.insert(reading.ranges.end(), made.ranges.begin(), made.ranges.end());
  return Divided{std::move(*whole), x};
}

namespace {

// Within a value that is extended, or of which the low half is left (no less: 32 bits hold it), and
// that is something else where a divisor is zero.
struct Bare {
  Term value;
  std::vector<Term> divisors; // that are not zero
};

Bare without_width(const sym::Context& c, Term t) {
  Bare bare{t, {}};
  for (;;) {
    const Kind kind = c.kind(bare.value);
    const auto args = c.args(bare.value);
    const bool is_low =
        kind == Kind::extract && c.low(bare.value) == 0 && c.width(bare.value) >= 32;
    if (kind == Kind::zext || kind == Kind::sext || is_low) {
      bare.value = args[0];
    } else if (kind == Kind::ite && c.kind(args[0]) == Kind::eq && c.value(args[1])) {
      const auto compared = c.args(args[0]);
      const bool is_second = c.value(compared[1]) == sym::Bits{0};
      if (!is_second && c.value(compared[0]) != sym::Bits{0}) return bare;
      bare.divisors.push_back(compared[is_second ? 0 : 1]);
      bare.value = args[2];
    } else {
      return bare;
    }
  }
}

} // namespace

// a / b or a % b of 64 bits, as compilers write it: of 32 bits where that is enough. It is for all
// a and b below 2^31 that are not negative, whatever the branch asks.
std::optional<IntegerPolynomial> IntegerPolynomialReader::divided_alike(Term t,
                                                                        Reading& reading) const {
  for (const std::size_t side : {1, 2}) {
    const Bare narrow = without_width(c_, c_.args(t)[side]),
               wide = without_width(c_, c_.args(t)[3 - side]);
    const Kind kind = c_.kind(wide.value);
    if ((kind != Kind::udiv && kind != Kind::urem) || c_.kind(narrow.value) != kind ||
        c_.width(narrow.value) != 32 || c_.width(wide.value) != 64)
      continue;
    const std::array numbers{c_.args(wide.value)[0], c_.args(wide.value)[1]},
        low{c_.extract(numbers[0], 0, 32), c_.extract(numbers[1], 0, 32)};
    const auto is_divisor = [&](Term one) { return one == numbers[1] || one == low[1]; };
    if (low[0] != c_.args(narrow.value)[0] || low[1] != c_.args(narrow.value)[1] ||
        !std::ranges::all_of(narrow.divisors, is_divisor) ||
        !std::ranges::all_of(wide.divisors, is_divisor))
      continue;
    auto value = read(wide.value, reading);
    if (!value) return std::nullopt;
    for (const Term number : numbers) {
      const auto whole = read(number, reading);
      if (!whole) return std::nullopt;
      reading.ranges.push_back({*whole, number == numbers[1] ? 1 : 0, (Number{1} << 31) - 1});
    }
    return value;
  }
  return std::nullopt;
}

bool seems_negative(const IntegerPolynomial& whole) {
  const IntegerPolynomial common = whole.elsewhere();
  const auto longest = std::ranges::max_element(common.terms(), {},
                                                [](const auto& term) { return term.first.size(); });
  return longest != common.terms().end() && longest->second < 0;
}

namespace {

// Where x + c + k*n comes to the next multiple of n: at (k + 1)*n, or at k*n if c is negative. At
// least 1. A guess: that it is the right one is a condition.
sym::Bits next_multiple(const IntegerPolynomial& a, const IntegerPolynomial& n) {
  Number times = 0;
  if (n.terms().size() == 1 && !n.constant()) {
    const auto& [product, coefficient] = *n.terms().begin();
    const auto found = a.terms().find(product);
    if (found != a.terms().end()) times = found->second / coefficient;
  }
  if (!seems_negative(a - n * IntegerPolynomial(times))) ++times;
  return static_cast<sym::Bits>(std::clamp<Number>(times, 1, 8));
}

} // namespace

// A number next to a multiple of another one.
struct IntegerPolynomialReader::Multiple {
  Term number, of;
  IntegerPolynomial value, by; // of these
  Number times = 1;
  bool is_signed = false;
};

// a % n is a - (k-1)*n, or a - k*n: whichever is at least 0 and less than n. Which one that is a
// comparison with k*n decides; that it is, is a condition. (Where k is 1 who asks says that a is
// not too small.)
std::optional<IntegerPolynomialReader::Divided>
IntegerPolynomialReader::next_to(const Multiple& multiple, Reading& reading) const {
  const auto& [a, n, value, by, times, is_signed] = multiple;
  if (reading.choices == nullptr) return std::nullopt;
  const Term at = c_.mul(c_.constant(c_.width(n), static_cast<sym::Bits>(times)), n);
  const Term below = is_signed ? c_.slt(a, at) : c_.ult(a, at);
  auto known = c_.value(below);
  if (!known)
    if (const auto choice = reading.choices->find(below); choice != reading.choices->end())
      known = choice->second ? 1 : 0;
  if (!known) {
    reading.open = below;
    return std::nullopt;
  }
  const IntegerPolynomial whole(times - static_cast<Number>(*known)), rest = value - by * whole;
  const Number end = Number{1} << (c_.width(a) - (is_signed ? 1 : 0));
  // The comparison says the one, the condition the other.
  constexpr const char* otherwise = "what is taken modulo a size is not next to it";
  if (*known == 0)
    reading.ranges.push_back({by - rest, 1, end, otherwise});
  else if (times != 1)
    reading.ranges.push_back({rest, 0, end, otherwise});
  return Divided{whole, rest};
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::remainder(Term t,
                                                                    Reading& reading) const {
  const Term a = c_.args(t)[0], n = c_.args(t)[1];
  if (reading.choices == nullptr) return std::nullopt;
  const auto value = read(a, reading);
  const auto by = value ? read(n, reading) : std::nullopt;
  if (!by) return std::nullopt;
  const bool is_signed = c_.kind(t) == Kind::srem;
  const Number end = Number{1} << (c_.width(t) - 1);
  const auto times = static_cast<Number>(next_multiple(*value, *by));
  auto divided = next_to({a, n, *value, *by, times, true}, reading);
  if (!divided) return std::nullopt;
  // What is compared, with a sign, is what the machine compares: so without one it is not as large
  // that it would have one. With a sign what is not below a multiple is not negative either; of
  // -n < a < n the rest is a.
  for (const IntegerPolynomial& number : {*by, *by * IntegerPolynomial(times)})
    reading.ranges.push_back({number, 0, end - 1});
  reading.ranges.push_back({*value, is_signed ? -end : 0, end - 1});
  if (is_signed && divided->quotient.is_zero())
    reading.ranges.push_back(
        {*value + *by, 1, 2 * end, "what is taken modulo a size is not next to it"});
  return std::move(divided->rest);
}

// --- Divisors that are numbers ------------------------------------------------------------------

namespace {

constexpr Number threads_end = Number{1} << 31; // of an axis (contract::fit)

bool is_upper_part(const sym::Context& c, Term t) {
  return c.kind(t) == Kind::extract && c.low(t) != 0;
}

// A sum of few bits as one of 32.
std::optional<Term> lengthened(sym::Context& c, Term t) {
  const sym::Poly poly = c.poly(t);
  const auto number = [&](sym::Bits bits) {
    return c.constant(32, static_cast<sym::Bits>(signed_value(bits, c.width(t))));
  };
  Term sum = number(poly.constant);
  for (const sym::Monomial& one : poly.terms) {
    if (one.factors.size() != 1) return std::nullopt;
    sum = c.add(sum, c.mul(number(one.coefficient), c.zext(one.factors[0], 32)));
  }
  return sum;
}

} // namespace

// A term that is floor(numerator / 2^shift), modulo 2 to the power of its width: the upper bits of
// a number that is right modulo 2^n are right modulo 2^(n - low), and a sum in front of a shift may
// be done in front of the shift before.
struct IntegerPolynomialReader::Fraction {
  IntegerPolynomial numerator;
  unsigned shift = 0;
};

std::optional<IntegerPolynomialReader::Fraction>
IntegerPolynomialReader::fraction(Term t, Reading& reading) const {
  constexpr unsigned most_shift = 64;
  if (is_upper_part(c_, t)) {
    auto all = fraction(c_.args(t)[0], reading);
    if (all) all->shift += c_.low(t);
    return all && all->shift <= most_shift ? all : std::nullopt;
  }
  sym::Poly poly = c_.poly(t);
  const auto upper = std::ranges::find_if(poly.terms, [&](const sym::Monomial& one) {
    return one.coefficient == 1 && one.factors.size() == 1 && is_upper_part(c_, one.factors[0]);
  });
  if (upper == poly.terms.end()) {
    auto whole = read(t, reading);
    return whole ? std::optional(Fraction{std::move(*whole), 0}) : std::nullopt;
  }
  auto all = fraction(upper->factors[0], reading);
  poly.terms.erase(upper);
  const auto rest = !all ? std::nullopt
                    : poly.terms.empty()
                        ? std::optional(IntegerPolynomial(signed_value(poly.constant, c_.width(t))))
                        : read(c_.from_poly(c_.width(t), poly), reading);
  if (!rest) return std::nullopt;
  all->numerator = all->numerator + *rest * IntegerPolynomial(Number{1} << all->shift);
  return all;
}

namespace {

// floor(v * m / 2^k) is floor(v / n) for n = ceil(2^k / m), as long as v * (m*n - 2^k) < 2^k. It
// has so many bits at most.
std::optional<DividedByNumber> by_product(const IntegerPolynomial& value, Number factor,
                                          unsigned shift, unsigned bits) {
  const Number power = Number{1} << shift, by = (power + factor - 1) / factor,
               beyond = by * factor - power;
  if (by < 2 || value.too_large()) return std::nullopt;
  Number most = (by << bits) - 1;
  if (beyond > 0) most = std::min(most, (power - 1) / beyond);
  return DividedByNumber{value, by, most, false};
}

} // namespace

std::optional<DividedByNumber> IntegerPolynomialReader::divided_by_number(Term t,
                                                                          Reading& reading) const {
  constexpr unsigned deepest = 6;
  if (reading.depth >= deepest) return std::nullopt;
  ++reading.depth;
  auto divided = divided_once(t, reading);
  --reading.depth;
  return divided;
}

// As products, or as lower bits: those of any number that is the same modulo 2^n.
std::optional<DividedByNumber> IntegerPolynomialReader::divided_once(Term t,
                                                                     Reading& reading) const {
  const bool is_unsigned = c_.kind(t) == Kind::zext;
  const Term narrow = is_unsigned || c_.kind(t) == Kind::sext ? c_.args(t)[0] : t;
  const unsigned width = c_.width(narrow);
  const bool is_sum = c_.kind(narrow) == Kind::poly;
  const unsigned bits = std::min(width - (is_unsigned ? 0 : 1), 32U);
  auto all = is_sum || is_upper_part(c_, narrow) ? fraction(narrow, reading) : std::nullopt;
  if (reading.open.valid()) return std::nullopt;
  // A sum of few bits may be meant to wrap, but none that is multiplied and shifted.
  if (is_sum && all && factor_of(all->numerator) == 1) all.reset();
  if (all) {
    const Number factor = factor_of(all->numerator);
    const auto value = quotient(all->numerator, IntegerPolynomial(factor));
    return value ? by_product(*value, factor, all->shift, bits) : std::nullopt;
  }
  if (!is_unsigned || width == 1 || width >= 32 || is_upper_part(c_, narrow) ||
      (!is_sum && c_.kind(narrow) != Kind::extract))
    return std::nullopt;
  const auto base = is_sum ? lengthened(c_, narrow) : std::optional(c_.args(narrow)[0]);
  auto value = base ? read(*base, reading) : std::nullopt;
  if (!value) return std::nullopt;
  return DividedByNumber{std::move(*value), Number{1} << width, 0, true};
}

// A sum of upper parts is negative where what they are of is, if it does not wrap.
std::optional<IntegerPolynomial> IntegerPolynomialReader::like_in_sign(Term t,
                                                                       Reading& reading) const {
  const unsigned width = c_.width(t);
  if (width != 32 && width != 64) return std::nullopt;
  const auto all = fraction(t, reading);
  if (!all || all->shift == 0) return all ? std::optional(all->numerator) : std::nullopt;
  const Number end = Number{1} << (width - 1 + std::min(all->shift, 32U));
  reading.ranges.push_back({all->numerator, -end, end - 1});
  return quotient(all->numerator, IntegerPolynomial(factor_of(all->numerator)));
}

// Of a sum of coordinates and numbers a term that is it, if none wraps.
std::optional<Term> IntegerPolynomialReader::term_of(const IntegerPolynomial& whole) const {
  const auto number = [&](Number value) { return c_.constant(32, static_cast<sym::Bits>(value)); };
  Term sum = number(whole.elsewhere().constant().value_or(0));
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto times = whole.along(axis).constant();
    const auto length = row_ && axis < 2 ? row_->constant() : std::nullopt;
    if (!times || (row_ && axis < 2 && !length) || !whole.elsewhere().constant())
      return std::nullopt;
    if (*times == 0) continue;
    const auto atom = std::ranges::find(meaning_.axes, length ? 0 : axis,
                                        [](const auto& entry) { return entry.second; });
    if (atom == meaning_.axes.end()) return std::nullopt;
    Term place{atom->first};
    if (c_.width(place) != 32) return std::nullopt;
    if (length)
      place = axis == 0 ? c_.urem(place, number(*length)) : c_.udiv(place, number(*length));
    sum = c_.add(sum, c_.mul(number(*times), place));
  }
  return sum;
}

// by * quotient + rest, of which the number that places have in common is in [0, by).
IntegerPolynomialReader::Divided IntegerPolynomialReader::in_parts(const IntegerPolynomial& whole,
                                                                   Number by) {
  Divided made;
  for (const auto& [product, n] : whole.terms()) {
    if (!product.empty() && n % by != 0) {
      made.rest.add(product, n);
      continue;
    }
    made.quotient.add(product, floored(n, by));
    made.rest.add(product, n - floored(n, by) * by);
  }
  return made;
}

// floor((n*q + r) / n) is q + floor(r / n). What is a sign for all shifts is 0, of numbers that are
// not negative.
std::optional<IntegerPolynomial> IntegerPolynomialReader::bits_of(Term t, Reading& reading) const {
  const auto divided = divided_by_number(t, reading);
  if (!divided) return std::nullopt;
  const auto& [value, by, most, is_rest] = *divided;
  const bool is_sign = !is_rest && by >= threads_end;
  if (!is_rest && (value != thread(0) || most < threads_end - 1))
    reading.ranges.push_back({value, 0, is_sign ? std::min(most, by - 1) : most});
  if (is_sign) return IntegerPolynomial(0);
  Divided parts = in_parts(value, by);
  const bool is_place =
      row_ && *row_ == IntegerPolynomial(by) && parts.rest == IntegerPolynomial::coordinate(0);
  if (!is_place && !parts.rest.constant()) {
    const auto number = term_of(parts.rest);
    if (!number) return std::nullopt;
    const auto next = next_to({.number = *number,
                               .of = c_.constant(32, static_cast<sym::Bits>(by)),
                               .value = parts.rest,
                               .by = IntegerPolynomial(by),
                               .times = 1,
                               .is_signed = true},
                              reading);
    if (!next) return std::nullopt;
    reading.ranges.push_back({parts.rest, 0, threads_end - 1});
    parts = {parts.quotient + next->quotient, next->rest};
  }
  return is_rest ? std::move(parts.rest) : std::move(parts.quotient);
}

} // namespace ptxasw::passes
