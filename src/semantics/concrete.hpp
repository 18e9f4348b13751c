// The concrete domain: a value is its bits, zero-extended to 128.
//
// Everything is inline and branches only on widths. A Step calls it with widths that are constants
// of the program (word.hpp), so that the compiler narrows each operation to one machine instruction
// of that width; a 32-bit add never touches the upper words.
#pragma once

#include "semantics/domain.hpp"
#include "semantics/host_float.hpp"

namespace ptxasw::sem {

struct ConcreteDomain {
  using Value = Bits;
  __extension__ using Signed = __int128;

  static constexpr Value mask(unsigned w) { return w >= 128 ? ~Value{0} : (Value{1} << w) - 1; }
  // Copies bit w-1 into all bits above.
  static constexpr Signed to_signed(unsigned w, Value v) {
    if (w <= 64) {
      const auto up = static_cast<std::uint64_t>(v) << (64 - w);
      return static_cast<std::int64_t>(up) >> (64 - w);
    }
    return static_cast<Signed>(v << (128 - w)) >> (128 - w);
  }

  static constexpr Value constant(unsigned w, Bits v) { return v & mask(w); }
  static constexpr Value add(unsigned w, Value a, Value b) { return (a + b) & mask(w); }
  static constexpr Value sub(unsigned w, Value a, Value b) { return (a - b) & mask(w); }
  static constexpr Value mul(unsigned w, Value a, Value b) { return (a * b) & mask(w); }
  static constexpr Value neg(unsigned w, Value a) { return (0 - a) & mask(w); }
  static constexpr Value not_(unsigned w, Value a) { return ~a & mask(w); }
  static constexpr Value and_(unsigned, Value a, Value b) { return a & b; }
  static constexpr Value or_(unsigned, Value a, Value b) { return a | b; }
  static constexpr Value xor_(unsigned, Value a, Value b) { return a ^ b; }

  static constexpr Value shl(unsigned w, Value a, Value n) {
    if (n >= w) return 0;
    if (w <= 64) return (low(a) << low(n)) & mask(w);
    return (a << low(n)) & mask(w);
  }
  static constexpr Value lshr(unsigned w, Value a, Value n) {
    if (n >= w) return 0;
    if (w <= 64) return (low(a) & low(mask(w))) >> low(n);
    return a >> low(n);
  }
  static constexpr Value ashr(unsigned w, Value a, Value n) {
    const std::uint64_t amount = n >= w ? w - 1 : low(n);
    if (w <= 64)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(to_signed(w, a)) >> amount) &
             mask(w);
    return static_cast<Value>(to_signed(w, a) >> amount) & mask(w);
  }

  // Division by zero as SMT-LIB has it.
  static constexpr Value udiv(unsigned w, Value a, Value b) {
    if (b == 0) return mask(w);
    if (w <= 32) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
    return w <= 64 ? low(a) / low(b) : a / b;
  }
  static constexpr Value urem(unsigned w, Value a, Value b) {
    if (b == 0) return a;
    if (w <= 32) return static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b);
    return w <= 64 ? low(a) % low(b) : a % b;
  }
  static constexpr Value sdiv(unsigned w, Value a, Value b) {
    const bool negative = sign(w, a) != sign(w, b);
    const Value quotient = udiv(w, magnitude(w, a), magnitude(w, b));
    return negative ? neg(w, quotient) : quotient;
  }
  static constexpr Value srem(unsigned w, Value a, Value b) {
    const Value remainder = urem(w, magnitude(w, a), magnitude(w, b));
    return sign(w, a) ? neg(w, remainder) : remainder;
  }

  static constexpr Value eq(unsigned, Value a, Value b) { return a == b ? 1 : 0; }
  static constexpr Value ult(unsigned w, Value a, Value b) {
    return w <= 64 ? low(a) < low(b) : a < b;
  }
  static constexpr Value slt(unsigned w, Value a, Value b) {
    return to_signed(w, a) < to_signed(w, b) ? 1 : 0;
  }
  static constexpr Value ite(unsigned, Value c, Value a, Value b) { return low(c) != 0 ? a : b; }
  static constexpr Value extract(unsigned, Value v, unsigned low_bit, unsigned w) {
    return (v >> low_bit) & mask(w);
  }
  static constexpr Value concat(unsigned, Value high, unsigned low_width, Value low_part) {
    return (high << low_width) | low_part;
  }
  static constexpr Value zext(unsigned from, Value v, unsigned) { return v & mask(from); }
  static constexpr Value sext(unsigned from, Value v, unsigned to) {
    return static_cast<Value>(to_signed(from, v)) & mask(to);
  }
  static Value apply(const Function& f, unsigned w, std::span<const Value> args) {
    Value result = 0;
    return host_compute(f, args, result) ? result : compute(f, w, args);
  }

private:
  static constexpr std::uint64_t low(Value v) { return static_cast<std::uint64_t>(v); }
  static constexpr bool sign(unsigned w, Value v) { return ((v >> (w - 1)) & 1) != 0; }
  static constexpr Value magnitude(unsigned w, Value v) { return sign(w, v) ? neg(w, v) : v; }
};

static_assert(Domain<ConcreteDomain>);

} // namespace ptxasw::sem
