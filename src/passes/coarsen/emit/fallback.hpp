// The body of a kernel as it stands: its statements, and where control leaves it.
#pragma once

#include "ptx/body.hpp"

#include <span>

namespace ptxasw::passes {

// The statements of a body without its braces.
std::span<const ptx::Statement> inside(const ptx::Body& body);
// ret and exit.
bool ends_thread(const ptx::Inst& inst);
// May control reach the end of the body?
bool open_end(const ptx::Body& body);

} // namespace ptxasw::passes
