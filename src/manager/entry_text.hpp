// The entries that stand beside a kernel, as texts: where a kernel begins and ends, what its
// entries are called, and whether there is room for what they get.
#pragma once

#include "contract/contract.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/coarsening.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::manager {

// The kernel under another name, which begins early if that may be (`waits`).
[[nodiscard]] std::string renamed(const ptx::Module& module, const ptx::Function& kernel,
                                  const std::string& name, bool& waits);

// "y:4", "x:2,y:4"
[[nodiscard]] std::string name_of(const Coarsening& how);
// "kernel__ptxasw_x2y4"
[[nodiscard]] std::string entry_of(std::string_view kernel, std::string_view name);

// The variable that holds it, without its linkage.
[[nodiscard]] std::string variable_of(const contract::Contract& contract);

// Global variables that only this module sees.
[[nodiscard]] bool has_own_variables(std::string_view text);

// Of the parameter space, as far as it is taken; nothing if there is no room behind it for what
// entries get.
[[nodiscard]] std::optional<unsigned> bytes_of(const std::vector<contract::ParameterSlot>& places);

} // namespace ptxasw::manager
