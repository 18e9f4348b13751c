// Writes expressions of a contract, as short as constants allow.
#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace ptxasw::passes {

using contract::Expression;
using contract::Token;

Token::Type type_of(unsigned width, bool is_signed) {
  if (width == 32) return is_signed ? Token::Type::s32 : Token::Type::u32;
  return is_signed ? Token::Type::s64 : Token::Type::u64;
}

Expression expression_of(const Quantity& quantity) {
  if (quantity.of == Quantity::Of::threads) return threads(quantity.number);
  return {{.kind = Token::Kind::parameter, .as = quantity.as, .value = quantity.number}};
}

Expression number(Number value) {
  constexpr Number half = Number{1} << 62;
  if (value >= std::numeric_limits<std::int64_t>::min() &&
      value <= std::numeric_limits<std::int64_t>::max())
    return {{.value = static_cast<std::int64_t>(value)}};
  Expression sum = number(value > 0 ? half : -half);
  return plus(std::move(sum), number(value > 0 ? value - half : value + half));
}

Expression threads(unsigned axis) {
  return {{.kind = Token::Kind::threads, .value = axis}};
}

namespace {

std::optional<std::int64_t> constant(const Expression& of) {
  if (of.size() != 1 || of[0].kind != Token::Kind::constant) return std::nullopt;
  return of[0].value;
}

// The sum of a and n, where what a adds last is a number, too.
std::optional<Expression> with_added(Expression a, std::int64_t n) {
  const auto is = [&](std::size_t behind, Token::Kind kind) {
    return a.size() >= behind && a[a.size() - behind].kind == kind;
  };
  if (is(1, Token::Kind::add) && is(2, Token::Kind::constant)) {
    if (__builtin_add_overflow(n, a[a.size() - 2].value, &n)) return std::nullopt;
    a.resize(a.size() - 2);
  }
  if (n == 0) return a;
  a.insert(a.end(), {{.value = n}, {.kind = Token::Kind::add}});
  return a;
}

// Contracts have many, of which some are long.
std::optional<Expression> simplified(Token::Kind kind, const Expression& a, const Expression& b) {
  const auto x = constant(a), y = constant(b);
  std::int64_t n = 0;
  switch (kind) {
  case Token::Kind::add:
    if (x && y && !__builtin_add_overflow(*x, *y, &n)) return number(n);
    if (x && y) return std::nullopt;
    return x ? with_added(b, *x) : y ? with_added(a, *y) : std::nullopt;
  case Token::Kind::subtract:
    if (!y || __builtin_sub_overflow(x.value_or(0), *y, &n)) return std::nullopt;
    return x ? number(n) : with_added(a, n);
  case Token::Kind::multiply:
    if (x && y && !__builtin_mul_overflow(*x, *y, &n)) return number(n);
    if (y == 1) return a;
    return x == 1 ? std::optional(b) : std::nullopt;
  case Token::Kind::least:
  case Token::Kind::most: return a == b ? std::optional(a) : std::nullopt;
  default: return std::nullopt;
  }
}

} // namespace

Expression combine(Token::Kind kind, Expression a, const Expression& b) {
  if (auto made = simplified(kind, a, b)) return std::move(*made);
  a.insert(a.end(), b.begin(), b.end());
  a.push_back({.kind = kind});
  return a;
}

Expression expression_of(const IntegerPolynomial& whole) {
  Expression total;
  for (const auto& [product, coefficient] : whole.terms()) {
    Expression made;
    for (const Quantity& factor : product)
      made = made.empty() ? expression_of(factor) : times(std::move(made), expression_of(factor));
    if (made.empty())
      made = number(coefficient);
    else if (coefficient != 1)
      made = times(std::move(made), number(coefficient));
    total = total.empty() ? std::move(made) : plus(std::move(total), made);
  }
  return total.empty() ? number(0) : total;
}

namespace {

Expression extreme(const Box& box, const IntegerPolynomial& whole, bool most) {
  Expression total = expression_of(whole.elsewhere());
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial stride = whole.along(axis);
    if (stride.is_zero()) continue;
    const Expression last = minus(box[axis].end, number(1));
    if (const auto constant = stride.constant()) {
      const bool up = (*constant > 0) == most;
      total = plus(std::move(total), times(up ? last : box[axis].first, number(*constant)));
      continue;
    }
    const Expression by = expression_of(stride);
    total = plus(std::move(total), combine(most ? Token::Kind::most : Token::Kind::least,
                                           times(box[axis].first, by), times(last, by)));
  }
  return total;
}

} // namespace

Expression least_in(const Box& box, const IntegerPolynomial& whole) {
  return extreme(box, whole, false);
}

Expression most_in(const Box& box, const IntegerPolynomial& whole) {
  return extreme(box, whole, true);
}

bool always_holds(const Expression& value) {
  return value.size() == 1 && value[0].kind == Token::Kind::constant && value[0].value >= 0;
}

void add_equal(std::vector<contract::Condition>& conditions, const Expression& a,
               const Expression& b, std::string_view otherwise) {
  for (const Expression& difference : {minus(a, b), minus(b, a)})
    conditions.push_back({difference, std::string(otherwise)});
}

void add_once(std::vector<contract::Condition>& conditions, contract::Condition condition) {
  if (std::ranges::find(conditions, condition) == conditions.end())
    conditions.push_back(std::move(condition));
}

Box whole_launch() {
  Box box;
  for (unsigned axis = 0; axis < 3; ++axis)
    box.at(axis) = {number(0), threads(axis)};
  return box;
}

bool add_in_range(std::vector<contract::Condition>& conditions, const Box& box,
                  const IntegerPolynomial& whole, std::pair<Number, Number> least_and_most,
                  std::string_view otherwise) {
  if (!whole.is_linear()) return false;
  for (Expression value : {minus(least_in(box, whole), number(least_and_most.first)),
                           minus(number(least_and_most.second), most_in(box, whole))})
    if (!always_holds(value)) add_once(conditions, {std::move(value), std::string(otherwise)});
  return true;
}

} // namespace ptxasw::passes
