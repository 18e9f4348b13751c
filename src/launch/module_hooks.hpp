// The functions of the driver that load images, and those that tell what an image has (IMAGES.md).
#pragma once

namespace ptxasw::launch {

// Ours for one of them, by its place in the table of hooks; as many copies as that has.
[[nodiscard]] void* module_hook(unsigned hook, unsigned copy);

} // namespace ptxasw::launch
