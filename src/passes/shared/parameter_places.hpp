// Where a kernel's parameters lie in its parameter space, as a contract says it.
#pragma once

#include "contract/contract.hpp"
#include "ptx/module.hpp"

#include <vector>

namespace ptxasw::passes {

// Empty if one of them has no size.
std::vector<contract::ParameterSlot> places_of(const ptx::Module& module,
                                               const ptx::Function& kernel);

} // namespace ptxasw::passes
