// What would help the kernels of a report.
#pragma once

#include "ptxasw/ptxasw.hpp"

#include <string>

namespace ptxasw {

// Fills in Report::kernels[].hints of what optimize() said of `text` with these options. Options
// that may matter to a kernel that was left alone, and were not given, are tried on such kernels
// alone; what changes one of them is a hint, with what is predicted of it. Each is tried within the
// budgets of the options; a larger one for ptxas is named untried, which the hint says. Time steps
// are told of all kernels. Without an assembler nothing can be tried: where it is what is missing,
// that is the hint. Nothing is kept of what is tried, and the assembler is told nothing to
// remember.
void find_hints(const std::string& text, const Options& options, Assembler* assembler,
                Report& report);

} // namespace ptxasw
