// The functions of the driver that load images, and those that tell what an image has (IMAGES.md).
#pragma once

namespace ptxasw::launch {

class Images;

// Ours for one of them, by its place in the table of hooks; as many copies as that has.
[[nodiscard]] void* module_hook(unsigned hook, unsigned copy);

// Null where nothing is ever replaced. Behind it, what was put off is done.
[[nodiscard]] Images* images_behind_what_waits();

} // namespace ptxasw::launch
