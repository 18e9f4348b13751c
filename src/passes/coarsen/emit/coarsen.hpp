// Block coarsening: one block does the work of C neighbours along the grid, with shared loads.
//
// The kernel becomes
//
//     original     where the launch is too small to be merged, or the group of C hangs over the end
//                  of the grid, each block does its own work, as it always did: the body as it
//                  stands. In a long kernel it stands twice (passes/coarsen/emit/fallback.hpp):
//                  small launches run the first one, which asks no more than it must
//     merged       of the others all but the first of their group return
//     lockstep     every instruction of the original in its order: once if it is the same for all
//                  copies, else C times on the registers of each copy. A load that
//                  passes/coarsen/find/block.hpp covers is a move. Where a branch may go different
//                  ways in different copies (only before anything has been written) they compare:
//                  all one way, all the other, or on to the sequential form.
//     sequential   the original body in a loop over the copies (if something leads there)
//
// PROOF.md argues that this is sound. It costs C times the registers of what differs and about
// (C + 3) times the code; it gains the loads that copies share, and memory parallelism.
#pragma once

#include "passes/coarsen/find/block.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"

#include <cstdint>
#include <vector>

namespace ptxasw::passes {

struct CoarsenOptions {
  CoarsenGrid grid = CoarsenGrid::kernel; // who leaves out the blocks that others work for
  // .maxnreg of the new kernel, if it has none yet; 0: as many as ptxas likes. More registers than
  // the original's cost blocks that run at the same time, and most of what is gained.
  unsigned registers = 0;
  // Launches of fewer threads run the original form; 0: all are merged. Not for grids that the host
  // divides: it knows the launch.
  std::uint64_t least_threads = 0;
};

// What was emitted, for people and for the choice of C.
struct CoarsenReport {
  unsigned copies = 1;
  unsigned loads = 0;        // static loads of C copies of the body
  unsigned loads_left = 0;   // of the lockstep form
  unsigned loads_moved = 0;  // covered ones that cost a move at most
  unsigned instructions = 0; // of the original body
  unsigned shared = 0;       // those that stand once for all copies
  unsigned emitted = 0;      // of the lockstep form, moves of covered loads not counted
  unsigned agreements = 0;   // branches at which the copies compare
};

// What fills no group of whole blocks stands by itself in a grid that the launcher divides, which
// is a matter of one axis.
bool can_divide(CoarsenGrid grid, const BlockPlan& plan);

// The edits that coarsen the kernel as planned; empty if the plan refuses, or cannot be launched
// so.
std::vector<ptx::Edit> coarsen(const emulator::Kernel& kernel, const BlockPlan& plan,
                               const CoarsenOptions& options, CoarsenReport& report);

} // namespace ptxasw::passes
