// A text whose line table tells instructions apart.
#pragma once

#include "ptx/parse.hpp"

namespace ptxasw::passes {

// The same instructions, each on a line of its own, and no marker that renumbers lines.
ptx::Module spread(const ptx::Module& module);

} // namespace ptxasw::passes
