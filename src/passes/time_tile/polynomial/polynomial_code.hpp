// Whole numbers as instructions.
#pragma once

#include "passes/time_tile/polynomial/integer_polynomial.hpp"
#include "passes/time_tile/polynomial/parameter_names.hpp"
#include "ptx/build.hpp"

#include <functional>
#include <utility>

namespace ptxasw::passes {

class PolynomialCode {
public:
  using Coordinate = std::function<ptx::Reg(unsigned axis)>; // a register of 64 bits

  PolynomialCode(ptx::Code& code, ParameterNames names, Coordinate coordinate = {})
      : code_(code), names_(std::move(names)), coordinate_(std::move(coordinate)) {}

  // In 64 bits, where nothing wraps. Of coordinates and parameters alone.
  ptx::Reg number(const IntegerPolynomial& whole);
  // Of the array whose address this part of the parameters is.
  ptx::Reg begin_of(unsigned part);

private:
  ptx::Reg parameter(const Quantity& quantity);

  ptx::Code& code_;
  const ParameterNames names_;
  Coordinate coordinate_;
};

} // namespace ptxasw::passes
