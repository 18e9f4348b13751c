// The functions of the driver that link (links.hpp). All of them are called as they are; what they
// are given and what they make is noted.
#pragma once

namespace ptxasw::launch {

// Ours for one of them, by its place in the table of hooks; as many copies as that has.
[[nodiscard]] void* link_hook(unsigned hook, unsigned copy);

} // namespace ptxasw::launch
