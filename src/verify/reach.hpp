// How to launch a kernel so that a thread gets to an instruction: the conditions of the branches in
// front of it, from the emulator, as a question to the solver.
//
// An answer is a guess: the conditions are those that the emulator knows, values from memory are
// free, and loops may end sooner. So a launch has to be tried. That a place is impossible is no
// guess: no thread meets all of the conditions, whatever is free.
#pragma once

#include "simt/verify.hpp"

namespace ptxasw::verify {

// For VerifyOptions::find_paths. Remembers what it has emulated; for one thread.
simt::FindReachingLaunches way_finder();

} // namespace ptxasw::verify
