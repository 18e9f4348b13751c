// Whole numbers as instructions.
#pragma once

#include "passes/time_tile/polynomial/integer_polynomial.hpp"
#include "passes/time_tile/polynomial/parameter_names.hpp"
#include "ptx/build.hpp"

#include <functional>
#include <string>
#include <utility>

namespace ptxasw::passes {

// Where in the parameter space the threads of the launch along x, y, z stand, 4 bytes each.
struct ExtentsAt {
  std::string parameter;
  unsigned first = 0;
};

class PolynomialCode {
public:
  using Coordinate = std::function<ptx::Reg(unsigned axis)>; // a register of 64 bits

  PolynomialCode(ptx::Code& code, ParameterNames names, Coordinate coordinate = {},
                 ExtentsAt extents = {})
      : code_(code), names_(std::move(names)), coordinate_(std::move(coordinate)),
        extents_(std::move(extents)) {}

  // In 64 bits, where nothing wraps. Of coordinates and parameters alone.
  ptx::Reg number(const IntegerPolynomial& whole);
  // Of the array whose address this part of the parameters is.
  ptx::Reg begin_of(unsigned part);

private:
  ptx::Reg parameter(const Quantity& quantity);

  ptx::Code& code_;
  const ParameterNames names_;
  Coordinate coordinate_;
  ExtentsAt extents_;
};

} // namespace ptxasw::passes
