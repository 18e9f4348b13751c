// Which products does ptxas fuse in these kernels? Asked of ptxas itself: a text in which the
// choice is written down (rewrite/contraction.hpp) and that assembles to the very same machine code
// as the original makes the choice that ptxas makes.
#pragma once

#include "ptxasw/assembler.hpp"
#include "ptxasw/options.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::pipeline {

using Contractions = std::map<std::string, Contraction>; // by kernel

// Writes down, in the named kernels, which products are fused. Lines keep their numbers.
std::string pin_contraction(const std::string& text, const std::string& file,
                            const Contractions& choices);

// The choice for each of `kernels` for which one is found. Costs one run of the assembler for the
// original and up to three more for the choices.
Contractions find_contractions(const std::string& text, const std::string& file,
                               const std::vector<std::string>& kernels, Assembler& assembler);

} // namespace ptxasw::pipeline
