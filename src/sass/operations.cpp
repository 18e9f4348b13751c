// Each operation becomes a line of text: its kind, its signs, and of each operand the lines that it
// was made by. Such lines are what sets are compared by.
#include "sass/operations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace ptxasw::sass {
namespace {

constexpr std::array operation_names{"other", "add",      "mul",  "fma",    "function",
                                     "move",  "constant", "call", "unknown"};
constexpr std::array format_names{"", "f32", "f64", "half", "f32x2"};

std::string kind(const Instruction& i) {
  return fmt::format("{} {} {:x}", operation_names.at(static_cast<unsigned>(i.operation)),
                     format_names.at(static_cast<unsigned>(i.format)), i.modifiers);
}

// Of products in single precision: by 1/8, 1/4, 1/2, 1, 2, 4, 8.
bool is_scaled(const Instruction& i) {
  constexpr unsigned by_one = 4;
  const unsigned scale = i.modifiers >> 4 & 7;
  return i.operation == Operation::mul && i.format == Format::f32 && scale != 0 && scale != by_one;
}

class Printer {
public:
  // `leaves` false: what is not made by arithmetic is not told apart.
  Printer(const Code& code, const LineMap& line, bool leaves)
      : code_(code), line_(line), leaves_(leaves) {}

  std::string print(InstructionId n) const {
    const Instruction& i = code_.lines()[n].instruction;
    const std::string where = fmt::format("{}: {}", line_(code_.lines()[n].line), kind(i));
    if (i.operation == Operation::function) return fmt::format("{} {}", where, operand(n, i.b));
    const bool product = i.operation != Operation::add;
    Operand a = i.a, b = i.b;
    const bool minus = product && (take_sign(i, a) != take_sign(i, b));
    std::array<std::string, 2> terms{operand(n, a), operand(n, b)};
    // A sign that all origins of a factor share is the product's, wherever it is written.
    bool flipped = minus;
    if (product)
      for (std::string& term : terms)
        flipped ^= hoist_sign(term);
    std::ranges::sort(terms);
    return fmt::format("{} {}{} {} {}", where, flipped ? "-" : "", terms[0], terms[1],
                       i.operation == Operation::fma ? operand(n, i.c) : "");
  }

private:
  // The sign of a factor, or of an immediate, which is then without.
  static bool take_sign(const Instruction& i, Operand& factor) {
    constexpr std::uint64_t sign = 0x80000000;
    const bool was = factor.negated;
    factor.negated = false;
    if (factor.in != Operand::In::immediate || i.format == Format::half) return was;
    const bool literal = (factor.value & sign) != 0;
    factor.value &= ~sign;
    return was != literal;
  }

  static bool hoist_sign(std::string& term) {
    if (!term.starts_with("{-") || std::ranges::count(term, '-') != 1 ||
        term.find(',') != std::string::npos) {
      return false;
    }
    term.erase(1, 1);
    return true;
  }

  [[nodiscard]] std::string operand(InstructionId n, const Operand& of) const {
    std::set<std::string> names;
    for (const Origin& origin : code_.origins(n, of))
      names.insert(name(origin));
    return fmt::format("{{{}}}", fmt::join(names, ","));
  }

  [[nodiscard]] std::string name(const Origin& origin) const {
    const std::string sign =
        fmt::format("{}{}", origin.negated ? "-" : "", origin.absolute ? "abs " : "");
    const bool made = origin.from == Origin::From::instruction &&
                      is_arithmetic(code_.lines()[origin.value].instruction);
    if (!leaves_ && !made) return "value";
    switch (origin.from) {
    case Origin::From::zero: return sign + "0";
    case Origin::From::immediate: return fmt::format("{}#{:x}", sign, origin.value);
    case Origin::From::constant: return fmt::format("{}c{:x}", sign, origin.value);
    case Origin::From::outside: return sign + "?";
    default: break;
    }
    const Line& by = code_.lines()[origin.value];
    return fmt::format("{}{} of {}", sign,
                       operation_names.at(static_cast<unsigned>(by.instruction.operation)),
                       line_(by.line));
  }

  const Code& code_;
  const LineMap& line_;
  bool leaves_;
};

} // namespace

std::set<std::string> operations(const Code& code, const LineMap& line) {
  std::set<std::string> result;
  const Printer printer(code, line, true);
  for (InstructionId n = 0; n < code.lines().size(); ++n)
    if (is_arithmetic(code.lines()[n].instruction)) result.insert(printer.print(n));
  return result;
}

OperationsByLine operations_by_line(const Code& code, const LineMap& line) {
  OperationsByLine result;
  const Printer printer(code, line, false);
  for (InstructionId n = 0; n < code.lines().size(); ++n) {
    const auto& [instruction, at] = code.lines()[n];
    if (!is_arithmetic(instruction)) continue;
    result[at].push_back({instruction.operation, instruction.format, kind(instruction),
                          printer.print(n), is_scaled(instruction)});
  }
  return result;
}

} // namespace ptxasw::sass
