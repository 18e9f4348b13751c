// Calls that a thread may not come back from. The control-flow graph of the caller does not show
// it: there a call is an instruction like others.
#pragma once

#include "ptx/body.hpp"

#include <span>

namespace ptxasw::passes {

// May what one of these calls end the thread (`exit`) while others of the launch go on? A trap ends
// them all. False only where everything that may be called is known.
bool may_end_the_thread(const ptx::Body& body, std::span<const ptx::InstId> calls);

} // namespace ptxasw::passes
