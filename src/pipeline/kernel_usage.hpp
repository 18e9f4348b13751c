// What an assembler made of each kernel of a text, as the cost model wants to know it.
#pragma once

#include "cost/profile.hpp"
#include "ptxasw/assembler.hpp"

#include <map>
#include <optional>
#include <string>

namespace ptxasw::pipeline {

// By name; kernels of which it says nothing are left out.
std::map<std::string, Usage> kernel_usages(const std::optional<Assembled>& assembled,
                                           const cost::Profile& profile);

} // namespace ptxasw::pipeline
