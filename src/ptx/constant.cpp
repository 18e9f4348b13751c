// Arithmetic on constant expressions by the rules of PTX ISA 9.0, section 4.5: integers have 64
// bits, signed unless an operand is unsigned, but remainders and complements are unsigned always;
// floating-point values are doubles.
#include "ptx/constant.hpp"

#include <bit>
#include <charconv>
#include <limits>
#include <optional>

namespace ptxasw::ptx {

namespace {

using Kind = Constant::Kind;

Constant integer(std::uint64_t bits, bool is_unsigned) {
  return {Kind::integer, is_unsigned, bits, {}};
}
Constant real(double value) {
  return {Kind::float64, false, std::bit_cast<std::uint64_t>(value), {}};
}

bool is_real(const Constant& c) {
  return c.kind == Kind::float32 || c.kind == Kind::float64;
}
double as_double(const Constant& c) {
  if (c.kind == Kind::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
  return std::bit_cast<double>(c.bits);
}
std::int64_t as_signed(std::uint64_t bits) {
  return std::bit_cast<std::int64_t>(bits);
}

std::uint64_t parse_digits(std::string_view digits, unsigned base) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    value = value * base + digit;
  }
  return value;
}

std::optional<std::uint64_t> divide(char op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  if (b == 0) return std::nullopt;
  if (op == '%') return a % b;
  if (is_unsigned) return a / b;
  const bool overflow = as_signed(a) == std::numeric_limits<std::int64_t>::min() && b == ~0ULL;
  return overflow ? a : static_cast<std::uint64_t>(as_signed(a) / as_signed(b));
}

std::uint64_t shift_right(std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  return is_unsigned ? a >> b : static_cast<std::uint64_t>(as_signed(a) >> b);
}

template <typename Number> bool compare(std::string_view op, Number a, Number b) {
  if (op.starts_with("<=")) return a <= b;
  if (op.starts_with(">=")) return a >= b;
  return op[0] == '<' ? a < b : a > b;
}

std::optional<std::uint64_t> integer_operation(std::string_view op, std::uint64_t a,
                                               std::uint64_t b, bool is_unsigned) {
  switch (op[0]) {
  case '*': return a * b;
  case '/':
  case '%': return divide(op[0], a, b, is_unsigned);
  case '+': return a + b;
  case '-': return a - b;
  case '^': return a ^ b;
  case '&': return op.starts_with("&&") ? std::uint64_t{a != 0 && b != 0} : a & b;
  case '|': return op.starts_with("||") ? std::uint64_t{a != 0 || b != 0} : a | b;
  case '=': return std::uint64_t{a == b};
  case '!': return std::uint64_t{a != b};
  default: break;
  }
  if (op.starts_with("<<") || op.starts_with(">>")) {
    if (b >= 64) return std::nullopt;
    return op[0] == '<' ? a << b : shift_right(a, b, is_unsigned);
  }
  return std::uint64_t{is_unsigned ? compare(op, a, b) : compare(op, as_signed(a), as_signed(b))};
}

// Comparisons and logic give signed truth values; everything else keeps the operands' sign.
bool gives_truth(std::string_view op) {
  return op.starts_with("==") || op.starts_with("!=") || op.starts_with("&&") ||
         op.starts_with("||") ||
         ((op[0] == '<' || op[0] == '>') && !op.substr(1).starts_with(op[0]));
}

std::optional<Constant> real_operation(std::string_view op, double a, double b) {
  if (op.starts_with("&&") || op.starts_with("||")) return std::nullopt;
  switch (op[0]) {
  case '*': return real(a * b);
  case '/': return real(a / b);
  case '+': return real(a + b);
  case '-': return real(a - b);
  default: return std::nullopt;
  }
}

} // namespace

Constant integer_constant(std::string_view literal) {
  bool is_unsigned = literal.ends_with('U');
  if (is_unsigned) literal.remove_suffix(1);
  std::uint64_t bits = 0;
  const char mark = literal.size() > 2 ? static_cast<char>(literal[1] | 0x20) : '\0';
  if (literal[0] == '0' && mark == 'x')
    bits = parse_digits(literal.substr(2), 16);
  else if (literal[0] == '0' && mark == 'b')
    bits = parse_digits(literal.substr(2), 2);
  else
    bits = parse_digits(literal, literal[0] == '0' ? 8 : 10);
  is_unsigned |= as_signed(bits) < 0;
  return integer(bits, is_unsigned);
}

Constant real_constant(std::string_view literal) {
  const char mark = literal.size() > 2 ? static_cast<char>(literal[1] | 0x20) : '\0';
  if (literal[0] == '0' && mark == 'f')
    return {Kind::float32, false, parse_digits(literal.substr(2), 16), {}};
  if (literal[0] == '0' && mark == 'd')
    return {Kind::float64, false, parse_digits(literal.substr(2), 16), {}};
  double value = 0;
  const auto result = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (result.ec != std::errc{}) return {}; // too large or too small for a double
  return real(value);
}

Constant unary_constant(char op, const Constant& value) {
  if (op == '+') return value;
  if (is_real(value)) return op == '-' ? real(-as_double(value)) : Constant{};
  if (value.kind != Kind::integer) return {};
  switch (op) {
  case '-': return integer(0 - value.bits, value.is_unsigned);
  case '~': return integer(~value.bits, true);
  default: return integer(value.bits == 0 ? 1 : 0, false);
  }
}

Constant binary_constant(std::string_view op, const Constant& left, const Constant& right) {
  if (left.kind == Kind::integer && right.kind == Kind::integer) {
    const bool shifts = op.starts_with("<<") || op.starts_with(">>");
    const bool is_unsigned = left.is_unsigned || op[0] == '%' || (!shifts && right.is_unsigned);
    const auto bits = integer_operation(op, left.bits, right.bits, is_unsigned);
    return bits ? integer(*bits, is_unsigned && !gives_truth(op)) : Constant{};
  }
  if (is_real(left) && is_real(right))
    return real_operation(op, as_double(left), as_double(right)).value_or(Constant{});
  const bool adds = op[0] == '+' || op[0] == '-';
  if (adds && left.kind == Kind::address && right.kind == Kind::integer) {
    Constant sum = left;
    sum.bits = op[0] == '+' ? left.bits + right.bits : left.bits - right.bits;
    return sum;
  }
  if (op[0] == '+' && left.kind == Kind::integer && right.kind == Kind::address)
    return binary_constant(op, right, left);
  return {};
}

Constant choose_constant(const Constant& condition, const Constant& yes, const Constant& no) {
  if (condition.kind != Kind::integer) return {};
  return condition.bits != 0 ? yes : no;
}

} // namespace ptxasw::ptx
