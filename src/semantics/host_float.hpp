// The interpreter's fast path: what the host's own floating point computes exactly as the GPU does,
// single and double precision rounded to nearest. NaN results are left to compute(), which knows
// their bits, and so is everything that is not handled here.
#pragma once

#include "semantics/domain.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace ptxasw::sem {

template <class Real>
[[gnu::noinline]] bool host_compute_as(const Function& f, std::span<const Bits> args,
                                       Bits& result) {
  using Raw = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  const auto flushed = [&f](Real x) {
    const bool subnormal = std::fabs(x) < std::numeric_limits<Real>::min();
    return f.ftz && subnormal ? std::copysign(Real{0}, x) : x;
  };
  const auto arg = [&](std::size_t i) {
    return flushed(std::bit_cast<Real>(static_cast<Raw>(args[i])));
  };
  Real value = 0;
  switch (f.fn) {
  case Fn::feq: result = arg(0) == arg(1) ? 1 : 0; return true;
  case Fn::flt: result = arg(0) < arg(1) ? 1 : 0; return true;
  case Fn::fle: result = arg(0) <= arg(1) ? 1 : 0; return true;
  case Fn::fadd: value = arg(0) + arg(1); break;
  case Fn::fsub: value = arg(0) - arg(1); break;
  case Fn::fmul: value = arg(0) * arg(1); break;
  case Fn::ffma: value = std::fma(arg(0), arg(1), arg(2)); break;
  case Fn::fdiv: value = arg(0) / arg(1); break;
  case Fn::fsqrt: value = std::sqrt(arg(0)); break;
  default: return false;
  }
  // Not here: the bits of a NaN, and whether .ftz flushes what was rounded up to a normal number.
  if (std::isnan(value) || (f.ftz && std::fabs(value) == std::numeric_limits<Real>::min()))
    return false;
  result = std::bit_cast<Raw>(flushed(value));
  return true;
}

template <class Real> Bits bits_of_integer(const Function& f, std::uint64_t v) {
  using Raw = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  if (f.fn == Fn::unsigned_to_float) return std::bit_cast<Raw>(static_cast<Real>(v));
  const unsigned up = 64 - ptx::bit_width(f.from);
  const auto extended = static_cast<std::int64_t>(v << up) >> up;
  return std::bit_cast<Raw>(static_cast<Real>(extended));
}

// Computes what it can; false: ask compute().
inline bool host_compute(const Function& f, std::span<const Bits> args, Bits& result) {
  if (f.rounding > ptx::Rounding::rn || f.sat || f.relu) return false;
  if (f.fn == Fn::signed_to_float || f.fn == Fn::unsigned_to_float) {
    const bool single = f.to == ptx::Type::f32;
    if (!single && f.to != ptx::Type::f64) return false;
    const auto v = static_cast<std::uint64_t>(args[0]);
    result = single ? bits_of_integer<float>(f, v) : bits_of_integer<double>(f, v);
    return true;
  }
  if (f.from == ptx::Type::f32) return host_compute_as<float>(f, args, result);
  return f.from == ptx::Type::f64 && host_compute_as<double>(f, args, result);
}

} // namespace ptxasw::sem
