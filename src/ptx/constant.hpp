// Values of constant expressions: 64-bit integers, doubles, and addresses symbol + offset.
#pragma once

#include "ptx/module.hpp"

#include <cstdint>
#include <string_view>

namespace ptxasw::ptx {

struct Constant {
  enum class Kind : std::uint8_t {
    integer,
    float32, // a lone 0f literal; in a sum it becomes a float64
    float64,
    address, // symbol + bits
    other,   // a valid expression that is none of these: a[3], generic(a), 0xFF(a), 1/0
  };
  Kind kind = Kind::other;
  bool is_unsigned = false;
  std::uint64_t bits = 0;
  std::string_view symbol;
};

// Literals as the grammar matched them. Digits beyond 64 bits are lost, as ptxas loses them.
Constant integer_constant(std::string_view literal);
Constant real_constant(std::string_view literal);

// `op` is the operator's text, or starts with it: "-", "<<= ..." reads as "<<".
Constant unary_constant(char op, const Constant& value);
Constant binary_constant(std::string_view op, const Constant& left, const Constant& right);
Constant choose_constant(const Constant& condition, const Constant& yes, const Constant& no);

} // namespace ptxasw::ptx
