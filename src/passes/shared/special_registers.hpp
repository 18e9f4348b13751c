// Registers that stand for special ones in the text of a kernel.
#pragma once

#include "ptx/body.hpp"
#include "ptx/build.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

using StandIns = std::map<ptx::Special, ptx::Reg>;

// The edits by which every instruction reads those instead.
void substitute_special(const ptx::Body& body, const StandIns& instead,
                        std::vector<ptx::Edit>& edits);

} // namespace ptxasw::passes
