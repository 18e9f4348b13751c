// The fast path of a coarsened kernel: the instructions of all copies together.
#pragma once

#include "passes/coarsen/emit/draft.hpp"

namespace ptxasw::passes {

// What differs between copies stands once for each, on its own registers; the rest once for all. A
// load that another copy has done is a move. Counts into the draft's report.
void write_fast_path(Draft& draft);

} // namespace ptxasw::passes
