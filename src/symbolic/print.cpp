// Terms as a person writes them: signed coefficients, infix operators with few parentheses. The
// unsigned / % < >> stand bare, the signed ones carry an s: /s %s <s >>s.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <fmt/format.h>

namespace ptxasw::sym {

namespace {

// Binding strength, weakest first.
enum Level : int {
  conditional = 1,
  logical_or,
  logical_and,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  product,
  unary,
};

constexpr std::size_t longest_text = std::size_t{1} << 15;
constexpr int deepest = 100;

std::string hexadecimal(Bits value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return high != 0 ? fmt::format("0x{:x}{:016x}", high, low) : fmt::format("0x{:x}", low);
}

bool is_negative(Bits value, unsigned width) {
  return sign_bit(value, width) && value != (Bits{1} << (width - 1));
}

// Small numbers in decimal, what looks like a bit pattern in hexadecimal.
std::string number(Bits value) {
  return value < 1'000'000'000 ? decimal(value) : hexadecimal(value);
}

std::string constant_text(Bits value, unsigned width) {
  if (width == 1) return value != 0 ? "true" : "false";
  const Bits magnitude = (0 - value) & low_mask(width);
  if (is_negative(value, width) && magnitude < 1'000'000)
    return fmt::format("-{}", decimal(magnitude));
  return number(value);
}

} // namespace

class Printer {
public:
  explicit Printer(const Context& context) : c_(context) {}
  std::string text(Term t) {
    print(t, conditional);
    return std::move(out_);
  }

private:
  void print(Term t, int level);
  void print_node(const Node& n, int level);
  void print_poly(const Node& n, int level);
  void print_monomial(Bits magnitude, std::span<const Term> factors, bool alone);
  void print_condition(const Node& n, int level);
  void print_not(Term inner, int level);
  void print_negation(Term t, int level);
  bool print_bit_field(const Node& n, int level);
  void print_call(std::string_view name, std::span<const Term> args);
  void infix(std::span<const Term> args, std::string_view op, int own, int level);
  void binary(Term a, std::string_view op, Term b, int own, int level);
  void open(int own, int level) {
    if (own < level) out_ += '(';
  }
  void close(int own, int level) {
    if (own < level) out_ += ')';
  }

  const Context& c_;
  std::string out_;
  int depth_ = 0;
};

void Printer::print(Term t, int level) {
  if (out_.size() > longest_text || depth_ > deepest) {
    out_ += "...";
    return;
  }
  ++depth_;
  print_node(c_.node(t), level);
  --depth_;
}

void Printer::print_call(std::string_view name, std::span<const Term> args) {
  out_ += name;
  out_ += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i != 0) out_ += ", ";
    print(args[i], conditional);
  }
  out_ += ')';
}

void Printer::infix(std::span<const Term> args, std::string_view op, int own, int level) {
  open(own, level);
  // A constant comes first in the node and last on paper.
  const std::size_t first = c_.numeral(args[0]) != nullptr ? 1 : 0;
  for (std::size_t i = first; i < args.size(); ++i) {
    if (i != first) out_ += op;
    print(args[i], own + 1);
  }
  if (first != 0) {
    out_ += op;
    out_ += number(*c_.numeral(args[0]));
  }
  close(own, level);
}

void Printer::binary(Term a, std::string_view op, Term b, int own, int level) {
  open(own, level);
  print(a, own + 1);
  out_ += op;
  print(b, own + 1);
  close(own, level);
}

void Printer::print_monomial(Bits magnitude, std::span<const Term> factors, bool alone) {
  const bool with_coefficient = magnitude != 1;
  if (with_coefficient) out_ += number(magnitude) + "*";
  const bool bare = !with_coefficient && factors.size() == 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i != 0) out_ += '*';
    print(factors[i], bare ? (alone ? sum : sum + 1) : product + 1);
  }
}

// Positive monomials first, then the negative ones, the constant last.
void Printer::print_poly(const Node& n, int level) {
  const PolyView p = c_.view(n.self);
  const bool single = p.size() == 1 && p.constant == 0;
  const int own = single && !is_negative(p.coefficients[0], n.width) ? product : sum;
  open(own, level);
  bool first = true;
  for (const bool negative : {false, true})
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Bits coefficient = p.coefficients[i];
      if (is_negative(coefficient, n.width) != negative) continue;
      if (first) {
        out_ += negative ? "-" : "";
      } else {
        out_ += negative ? " - " : " + ";
      }
      const Bits magnitude = negative ? (0 - coefficient) & low_mask(n.width) : coefficient;
      print_monomial(magnitude, p.factors(i), false);
      first = false;
    }
  if (p.constant != 0) {
    const bool negative = is_negative(p.constant, n.width);
    out_ += negative ? " - " : " + ";
    out_ += number(negative ? (0 - p.constant) & low_mask(n.width) : p.constant);
  }
  close(own, level);
}

// zext(x[high:low]) of x's own width: x & 31, x >> 5, (x >> 5) & 7. False: something else.
bool Printer::print_bit_field(const Node& n, int level) {
  const Node& field = c_.node(n.args()[0]);
  if (field.kind != Kind::extract) return false;
  const Node& whole = c_.node(field.args()[0]);
  if (whole.width != n.width) return false;
  const bool to_the_top = field.aux + field.width == whole.width;
  if (n.kind == Kind::sext && !to_the_top) return false;
  const std::string_view arrow = n.kind == Kind::sext ? " >>s " : " >> ";
  if (to_the_top) {
    open(shift, level);
    print(whole.self, shift + 1);
    out_ += fmt::format("{}{}", arrow, field.aux);
    close(shift, level);
    return true;
  }
  open(bit_and, level);
  print(whole.self, field.aux == 0 ? bit_and + 1 : shift + 1);
  if (field.aux != 0) {
    out_ += fmt::format("{}{}", arrow, field.aux);
  }
  out_ += " & " + number(low_mask(field.width));
  close(bit_and, level);
  return true;
}

void Printer::print_not(Term inner, int level) {
  const Node& n = c_.node(inner);
  switch (n.kind) {
  case Kind::eq: return binary(n.args()[0], " != ", n.args()[1], comparison, level);
  case Kind::ult: return binary(n.args()[0], " >= ", n.args()[1], comparison, level);
  case Kind::slt: return binary(n.args()[0], " >=s ", n.args()[1], comparison, level);
  case Kind::and_: { // De Morgan, as it was probably written
    open(logical_or, level);
    for (std::size_t i = 0; i < n.count; ++i) {
      if (i != 0) out_ += " || ";
      print_negation(n.args()[i], logical_or + 1);
    }
    close(logical_or, level);
    return;
  }
  default: out_ += '!'; return print(inner, unary);
  }
}

// The negation of a condition, without building it: printing leaves the context as it is.
void Printer::print_negation(Term t, int level) {
  const Node& n = c_.node(t);
  const bool negation = n.kind == Kind::xor_ && c_.is_value(n.args()[0], 1);
  if (!negation) return print_not(t, level);
  if (n.count == 2) return print(n.args()[1], level);
  infix(n.args().subspan(1), " ^ ", bit_xor, level);
}

void Printer::print_condition(const Node& n, int level) {
  const auto args = n.args();
  switch (n.kind) {
  case Kind::eq: return binary(args[0], " == ", args[1], comparison, level);
  case Kind::ult: return binary(args[0], " < ", args[1], comparison, level);
  case Kind::slt: return binary(args[0], " <s ", args[1], comparison, level);
  case Kind::and_: return infix(args, " && ", logical_and, level);
  case Kind::xor_:
    if (!c_.is_value(args[0], 1)) return infix(args, " ^ ", bit_xor, level);
    if (n.count == 2) return print_not(args[1], level);
    out_ += '!';
    return infix(args.subspan(1), " ^ ", bit_xor, unary);
  default: return;
  }
}

void Printer::print_node(const Node& n, int level) {
  const auto args = n.args();
  const bool is_condition = n.width == 1 && (n.kind == Kind::and_ || n.kind == Kind::xor_);
  if (is_condition || n.kind == Kind::eq || n.kind == Kind::ult || n.kind == Kind::slt)
    return print_condition(n, level);
  switch (n.kind) {
  case Kind::constant: out_ += constant_text(n.numbers[0], n.width); return;
  case Kind::atom: out_ += c_.atoms_[n.aux].name; return;
  case Kind::poly: return print_poly(n, level);
  case Kind::and_: return infix(args, " & ", bit_and, level);
  case Kind::or_: return infix(args, " | ", bit_or, level);
  case Kind::xor_: return infix(args, " ^ ", bit_xor, level);
  case Kind::shl: return binary(args[0], " << ", args[1], shift, level);
  case Kind::lshr: return binary(args[0], " >> ", args[1], shift, level);
  case Kind::ashr: return binary(args[0], " >>s ", args[1], shift, level);
  case Kind::udiv: return binary(args[0], " / ", args[1], product, level);
  case Kind::urem: return binary(args[0], " % ", args[1], product, level);
  case Kind::sdiv: return binary(args[0], " /s ", args[1], product, level);
  case Kind::srem: return binary(args[0], " %s ", args[1], product, level);
  case Kind::extract:
    if (n.width == c_.width(args[0])) return print(args[0], unary); // an opaque factor
    print(args[0], unary);
    out_ += n.width == 1 ? fmt::format("[{}]", n.aux)
                         : fmt::format("[{}:{}]", n.aux + n.width - 1U, n.aux);
    return;
  case Kind::concat: return print_call("concat", args);
  case Kind::zext:
  case Kind::sext: {
    if (print_bit_field(n, level)) return;
    const std::string_view name = n.kind == Kind::zext ? "zext" : "sext";
    return print_call(n.width == 64 ? std::string(name) : fmt::format("{}{}", name, n.width), args);
  }
  case Kind::ite:
    open(conditional, level);
    print(args[0], conditional + 1);
    out_ += " ? ";
    print(args[1], conditional + 1);
    out_ += " : ";
    print(args[2], conditional);
    close(conditional, level);
    return;
  case Kind::apply: return print_call(c_.symbols_[n.aux].name, args);
  default: return;
  }
}

std::string Context::to_string(Term t) const {
  return Printer(*this).text(t);
}

} // namespace ptxasw::sym
