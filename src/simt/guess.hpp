// Makes up arguments for a kernel that nobody has described: which parameters are pointers and to
// what is read off its body, numbers are taken from the launch's shape.
#pragma once

#include "simt/machine.hpp"
#include "simt/random.hpp"

#include <string>
#include <vector>

namespace ptxasw::simt {

struct ParameterUse {
  bool pointer = false;
  ptx::Type element = ptx::Type::none; // of the first load or store through it
};
std::vector<ParameterUse> parameter_uses(const Program& program);

struct Guess {
  Dim3 grid, block;
  bool alias = false;
  unsigned attempt = 0; // later attempts take smaller numbers
};
// Texts for make_arguments.
std::vector<std::string> guess_arguments(const Program& program,
                                         const std::vector<ParameterUse>& uses, const Guess& guess,
                                         Random& random);

} // namespace ptxasw::simt
