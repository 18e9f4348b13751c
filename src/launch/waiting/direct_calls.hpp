// Calls of the driver that nobody sees: a program or library that is linked against libcuda calls
// those functions by their symbols, of which the launcher has only some. Those that only tell what
// the host knows do not count (trampolines.hpp).
#pragma once

#include <string>

namespace ptxasw::launch {

// Empty, or which loaded file refers to which function. Looks again only when files were loaded in
// the meantime.
[[nodiscard]] std::string unseen_caller();

// Empty, or who may read or write memory of the device without any call of the driver's: a network
// card, a video encoder, another process. What the program has waited for has to be there for them.
[[nodiscard]] std::string unseen_reader();
// From now on there is one.
void note_shared_memory();

} // namespace ptxasw::launch
