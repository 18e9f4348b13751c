// The functions of the driver that copy within a device, that launch cooperatively, behind which
// nothing runs, that make streams, and behind which a handle may stand for something else. All of
// them are made as they came, but for a copy that a run of time steps takes.
#pragma once

namespace ptxasw::launch {

// Ours for one of them, by its place in the table of hooks; as many copies as that has.
[[nodiscard]] void* call_hook(unsigned hook, unsigned copy);

} // namespace ptxasw::launch
