// Which products ptxas has fused, read from its machine code.
#pragma once

#include "passes/pin_fma/contraction.hpp"
#include "ptxasw/reason.hpp"
#include "sass/code.hpp"

namespace ptxasw::passes {

struct Recovered {
  FuseChoices choices;
  bool certain = true; // false: some are guessed, and only equal bytes show that they are right
  Why refused;         // why they cannot be written down; empty if they can
};

// `code`: of this function, made of the module's very text, in which no line has two instructions.
//
// A sum is fused if the arithmetic of its line is an FMA; which product it is, is told by what
// makes the addend (the other operand) and the factors. A sum without arithmetic of its own has
// been merged with one that computes the same value, or is dead. Refused are sums that ptxas has
// copied and rounded in different ways, and fused products that cannot be named at the sum.
Recovered recover(const ptx::Body& body, const Reaching& reaching, const std::vector<Site>& sites,
                  const sass::Code& code);

} // namespace ptxasw::passes
