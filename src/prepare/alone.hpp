// Kernels whose versions need nothing of the module that they are prepared in: in a module of their
// own, beside the program's, they do the same (launch/images/late_versions.hpp).
#pragma once

#include "ptx/module.hpp"

#include <set>
#include <string>

namespace ptxasw::prepare {

// Those that name no variable of the module, call nothing and take no address of a function. None
// where the variables of the module are large: each module that is loaded has its own.
[[nodiscard]] std::set<std::string> kernels_alone(const ptx::Module& module);

} // namespace ptxasw::prepare
