// Which place an element is that of.
//
//     u[(ny - 1) * nx + nx - 1]     is the element of (nx - 1, ny - 1), if that of (x, y) is  y *
//     nx + x
#pragma once

#include "passes/time_tile/polynomial/integer_polynomial.hpp"

#include <array>
#include <optional>

namespace ptxasw::passes {

// Coordinates along x and y; `far`: how far behind the element of (0, 0) it lies. Several places
// may: of these the one that is in a row of usual length, in front of its end. None: there is none.
std::optional<std::array<IntegerPolynomial, 2>> place_of(const IntegerPolynomial& far,
                                                         const IntegerPolynomial& element);

} // namespace ptxasw::passes
