// What it costs that the threads of a block meet (passes/coarsen/find/block_uniform.hpp).
//
// At a barrier a warp waits for the slowest of its block, and what it has asked of memory before
// has to be there. Other blocks of the SM run meanwhile, so it is like latency: C blocks that have
// become one wait once where each of them did. Shared memory of C copies leaves the SM fewer
// blocks.
#pragma once

#include "ptxasw/coarsening.hpp"
#include "target/profile.hpp"

#include <cstdint>

namespace ptxasw::passes {

// Cycles that barriers add to what a warp takes that runs alone, for all of its copies.
double waiting_cycles(const target::Profile& profile, const CoarsenWork& work, unsigned copies);

// Blocks that an SM has the shared memory for.
unsigned blocks_with_shared(const target::Profile& profile, unsigned bytes);

// As least_threads (coarsening.hpp): blocks that wait together leave an SM busy with fewer of them.
// On an H200 launches of suite M that leave one wave ran at 0.99 to 1.72 when merged, and at 0.76
// to 1.00 as before in a kernel with the registers and the shared memory of the merged form.
std::uint64_t least_threads_that_synchronize(const target::Profile& profile, const Coarsening& how);

// Whether launches that are too small to be merged find as much room in shared memory as before, in
// blocks of all sizes (a scan with 32 KB instead of 8: 0.87 of the speed at one wave).
bool leaves_room(const target::Profile& profile, const CoarsenWork& original,
                 const CoarsenWork& merged);

// A kernel has its arrays for the blocks that it is launched with: a block of which each thread
// would have more than a few words of them is none.
bool may_be_launched_in(const CoarsenWork& original, unsigned threads);

} // namespace ptxasw::passes
