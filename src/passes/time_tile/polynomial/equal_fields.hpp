// Sizes that stand in several structures: of `in.data[y * in.pitch + x]` and
// `out.data[y * out.pitch + x]` one is the other at an offset only if the pitches are equal.
#pragma once

#include "contract/contract.hpp"
#include "emulator/emulate.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

// Integers that are read at one byte of several structures of one size, and that no access begins
// at: parts of parameters, each with the first of those that it is to be equal to.
struct EqualFields {
  std::map<unsigned, unsigned> first;
  std::vector<contract::Condition> conditions; // that they are equal
};

EqualFields find_equal_fields(emulator::Kernel& kernel);

} // namespace ptxasw::passes
