// Calls of the driver that nobody sees: a program or library that is linked against libcuda calls
// those functions by their symbols, of which the launcher has only some. Those that only tell what
// the host knows do not count (trampolines.hpp).
#pragma once

#include <string>

namespace ptxasw::launch {

// Empty, or which loaded file refers to which function. Looks again only when files were loaded in
// the meantime.
[[nodiscard]] std::string unseen_caller();

} // namespace ptxasw::launch
