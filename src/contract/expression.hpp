// Whole numbers that hang on a launch: sums, products, minima and maxima over the sizes of the
// launch and the kernel's own parameters. Exact: nothing wraps unless the expression says so, and
// what gets too large for that has no value.
//
// Written as one word, operators behind their operands: "p2s32,-1,+,tx,min" is
// min(parameter 2 + (-1), threads along x); "p2.8s32" is what lies at byte 8 of parameter 2.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::contract {

__extension__ using Number = __int128;

// A parameter or, of one that is a structure, the part of it from a byte on.
constexpr unsigned part(unsigned number, unsigned byte) {
  return number | byte << 16;
}
constexpr unsigned number_of(unsigned part) {
  return part & 0xffff;
}
constexpr unsigned byte_of(unsigned part) {
  return part >> 16;
}

struct Token {
  enum class Kind : std::uint8_t {
    constant,  // `value`
    parameter, // part `value`, read as `as`
    threads,   // of the whole launch along axis `value`: size of grid times size of block
    block,     // size of a block along axis `value`
    shared,    // dynamic shared memory of a block, in bytes
    add,
    subtract,
    multiply,
    least,
    most,
    wrap, // to `as`: what a register of that type holds
  } kind = Kind::constant;
  enum class Type : std::uint8_t { s32, u32, s64, u64 } as = Type::s64;
  std::int64_t value = 0;
  friend bool operator==(const Token&, const Token&) = default;
};

using Expression = std::vector<Token>; // postfix

// What expressions are about.
struct Quantities {
  // The low bits of a part of a parameter, extended to 64 by zeros; none: not known.
  std::function<std::optional<std::uint64_t>(unsigned part)> parameter;
  std::array<std::uint64_t, 3> threads{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared = 0;
};

// None: a parameter is not known, or a step gives more than 2^96.
[[nodiscard]] std::optional<Number> evaluate(const Expression& expression,
                                             const Quantities& quantities);

[[nodiscard]] std::string to_word(const Expression& expression);
// "2", "2.8": part(2, 8).
[[nodiscard]] std::string to_word(unsigned part);
[[nodiscard]] std::optional<unsigned> to_part(std::string_view word);
// None: no such expression, one that leaves another number of values than one, or a long one.
[[nodiscard]] std::optional<Expression> to_expression(std::string_view word);

} // namespace ptxasw::contract
