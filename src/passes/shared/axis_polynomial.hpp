// Addresses as if no index arithmetic ever wrapped, and where they stand along an axis.
//
// nvcc computes indices in 32 bits and widens them:  base + 4*sext(i + nx*j - 1). The relaxed form
// pushes every widening and truncation down to the leaves, which makes such an address affine in
// what a person would call its indices. It is NOT equal to the address: it only tells which loads
// are worth comparing, with which delta, and how lanes are spread over memory. Proofs use the exact
// terms.
#pragma once

#include "symbolic/term.hpp"

#include <cstdint>
#include <unordered_map>

namespace ptxasw::passes {

// How an address moves when the axis variable grows by one.
struct Stride {
  enum class Kind : std::uint8_t {
    constant,   // by `bytes`
    parametric, // by `term`, the same for the whole warp, not known now
    unknown,    // not affine
  };
  Kind kind = Kind::unknown;
  std::int64_t bytes = 0;
  sym::Term term; // 64 bits; valid unless unknown
};

// address = key + steps * stride. Two addresses with the same key are `steps` apart along the axis:
// the delta of reuse is the difference of their steps.
struct AxisPosition {
  sym::Term key;
  std::int64_t steps = 0;
};

class AxisPolynomial {
public:
  // `axis`: the variable (of any width); invalid if the kernel never reads it.
  AxisPolynomial(sym::Context& context, sym::Term axis);

  // A 64-bit term without index wrap.
  sym::Term of(sym::Term t);
  Stride stride(sym::Term t) { return stride(t, axis_); }
  Stride stride(sym::Term t, sym::Term variable);
  AxisPosition position(sym::Term t);

private:
  sym::Term widen(sym::Term leaf);
  Stride find_stride(sym::Term t, sym::Term variable);

  sym::Context& c_;
  sym::Term axis_;
  std::unordered_map<std::uint32_t, sym::Term> memo_;
  std::unordered_map<std::uint64_t, Stride> strides_; // by term and variable
};

} // namespace ptxasw::passes
