// Registers that stand for special ones in the text of a kernel.
#pragma once

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::passes {

// By the name of the special register, "%tid.x".
using StandIns = std::map<std::string, std::string>;

// The edits by which every instruction reads those instead.
void stand_in(const ptx::Body& body, const StandIns& instead, std::vector<ptx::Edit>& edits);

} // namespace ptxasw::passes
