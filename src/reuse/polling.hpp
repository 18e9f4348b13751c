// Loops that may wait for other threads.
//
// Volatile and ordered loads may do so, and older programs wait with weak loads that go past the
// first cache (.cg, .cv): undefined by the book, and it works. A rewrite that runs the block which
// is waited for later than the one that waits makes such a loop endless. A loop is taken for one
// that waits if a branch in it depends on what such a load in it has read; a plain load may be done
// once for all trips, so nothing can rest on it, and through shared memory it is threads of the
// same block that wait for each other.
#pragma once

#include "emulator/emulate.hpp"

#include <string>

namespace ptxasw::reuse {

// Empty, or a reason for people, with the load's line.
std::string why_it_polls(const emulator::Kernel& kernel);

} // namespace ptxasw::reuse
