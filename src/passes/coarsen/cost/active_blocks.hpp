// How many of the blocks of a launch have anything to do, by how a kernel compares its threads'
// places, as in `if (x < y) return;`. A guess: nothing but speed may hang on it.
#pragma once

#include "ptx/body.hpp"

namespace ptxasw::passes {

// Half of them if threads compare their places along two axes, else all.
double share_at_work(const ptx::Body& body);

} // namespace ptxasw::passes
