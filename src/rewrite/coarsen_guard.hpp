// Launches that are too small to be merged run the original body.
//
// A launch that leaves an SM too few warps when C blocks become one loses by it, and the compiler
// does not know the launch. So the kernel asks first: are there enough threads in the grid? That
// hangs on %nctaid and %ntid alone, which are constants of the launch, so all threads of all blocks
// get the same answer, and ptxas keeps it in uniform registers.
#pragma once

#include "ptx/body.hpp"
#include "rewrite/names.hpp"
#include "rewrite/text.hpp"

#include <cstdint>
#include <string>

namespace ptxasw::rewrite {

// A predicate that holds in launches of fewer than `least` threads; empty if none are that small.
// Axes that the kernel does not read are taken to be 1 wide: at worst more launches count as small.
std::string small_launch(const ptx::Body& body, std::uint64_t least, Registers& registers,
                         Text& text);

} // namespace ptxasw::rewrite
