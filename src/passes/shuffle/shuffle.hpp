// Lane reuse into code: covered loads become guarded shuffles (or moves).
//
// What is emitted for a load covered with delta N from register s:
//
//     activemask.b32          mask;                    once per basic block, or ahead of the loops
//     setp.eq.s32             full, mask, -1;
//     setp.lt.u32.and         ok, lane, 32-N, full;    once per (N, checks) and block; likewise the
//                                                      row of the block and the index checks
//     shfl.sync.down.b32      d, s, N, 31, mask;
// @!ok ld.global.f32          d, [address];            the corner case: the lane's own load
//
// Why this is sound: every active lane runs the shfl.sync with the mask that it read in the same
// basic block, or ahead of the loops and in step since then (converged.hpp), so all named lanes
// arrive. A lane uses the shuffled value only if the warp is
// complete, so lane + N is active and has passed the source load; if lane + N lies in 0..31 and
// %tid.x + N inside the row, so that lane + N is the thread with that index; if its index is
// far enough from the wrap for the proof to apply; and if its address, where that is generic, is
// one of global memory (isspacep). In every other case it does what the original did.
//
// It assumes what passes/shuffle/lane.hpp has proved, and one thing about the hardware: lanes that
// a mask read inside a loop finds active together are in the same trip of it. NVIDIA's hardware
// lets lanes that have parted meet again only where a convergence barrier of the compiler joins
// them, and those are set anew on every trip; the PTX ISA does not say so. A mask that is read
// ahead of the loops assumes nothing (simt::Schedule::across_iterations tries it): only loops in
// which a branch varies by lane, or that call functions, are left with the assumption. It costs one
// shuffle and one predicated load per covered load, and about four instructions per distinct (N,
// checks) and block.
#pragma once

#include "passes/shuffle/lane.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"

#include <vector>

namespace ptxasw::passes {

// Edits for the loads of `plan` that have a cover; those whose registers cannot be named where they
// are needed (nested scopes) lose their cover and get a reason instead.
std::vector<ptx::Edit> shuffle(const emulator::Kernel& kernel, LanePlan& plan, Emit emit);

} // namespace ptxasw::passes
