// Approximate divisions in the steps that ptxas takes, so that their last product can be named.
#pragma once

#include "ptx/body.hpp"

#include <array>
#include <string>

namespace ptxasw::passes {

// The steps of such an instruction (ends_in_product) in one line. The last one multiplies
// `factors`, two f32 registers, which keep their values behind it. Its guard is not repeated.
std::string spell_out(const ptx::Inst& inst, bool full_range, const std::string& result,
                      const std::array<std::string, 2>& sources,
                      const std::array<std::string, 2>& factors);

} // namespace ptxasw::passes
