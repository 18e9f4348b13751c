// The functions of the driver by which memory is shared with another process, device or context, or
// with a library for graphics. From then on others may reach it without a call that we see.
#pragma once

namespace ptxasw::launch {

// Ours for one of them, by its place in the table of hooks; as many copies as that has.
[[nodiscard]] void* sharing_hook(unsigned hook, unsigned copy);

} // namespace ptxasw::launch
