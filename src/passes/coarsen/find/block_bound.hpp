// One run-time check under which no index arithmetic wraps, so that relaxed addresses are the
// addresses.
//
// nvcc computes an index E in 32 bits and widens it:  base + 4*sext(i + nx*(j + ny*k) - 1). Two
// loads of neighbouring rows often differ only in what stands inside the widening and what outside,
// and sext(e + d) = sext(e) + sext(d) is false where the sum wraps. Write E as an integer
// polynomial over its leaves (kernel parameters, special registers), each taken as an unsigned
// number. Modulo 2^32 that polynomial is E. So if
//
//     sum over its products of |coefficient| * leaf * leaf ...  <  2^31
//
// then E, widened, is the value of the polynomial: nothing wrapped. The check takes the largest
// coefficient of each product over all indices of the plan, adds once, and compares once. The
// number of completed trips of a loop is bounded by what its exit condition compares
// (block_iterations.hpp).
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "symbolic/sum_of_products.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace ptxasw::passes {

// Of leaves (atoms); nothing is negative.
struct PolynomialBound : sym::SumOfProducts<PolynomialBound, sym::Term> {
  using SumOfProducts::SumOfProducts;
};

struct IndexBound {
  PolynomialBound::Terms products;

  [[nodiscard]] bool empty() const { return products.empty(); }
  // From now on the sum is at least as large as `other` as well.
  void include(const PolynomialBound::Terms& other);
};

class Bounds {
public:
  // `known`: may this atom be read before the kernel's first instruction?
  Bounds(const emulator::Kernel& kernel, AxisPolynomial& relaxed,
         std::function<bool(sym::Term)> known)
      : k_(kernel), c_(*kernel.context), relaxed_(relaxed), known_(std::move(known)) {}

  // What has to be bounded for `address` to equal its relaxed form; nothing if no check can be
  // made beforehand.
  const std::optional<IndexBound>& of(sym::Term address);

private:
  bool collect(sym::Term t, IndexBound& bound);
  bool widened(sym::Term inner, bool is_signed, IndexBound& bound);
  std::optional<PolynomialBound> magnitude(sym::Term ideal, bool may_be_negative,
                                           IndexBound& bound);
  std::optional<PolynomialBound> of_factor(sym::Term factor, IndexBound& bound);
  std::optional<PolynomialBound> iterations(std::uint32_t loop, IndexBound& bound);

  const emulator::Kernel& k_;
  sym::Context& c_;
  AxisPolynomial& relaxed_;
  std::function<bool(sym::Term)> known_;
  std::unordered_map<std::uint32_t, std::optional<IndexBound>> memo_;
  unsigned depth_ = 0; // of loops whose trips are being bounded
};

} // namespace ptxasw::passes
