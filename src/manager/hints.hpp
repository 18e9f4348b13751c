// What would help the kernels of a report: what is tried, and what is said of it.
#pragma once

#include "ptxasw/hints.hpp"

namespace ptxasw::manager {

// See include/ptxasw/hints.hpp. Throws what goes wrong inside.
void find_hints(const std::string& text, const Options& options, Assembler* assembler,
                Report& report);

} // namespace ptxasw::manager
