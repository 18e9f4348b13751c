// Parameters that a kernel gets behind its own.
#pragma once

#include "ptx/parse.hpp"

#include <string>

namespace ptxasw::passes {

// The edit that appends a declaration such as ".param .u32 n" to the kernel's list (PTX ISA 5.1.6:
// parameters lie in the order of the list, each at its natural alignment, so that the others stay
// where they are).
ptx::Edit append_parameter(const ptx::Module& module, const ptx::Function& kernel,
                           const std::string& declaration);

} // namespace ptxasw::passes
