// Which products does ptxas fuse in these kernels? Asked of ptxas itself: a text in which the
// choice is written down (rewrite/contraction.hpp) and that assembles to the very same machine code
// as the original makes the choice that ptxas makes.
#pragma once

#include "driver/environment.hpp"
#include "ptxasw/ptxasw.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::driver {

// The cubin of a text, or nothing if ptxas would not take it.
using Assemble = std::function<std::optional<std::string>(const std::string& text)>;

// Runs ptxas by itself, as sub-commands need it: for `architecture`, output in memory.
Assemble assemble_alone(const std::string& ptxas, const std::string& architecture,
                        const Environment& environment);

// Kernels that would be rewritten were it not for ptxas' freedom.
std::vector<std::string> held_back_by_contraction(const Report& report);

// The choice for each of `kernels` for which one is found. Costs one run of ptxas for the original
// and up to three more for the choices.
std::map<std::string, Contraction> find_contractions(const std::string& text,
                                                     const std::string& file,
                                                     const std::vector<std::string>& kernels,
                                                     const Assemble& assemble);

} // namespace ptxasw::driver
