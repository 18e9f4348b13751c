// Reads terms as sums and products over the integers, as long as nothing wraps.
#include "passes/time_tile/polynomial/polynomial_reader.hpp"

#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptxasw::passes {

using contract::Expression;
using contract::Token;
using emulator::AtomKind;
using sym::Kind;
using sym::Term;

std::optional<unsigned> IntegerPolynomialReader::parameter_of(Term atom) const {
  const sym::Atom& info = c_.atom_info(atom);
  if (info.kind != static_cast<std::uint32_t>(AtomKind::parameter)) return std::nullopt;
  constexpr std::uint64_t bytes = 0x10000; // of which a contract can speak
  for (const ptx::Symbol& symbol : k_.body.symbols)
    if (symbol.kind == ptx::Symbol::Kind::parameter && symbol.offset <= info.tag &&
        info.tag + info.width / 8 <= symbol.offset + symbol.size &&
        info.tag - symbol.offset < bytes && symbol.index < bytes) {
      const unsigned part =
          contract::part(symbol.index, static_cast<unsigned>(info.tag - symbol.offset));
      const auto first = meaning_.equal.find(part);
      return first == meaning_.equal.end() ? part : first->second;
    }
  return std::nullopt;
}

// Contracts speak of whole words.
std::optional<unsigned> IntegerPolynomialReader::pointer_of(Term atom) const {
  const auto part = parameter_of(atom);
  return part && c_.width(atom) == 64 && contract::byte_of(*part) % 8 == 0 ? part : std::nullopt;
}

bool IntegerPolynomialReader::moves(Term t) const {
  return std::ranges::any_of(c_.atoms(t), [&](Term atom) {
    return c_.atom_info(atom).kind != static_cast<std::uint32_t>(AtomKind::parameter);
  });
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::read(Term t, Reading& reading) const {
  const unsigned width = c_.width(t);
  if (width != 32 && width != 64) return std::nullopt;
  switch (c_.kind(t)) {
  case Kind::constant: return IntegerPolynomial(signed_value(*c_.value(t), width));
  case Kind::poly: return sum(t, reading);
  case Kind::zext:
  case Kind::sext: return extended(t, reading);
  case Kind::extract: // the same number, modulo less
    if (c_.low(t) != 0) return bits_of(t, reading);
    return read(c_.args(t)[0], reading);
  case Kind::ite: return chosen(t, reading);
  case Kind::and_: return masked(t, reading);
  case Kind::udiv:
  case Kind::sdiv: {
    auto divided = by_row(t, reading);
    if (!divided) return std::nullopt;
    return std::move(divided->quotient);
  }
  case Kind::urem:
  case Kind::srem: {
    auto divided = by_row(t, reading);
    if (reading.open.valid()) return std::nullopt;
    return divided ? std::optional(std::move(divided->rest)) : remainder(t, reading);
  }
  case Kind::atom: return atom(t);
  default: return std::nullopt;
  }
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::atom(Term t) const {
  if (const auto axis = meaning_.axes.find(t.id); axis != meaning_.axes.end())
    return thread(axis->second);
  const sym::Atom& info = c_.atom_info(t);
  if (is_special(t)) {
    auto number = special(info);
    return number ? std::optional(with_extents(*std::move(number))) : std::nullopt;
  }
  if (info.kind == static_cast<std::uint32_t>(AtomKind::iteration))
    return IntegerPolynomial(Quantity{.number = info.tag, .of = Quantity::Of::iteration});
  const auto parameter = parameter_of(t);
  if (!parameter) return std::nullopt;
  return IntegerPolynomial(Quantity{.number = *parameter, .as = type_of(c_.width(t), true)});
}

// Threads themselves were replaced by places.
std::optional<IntegerPolynomial> IntegerPolynomialReader::special(const sym::Atom& info) const {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (info.tag == static_cast<std::uint32_t>(ptx::along(ptx::Special::ctaid_x, axis)))
      return IntegerPolynomial(Quantity{.number = axis, .of = Quantity::Of::block_number});
    if (info.tag == static_cast<std::uint32_t>(ptx::along(ptx::Special::ntid_x, axis)))
      return IntegerPolynomial(Quantity{.number = axis, .of = Quantity::Of::block_size});
    if (info.tag == static_cast<std::uint32_t>(ptx::along(ptx::Special::nctaid_x, axis)))
      return IntegerPolynomial(Quantity{.number = axis, .of = Quantity::Of::blocks});
  }
  return std::nullopt;
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::sum(Term t, Reading& reading) const {
  const unsigned width = c_.width(t);
  const sym::Poly poly = c_.poly(t);
  IntegerPolynomial total(signed_value(poly.constant, width));
  for (const sym::Monomial& monomial : poly.terms) {
    IntegerPolynomial product(signed_value(monomial.coefficient, width));
    for (const Term factor : monomial.factors) {
      if (factor == t) return std::nullopt;
      const auto read_factor = read(factor, reading);
      if (!read_factor) return std::nullopt;
      product = product * *read_factor;
    }
    total = total + product;
  }
  if (total.too_large()) return std::nullopt;
  return with_extents(std::move(total));
}

IntegerPolynomial IntegerPolynomialReader::with_extents(IntegerPolynomial whole) const {
  if (whole.too_large()) return whole;
  for (const LaunchSize& extent : meaning_.extents) {
    IntegerPolynomial made;
    for (const auto& [product, coefficient] : whole.terms()) {
      IntegerPolynomial term;
      term.add(product, coefficient);
      const auto times = quotient(term, extent.asked);
      made = made + (times ? *times * extent.is : term);
    }
    whole = std::move(made);
  }
  return whole;
}

IntegerPolynomial IntegerPolynomialReader::thread(unsigned axis) const {
  const auto own = IntegerPolynomial::coordinate(axis);
  return row_ && axis == 0 ? IntegerPolynomial::coordinate(1) * *row_ + own : own;
}

// A part of a thread's number, which is below 2^31 (contract::fit): %ctaid, %ntid, %ctaid * %ntid
// or number - %ctaid * %ntid, which is %tid; or the number of threads. Of a loop that walks from
// place to place the number is that of the place less what was walked, of the first place nothing.
// Of places row by row the place's own number, and y.
bool IntegerPolynomialReader::is_part_of_thread(const IntegerPolynomial& value) const {
  if (meaning_.in_line) return value == thread(0);
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial block(Quantity{.number = axis, .of = Quantity::Of::block_number}),
        blocks(Quantity{.number = axis, .of = Quantity::Of::blocks}), place = thread(axis);
    IntegerPolynomial size(Quantity{.number = axis, .of = Quantity::Of::block_size}),
        number = place;
    if (const Term known = k_.trace.special(ptx::along(ptx::Special::ntid_x, axis)); known.valid())
      if (const auto threads = c_.value(known)) size = static_cast<Number>(*threads);
    if (const auto told = meaning_.sizes.find(axis); told != meaning_.sizes.end())
      size = static_cast<Number>(told->second);
    if (const auto loop = meaning_.loops.find(axis); loop != meaning_.loops.end()) {
      const IntegerPolynomial iteration(
          Quantity{.number = loop->second, .of = Quantity::Of::iteration});
      number = number - iteration * blocks * size;
      if (value == number) return true;
    }
    for (const auto& part : {block, size, blocks, block * size, with_extents(blocks * size),
                             number - block * size, place - block * size})
      if (value == part) return true;
    if (row_ && (value == place || value == IntegerPolynomial::coordinate(axis))) return true;
  }
  return false;
}

bool IntegerPolynomialReader::is_special(Term t) const {
  return c_.kind(t) == Kind::atom &&
         c_.atom_info(t).kind == static_cast<std::uint32_t>(AtomKind::special);
}

// A row has places.
bool IntegerPolynomialReader::is_no_row(Term condition) const {
  if (!row_ || c_.kind(condition) != Kind::eq) return false;
  Reading left, right;
  const auto a = read(c_.args(condition)[0], left), b = read(c_.args(condition)[1], right);
  if (!a || !b || !left.ranges.empty() || !right.ranges.empty()) return false;
  return (*a == *row_ && b->is_zero()) || (*b == *row_ && a->is_zero());
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::extended(Term t, Reading& reading) const {
  const Term narrow = c_.args(t)[0];
  const unsigned width = c_.width(narrow);
  const bool is_part = c_.kind(narrow) == Kind::extract && (c_.low(narrow) != 0 || width < 32);
  if (is_part || (c_.kind(narrow) == Kind::poly && width < 32)) return bits_of(t, reading);
  if (width == 1) { // 1, or -1 with a sign, where the condition holds
    const auto side = side_of(narrow, reading);
    if (!side) return std::nullopt;
    return !*side ? 0 : c_.kind(t) == Kind::sext ? -1 : 1;
  }
  const auto value = read(narrow, reading);
  if (!value) return std::nullopt;
  if (is_part_of_thread(*value) || is_special(narrow)) return value; // below 2^31
  const Number end = Number{1} << width;
  // An extended parameter or constant is what it is.
  if (c_.kind(t) == Kind::sext) {
    if (c_.kind(narrow) != Kind::atom || meaning_.axes.contains(narrow.id))
      reading.ranges.push_back({*value, -end / 2, end / 2 - 1});
    return value;
  }
  if (c_.kind(narrow) == Kind::atom && !meaning_.axes.contains(narrow.id))
    return IntegerPolynomial(
        Quantity{.number = *parameter_of(narrow), .as = type_of(width, false)});
  reading.ranges.push_back({*value, 0, end - 1});
  return value;
}

std::optional<IntegerPolynomial> IntegerPolynomialReader::chosen(Term t, Reading& reading) const {
  const Term condition = c_.args(t)[0];
  if (is_no_row(condition)) return read(c_.args(t)[2], reading);
  if (auto same = divided_alike(t, reading); same || reading.open.valid()) return same;
  if (auto same = alike(t, reading)) return same;
  const auto side = side_of(condition, reading);
  return side ? read(c_.args(t)[*side ? 1 : 2], reading) : std::nullopt;
}

// A number of which all bits are left, or none, as compilers write c ? n : 0: a mask is 0 or -1 by
// a condition. All is modulo 2^width.
std::optional<IntegerPolynomial> IntegerPolynomialReader::masked(Term t, Reading& reading) const {
  const std::vector<Term> parts(c_.args(t).begin(), c_.args(t).end());
  if (parts.size() != 2) return std::nullopt;
  for (const bool second : {false, true}) {
    const Term by = parts[second ? 1 : 0];
    if (!is_by_condition(by)) continue;
    const auto mask = read(by, reading);
    if (!mask) return std::nullopt;
    if (mask->is_zero()) return mask;
    if (*mask == IntegerPolynomial(-1)) return read(parts[second ? 0 : 1], reading);
  }
  return std::nullopt;
}

// A sum of numbers of one bit.
bool IntegerPolynomialReader::is_by_condition(Term t) const {
  const auto is_bit = [&](Term one) {
    const Kind kind = c_.kind(one);
    return (kind == Kind::zext || kind == Kind::sext) && c_.width(c_.args(one)[0]) == 1;
  };
  if (c_.kind(t) != Kind::poly) return is_bit(t);
  const std::vector<Term> parts(c_.args(t).begin(), c_.args(t).end());
  return std::ranges::all_of(parts, is_bit);
}

// A choice between equal numbers.
std::optional<IntegerPolynomial> IntegerPolynomialReader::alike(Term t, Reading& reading) const {
  constexpr unsigned deepest = 8;
  Reading both{.ranges = {}, .choices = reading.choices, .open = {}, .depth = reading.depth + 1};
  if (both.depth > deepest) return std::nullopt;
  auto value = read(c_.args(t)[1], both);
  const auto other = value ? read(c_.args(t)[2], both) : std::nullopt;
  if (!other || *value != *other) return std::nullopt;
  reading.ranges.insert(reading.ranges.end(), both.ranges.begin(), both.ranges.end());
  return value;
}

std::optional<bool> IntegerPolynomialReader::side_of(Term condition, Reading& reading) {
  if (reading.choices != nullptr)
    if (const auto known = reading.choices->find(condition); known != reading.choices->end())
      return known->second;
  reading.open = condition;
  return std::nullopt;
}

std::optional<IntegerPolynomialReader::Place>
IntegerPolynomialReader::place(Term address, Reading& reading) const {
  if (c_.kind(address) == Kind::ite) {
    const auto known = reading.choices == nullptr ? Choices::const_iterator{}
                                                  : reading.choices->find(c_.args(address)[0]);
    if (reading.choices == nullptr || known == reading.choices->end()) {
      reading.open = c_.args(address)[0];
      return std::nullopt;
    }
    return place(c_.args(address)[known->second ? 1 : 2], reading);
  }
  sym::Poly poly = c_.poly(address);
  for (std::size_t n = 0; n < poly.terms.size(); ++n) {
    const sym::Monomial& monomial = poly.terms[n];
    if (monomial.coefficient != 1 || monomial.factors.size() != 1) continue;
    const Term base = monomial.factors[0];
    std::optional<Place> made;
    if (c_.kind(base) == Kind::ite) {
      made = place(base, reading);
      if (reading.open.valid()) return std::nullopt;
    } else if (c_.kind(base) == Kind::atom && c_.width(base) == 64) {
      if (const auto parameter = pointer_of(base)) made = Place{*parameter, {}};
    }
    if (!made) continue;
    poly.terms.erase(poly.terms.begin() + static_cast<std::ptrdiff_t>(n));
    IntegerPolynomial offset = made->offset + IntegerPolynomial(signed_value(poly.constant, 64));
    for (const sym::Monomial& other : poly.terms) {
      IntegerPolynomial product(signed_value(other.coefficient, 64));
      for (const Term factor : other.factors) {
        const auto value = read(factor, reading);
        if (!value) return std::nullopt;
        product = product * *value;
      }
      offset = offset + product;
    }
    offset = with_extents(std::move(offset));
    if (offset.too_large() || !offset.is_linear()) return std::nullopt;
    return Place{made->parameter, std::move(offset)};
  }
  return std::nullopt;
}

std::optional<Expression> IntegerPolynomialReader::machine(Term t, bool is_signed) const {
  const unsigned width = c_.width(t);
  if (width != 32 && width != 64) return std::nullopt;
  const Token::Type type = type_of(width, is_signed);
  Expression made;
  switch (c_.kind(t)) {
  case Kind::constant:
    made =
        number(is_signed ? signed_value(*c_.value(t), width) : static_cast<Number>(*c_.value(t)));
    return made;
  case Kind::zext:
  case Kind::sext: {
    auto inner = machine(c_.args(t)[0], c_.kind(t) == Kind::sext);
    if (!inner) return std::nullopt;
    made = std::move(*inner);
    break;
  }
  case Kind::extract: {
    if (c_.low(t) != 0) return std::nullopt;
    auto inner = machine(c_.args(t)[0], true);
    if (!inner) return std::nullopt;
    made = std::move(*inner);
    break;
  }
  case Kind::atom: {
    const auto parameter = parameter_of(t);
    if (!parameter) return std::nullopt;
    return expression_of(Quantity{.number = *parameter, .as = type});
  }
  case Kind::poly: {
    const sym::Poly poly = c_.poly(t);
    made = number(signed_value(poly.constant, width));
    for (const sym::Monomial& monomial : poly.terms) {
      Expression product = number(signed_value(monomial.coefficient, width));
      for (const Term factor : monomial.factors) {
        if (factor == t) return std::nullopt;
        const auto value = machine(factor, true);
        if (!value) return std::nullopt;
        product = times(std::move(product), *value);
      }
      made = plus(std::move(made), product);
    }
    break;
  }
  default: return std::nullopt;
  }
  made.push_back({.kind = Token::Kind::wrap, .as = type});
  return made;
}

} // namespace ptxasw::passes
