// `.maxnreg`, which tells ptxas how many registers a rewritten kernel may have.
#pragma once

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <optional>

namespace ptxasw::passes {

// The edit that limits the kernel to so many registers; none for 0, and none where the kernel has a
// limit of its own.
std::optional<ptx::Edit> register_limit(const ptx::Body& body, unsigned registers);

} // namespace ptxasw::passes
