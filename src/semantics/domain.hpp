// The abstract value domain over which instruction meanings are written once.
//
// A Value is a bit-vector; every operation is told its width. Floating-point values are their bits.
// The concrete domain (concrete.hpp) computes with 128-bit integers; the symbolic one
// (emulator/symbolic_domain.hpp) builds terms. Semantics never branch on a Value: they use ite.
#pragma once

#include "ptx/isa.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <string>

namespace ptxasw::sem {

__extension__ using Bits = unsigned __int128;

// A function that is computed in the concrete domain and uninterpreted (but congruent) in the
// symbolic one: floating point, and bit counting, whose bit-level formula helps nobody.
enum class Fn : std::uint8_t {
  popc,
  clz,
  brev,
  fns,
  fadd,
  fsub,
  fmul,
  ffma,
  fdiv,
  fsqrt,
  fmin,
  fmax,
  fneg,
  fabs,
  fcopysign,
  feq,
  flt,
  fle,
  funordered, // width-1 results
  fround,     // to an integral value of the same format
  fconvert,   // format to format
  float_to_signed,
  float_to_unsigned,
  signed_to_float,
  unsigned_to_float,
  ftestp,
  window,    // no arguments: where a state space begins in the generic address space
  in_window, // width 1: does a generic address lie in a state space?
};

// One function with its attributes. key() is injective and stable.
struct Function {
  Fn fn = Fn::popc;
  ptx::Type to = ptx::Type::none, from = ptx::Type::none; // formats or integer types
  ptx::Rounding rounding = ptx::Rounding::none;
  bool ftz = false, sat = false, satfinite = false, nan = false, xorsign = false, abs = false;
  bool relu = false;
  ptx::Sub sub = ptx::Sub::none;          // testp
  ptx::Space space = ptx::Space::generic; // window, in_window
  [[nodiscard]] std::uint64_t key() const;
  [[nodiscard]] static Function from_key(std::uint64_t key);
  [[nodiscard]] std::string name() const; // "add.rn.ftz.f32"
};

// The value of a function on concrete bits; bit-exact with the PTX ISA (NaN results are the
// canonical NaN that the hardware gives).
Bits compute(const Function& function, unsigned result_width, std::span<const Bits> args);

template <class D>
concept Domain = requires(D& d, typename D::Value v, unsigned w, Bits bits, Function f,
                          std::span<const typename D::Value> args) {
  { d.constant(w, bits) } -> std::same_as<typename D::Value>;
  { d.add(w, v, v) } -> std::same_as<typename D::Value>; // likewise sub mul and_ or_ xor_
  { d.sub(w, v, v) } -> std::same_as<typename D::Value>;
  { d.mul(w, v, v) } -> std::same_as<typename D::Value>;
  { d.neg(w, v) } -> std::same_as<typename D::Value>;
  { d.not_(w, v) } -> std::same_as<typename D::Value>;
  { d.and_(w, v, v) } -> std::same_as<typename D::Value>;
  { d.or_(w, v, v) } -> std::same_as<typename D::Value>;
  { d.xor_(w, v, v) } -> std::same_as<typename D::Value>;
  { d.shl(w, v, v) } -> std::same_as<typename D::Value>; // amount >= w: 0 (ashr: sign)
  { d.lshr(w, v, v) } -> std::same_as<typename D::Value>;
  { d.ashr(w, v, v) } -> std::same_as<typename D::Value>;
  { d.udiv(w, v, v) } -> std::same_as<typename D::Value>; // by zero: all ones
  { d.urem(w, v, v) } -> std::same_as<typename D::Value>; // by zero: the dividend
  { d.sdiv(w, v, v) } -> std::same_as<typename D::Value>; // SMT-LIB's by-zero rules
  { d.srem(w, v, v) } -> std::same_as<typename D::Value>;
  { d.eq(w, v, v) } -> std::same_as<typename D::Value>; // results of width 1
  { d.ult(w, v, v) } -> std::same_as<typename D::Value>;
  { d.slt(w, v, v) } -> std::same_as<typename D::Value>;
  { d.ite(w, v, v, v) } -> std::same_as<typename D::Value>;     // condition of width 1 first
  { d.extract(w, v, w, w) } -> std::same_as<typename D::Value>; // from width, v, low, width
  { d.concat(w, v, w, v) } -> std::same_as<typename D::Value>;  // high width, high, low width, low
  { d.zext(w, v, w) } -> std::same_as<typename D::Value>;       // from width, v, to width
  { d.sext(w, v, w) } -> std::same_as<typename D::Value>;
  { d.apply(f, w, args) } -> std::same_as<typename D::Value>; // result width
};

} // namespace ptxasw::sem
