// Makes up arguments for a kernel that nobody has described: which parameters are pointers and to
// what is read off its body, numbers are taken from the launch's shape.
#pragma once

#include "simt/machine.hpp"
#include "simt/random.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::simt {

// A parameter, or a field of one that is passed as bytes (a struct).
struct ParameterUse {
  std::uint32_t parameter = 0;
  std::uint64_t offset = 0;         // of the field
  std::uint64_t place = 0;          // in the parameter space
  ptx::Type type = ptx::Type::none; // as it is declared or loaded
  bool field = false;
  bool pointer = false;
  ptx::Type element = ptx::Type::none; // of the first load or store through it
};
// In order of parameters and offsets. Fields that nothing reads are left out.
std::vector<ParameterUse> parameter_uses(const Program& program);

struct Guess {
  Dim3 grid, block;
  bool alias = false;
  unsigned attempt = 0; // later attempts take smaller numbers
  std::uint64_t buffer_bytes = std::uint64_t{1} << 17;
  std::map<std::uint64_t, std::uint64_t> fixed; // integers that are settled, by place
};
// Texts for make_arguments.
std::vector<std::string> guess_arguments(const Program& program,
                                         const std::vector<ParameterUse>& uses, const Guess& guess,
                                         Random& random);

} // namespace ptxasw::simt
