// Floating-point functions, bit for bit as the hardware gives them: exact arithmetic and one
// rounding (softfloat), and around it what PTX adds: flushing, saturation, NaNs.
#include "semantics/float_functions.hpp"

#include "semantics/softfloat.hpp"

#include <array>

namespace ptxasw::sem {

namespace {

using ptx::Rounding;
using soft::Format;
using soft::Number;

std::uint64_t magnitude(const Format& f, std::uint64_t bits) {
  return bits & (f.sign_bit() - 1);
}
bool is_negative(const Format& f, std::uint64_t bits) {
  return (bits & f.sign_bit()) != 0;
}
bool is_nan(const Format& f, std::uint64_t bits) {
  return magnitude(f, bits) > f.infinity();
}
bool is_subnormal(const Format& f, std::uint64_t bits) {
  const std::uint64_t m = magnitude(f, bits);
  return m != 0 && m < std::uint64_t{1} << (f.fraction_bits + f.padding);
}
// A subnormal becomes the zero of its sign.
std::uint64_t flushed(const Format& f, bool ftz, std::uint64_t bits) {
  return ftz && is_subnormal(f, bits) ? bits & f.sign_bit() : bits;
}

// A quiet NaN that keeps sign and payload.
std::uint64_t quieted(const Format& f, std::uint64_t nan) {
  return nan | std::uint64_t{1} << (f.fraction_bits + f.padding - 1);
}

// Rounded; .ftz flushes what is below the normal numbers even when rounded as if exponents had no
// end.
std::uint64_t rounded(const Format& f, Rounding rounding, bool ftz, const Number& n) {
  if (ftz && soft::is_tiny(f, rounding, n)) return n.negative ? f.sign_bit() : 0;
  return soft::round(f, rounding, n);
}

// What the modifiers do to a rounded result.
std::uint64_t finished(const Format& f, const Function& fn, std::uint64_t bits) {
  if (is_nan(f, bits)) return fn.sat ? 0 : bits;
  if ((fn.sat || fn.relu) && is_negative(f, bits)) return 0;
  if (fn.sat && bits > f.one()) return f.one();
  if (fn.satfinite && magnitude(f, bits) == f.infinity())
    return (bits & f.sign_bit()) | f.largest();
  return bits;
}

Number in_software(const Function& fn, const Number& a, const Number& b, const Number& c) {
  switch (fn.fn) {
  case Fn::fadd: return soft::add(a, b, fn.rounding);
  case Fn::fsub: return soft::add(a, soft::negate(b), fn.rounding);
  case Fn::fmul: return soft::multiply(a, b);
  case Fn::ffma: return soft::add(soft::multiply(a, b), c, fn.rounding);
  case Fn::fdiv: return soft::divide(a, b);
  default: return soft::square_root(a);
  }
}

std::uint64_t arithmetic(const Function& fn, std::span<const Bits> args) {
  const Format f = soft::format_of(fn.to);
  const auto arg = [&](std::size_t i) {
    return i < args.size() ? flushed(f, fn.ftz, static_cast<std::uint64_t>(args[i])) : 0;
  };
  const std::uint64_t a = arg(0), b = arg(1), c = arg(2);
  if (fn.to == ptx::Type::f64) {
    // Double precision hands a NaN operand on; the last one that it looks at wins.
    const auto order = fn.fn == Fn::fdiv ? std::array{a, b, c} : std::array{b, c, a};
    for (const std::uint64_t operand : order)
      if (is_nan(f, operand)) return quieted(f, operand);
  }
  const Number r = in_software(fn, soft::unpack(f, a), soft::unpack(f, b), soft::unpack(f, c));
  return finished(f, fn, rounded(f, fn.rounding, fn.ftz, r));
}

// Order of the non-NaN values as integers, -0 below +0.
std::int64_t rank(const Format& f, std::uint64_t bits) {
  const auto m = static_cast<std::int64_t>(magnitude(f, bits));
  return is_negative(f, bits) ? -m - 1 : m;
}

std::uint64_t min_or_max(const Function& fn, std::uint64_t a, std::uint64_t b) {
  const Format f = soft::format_of(fn.from);
  a = flushed(f, fn.ftz, a);
  b = flushed(f, fn.ftz, b);
  const std::uint64_t sign = (a ^ b) & f.sign_bit();
  if (fn.abs) {
    a = magnitude(f, a);
    b = magnitude(f, b);
  }
  const bool nan_a = is_nan(f, a), nan_b = is_nan(f, b);
  if (nan_a && nan_b && fn.from == ptx::Type::f64) return quieted(f, b);
  if ((nan_a && nan_b) || (fn.nan && (nan_a || nan_b))) return f.canonical_nan();
  std::uint64_t best = (rank(f, a) < rank(f, b)) == (fn.fn == Fn::fmin) ? a : b;
  if (nan_a) best = b;
  if (nan_b) best = a;
  return fn.xorsign ? magnitude(f, best) | sign : best;
}

std::uint64_t sign_change(const Function& fn, std::uint64_t a) {
  const Format f = soft::format_of(fn.from);
  if (is_nan(f, a)) return fn.from == ptx::Type::f64 ? quieted(f, a) : f.canonical_nan();
  a = flushed(f, fn.ftz, a);
  return fn.fn == Fn::fabs ? magnitude(f, a) : a ^ f.sign_bit();
}

bool comparison(const Function& fn, std::uint64_t a, std::uint64_t b) {
  const Format f = soft::format_of(fn.from);
  a = flushed(f, fn.ftz, a);
  b = flushed(f, fn.ftz, b);
  const bool unordered = is_nan(f, a) || is_nan(f, b);
  if (unordered || fn.fn == Fn::funordered) return unordered && fn.fn == Fn::funordered;
  if (((a | b) & (f.sign_bit() - 1)) == 0) return fn.fn != Fn::flt; // zeros are equal
  if (fn.fn == Fn::feq) return a == b;
  return fn.fn == Fn::flt ? rank(f, a) < rank(f, b) : rank(f, a) <= rank(f, b);
}

bool in_class(ptx::Sub sub, const Format& f, std::uint64_t a) {
  const bool finite = magnitude(f, a) < f.infinity();
  switch (sub) {
  case ptx::Sub::finite: return finite;
  case ptx::Sub::infinite: return magnitude(f, a) == f.infinity();
  case ptx::Sub::number: return !is_nan(f, a);
  case ptx::Sub::notanumber: return is_nan(f, a);
  case ptx::Sub::normal: return finite && !is_subnormal(f, a); // zeros are normal
  default: return is_subnormal(f, a);
  }
}

// .ftz of a conversion means its .f32 side; conversions to .f16 do not flush.
bool flushes(const Function& fn, ptx::Type side) {
  return fn.ftz && side == ptx::Type::f32 && fn.to != ptx::Type::f16;
}

std::uint64_t to_float(const Function& fn, const Number& n) {
  const Format f = soft::format_of(fn.to);
  return finished(f, fn, rounded(f, fn.rounding, flushes(fn, fn.to), n));
}

Number from_float(const Function& fn, std::uint64_t a) {
  const Format f = soft::format_of(fn.from);
  return soft::unpack(f, flushed(f, flushes(fn, fn.from), a));
}

// The NaN of another format: double precision hands sign and payload on, as far as they fit.
std::uint64_t converted_nan(const Function& fn, std::uint64_t a) {
  const Format from = soft::format_of(fn.from), to = soft::format_of(fn.to);
  if (fn.sat) return 0;
  if (flushes(fn, fn.from)) a = from.canonical_nan();
  if (fn.rounding == Rounding::rna) return a & ~((std::uint64_t{1} << to.padding) - 1);
  const bool double_side = fn.from == ptx::Type::f64 || fn.to == ptx::Type::f64;
  if (!double_side) return to.canonical_nan();
  const std::uint64_t payload = magnitude(from, a) << (64 - from.fraction_bits);
  const std::uint64_t sign = is_negative(from, a) ? to.sign_bit() : 0;
  return quieted(to, sign | to.infinity() | payload >> (64 - to.fraction_bits));
}

std::uint64_t float_to_float(const Function& fn, std::uint64_t a) {
  if (is_nan(soft::format_of(fn.from), a)) return converted_nan(fn, a);
  const Number n = from_float(fn, a);
  return to_float(fn, fn.fn == Fn::fround ? soft::round_to_integral(fn.rounding, n) : n);
}

std::uint64_t to_integer(const Function& fn, std::uint64_t a) {
  const unsigned w = ptx::bit_width(fn.to);
  const bool is_signed = fn.fn == Fn::float_to_signed;
  const Bits mask = (Bits{1} << w) - 1;
  const Number n = soft::round_to_integral(fn.rounding, from_float(fn, a));
  if (n.kind == Number::Class::nan)
    return fn.from == ptx::Type::f64 || w == 64 ? std::uint64_t{1} << (w - 1) : 0;
  if (n.kind == Number::Class::zero) return 0;
  const Bits most = is_signed ? mask >> 1 : mask; // of positive numbers
  const Bits least = is_signed ? most + 1 : 0;    // magnitude of negative ones
  const Bits limit = n.negative ? least : most;
  const bool huge = n.kind == Number::Class::infinite || n.exponent > 64;
  const Bits wanted = huge ? limit : n.significand << (n.exponent > 0 ? n.exponent : 0);
  const Bits clamped = wanted < limit ? wanted : limit;
  return static_cast<std::uint64_t>((n.negative ? 0 - clamped : clamped) & mask);
}

Number signed_number(const Function& fn, std::uint64_t a) {
  const unsigned w = ptx::bit_width(fn.from);
  const bool negative = (a >> (w - 1) & 1U) != 0;
  const std::uint64_t mask = w == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << w) - 1;
  return soft::from_integer(negative, negative ? (0 - a) & mask : a);
}

} // namespace

std::uint64_t compute_float(const Function& fn, std::span<const Bits> args) {
  const auto a = args.empty() ? 0 : static_cast<std::uint64_t>(args[0]);
  const auto b = args.size() < 2 ? 0 : static_cast<std::uint64_t>(args[1]);
  switch (fn.fn) {
  case Fn::fadd:
  case Fn::fsub:
  case Fn::fmul:
  case Fn::ffma:
  case Fn::fdiv:
  case Fn::fsqrt: return arithmetic(fn, args);
  case Fn::fmin:
  case Fn::fmax: return min_or_max(fn, a, b);
  case Fn::fneg:
  case Fn::fabs: return sign_change(fn, a);
  case Fn::feq:
  case Fn::flt:
  case Fn::fle:
  case Fn::funordered: return comparison(fn, a, b) ? 1 : 0;
  case Fn::ftestp: return in_class(fn.sub, soft::format_of(fn.from), a) ? 1 : 0;
  case Fn::fround:
  case Fn::fconvert: return float_to_float(fn, a);
  case Fn::float_to_signed:
  case Fn::float_to_unsigned: return to_integer(fn, a);
  case Fn::signed_to_float: return to_float(fn, signed_number(fn, a));
  case Fn::unsigned_to_float: return to_float(fn, soft::from_integer(false, a));
  case Fn::fcopysign: {
    const Format f = soft::format_of(fn.from);
    return (a & f.sign_bit()) | magnitude(f, b);
  }
  default: return 0;
  }
}

} // namespace ptxasw::sem
