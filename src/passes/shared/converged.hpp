// Where the active lanes of a warp may be counted ahead of a loop, for shuffles inside it.
//
// From the end of block A to block B lanes stay in step if on all paths from A to B nothing calls a
// function (from which a lane may not return) and no branch varies by lane: the lanes that are
// active together at the end of A then pass through the same blocks in the same order, however the
// hardware schedules them. So they all arrive at every shfl.sync in B that names them; each waits
// for all of them, and its n-th execution by one lane meets the n-th execution by the others: the
// same trips of all loops that begin behind A.
//
// A mask that is read in B itself has only the lanes' word for it that they are in the same trip
// (see shuffle.hpp), and costs its instructions on every trip.
#pragma once

#include "emulator/emulate.hpp"

namespace ptxasw::passes {

// The nearest block with the fewest loops around it from whose end on lanes stay in step up to
// `block`; `block` itself if there is none that is inside fewer loops.
analysis::BlockId ahead_of_loops(const emulator::Kernel& kernel, analysis::BlockId block);

} // namespace ptxasw::passes
