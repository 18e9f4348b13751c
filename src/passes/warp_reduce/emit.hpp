// Rounds of a tree within a warp into code: shuffles in place of shared memory and barriers.
//
// What is emitted in front of a stretch (passes/warp_reduce/find.hpp), here of a loop of width w:
//
//     ...                                    bad: blocks are not one row of whole warps, or the
//     @bad bra.uni $slow;                    width is none that comes by 16 when it is halved
//   $again:
//     setp.eq.u32  q, w, 16;
//     @q bra.uni   $fast;
//     ...                                    the loop as it was, back to $again, out of it to $done
//   $fast:
//     mov.u32      w, 16;                    so that ptxas knows it
//     setp.lt.u32  ps, t, w;                 whose element is stored in the first round
//     setp.lt.u32  pl, t, 2*w;               whose is accessed
//     @other bra $end;                       warps but the first, if nothing is computed for later
//     @pl ld.shared.b32 v, [own];
//   $top:                                   five times, so that each width is known
//     shfl.sync.down.b32 x, v, w, 31, -1;
//     ...                                    the stretch: loads of the own element become moves of
//                                            v, those of the one w further on moves of x, stores
//                                            moves to v; barriers are left out
//   $end:
//     @ps st.shared.b32 [own], v;
//     bar.sync     0;                        unless each thread only reads its own behind
//     bra.uni      $done;                    or, where that is all, a copy of the rest of the
//     kernel
//   $slow:
//     ...                                    the stretch as it was
//   $done:
//
// Where every warp has rounds, all threads load and store. A width that doubles is asked to be 1,
// and behind the copies for 1 to 16 and the store stand others for 32 to 512, as they were:
//
//   $wide:
//     st.shared.b32 [own], v;
//     bar.sync     0;
//     ...                                    five times the stretch as it was, each width known
//
// Where the rounds from width 16 on are one reduction (passes/warp_reduce/tree_as_one.hpp), in
// their place
//
//     redux.sync.add.u32 v, v, -1;
//
// Where threads work for others, ahead of each copy stands
//
//     and.b32      u, t, 2w - 1;
//     setp.eq.u32  works, u, 0;              who works: only these change their element
//     shr.u32      u, t, log 2w;             for whom: in the copy u stands for the thread's number
//
// PROOF.md argues that this is sound.
#pragma once

#include "passes/warp_reduce/find.hpp"
#include "ptx/parse.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::passes {

// The edits; stretches whose registers cannot be named leave the plan. `block`: the known shape of
// blocks, zeros where it is not known.
std::vector<ptx::Edit> reduce_in_registers(const emulator::Kernel& kernel, TreeReductionPlan& plan,
                                           const std::array<std::uint32_t, 3>& block);

} // namespace ptxasw::passes
