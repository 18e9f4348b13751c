// Does it pay to coarsen a kernel, and which way pays most?
//
// The model: cycles that one SM spends for each warp of the original launch. Four things take time,
// and they overlap only in part:
//
//   memory       bytes that have to come from or go to DRAM, or to the L2 cache if that holds the
//                arrays from launch to launch; kernels that write more than they read pay for the
//                scattered rows of several copies
//   wavefronts   of loads and stores in the load/store pipe: what coarsening saves most of
//   instructions of the straight way through the machine code, per copy
//   latency      what a warp that runs alone needs (straight_path.hpp), what it costs to start it,
//                and the warps of blocks that return at once; divided by the warps that share the
//                SM
//
//   each = (memory^p + wavefronts^p + instructions^p + latency^p)^(1/p) * (1 + o*(full/warps - 1))
//   time = launch + tail * latency of one warp + warps * max(each, starting blocks)
//
// with p between 1 (nothing overlaps) and infinity (all does), and a price for every warp that does
// not fit because of registers. In a loop that price is paid once, and what counts is how long a
// trip takes. Blocks start no faster than one in so many cycles, however little they do, and those
// that return at once have to start as well: nothing is gained where that is the limit (blocks of
// 64 and 128 threads, mostly). What the first and last warps wait alone is why small launches lose.
//
// The launch is not known. A gain is the geometric mean over launches that leave `least_waves` and
// more, in blocks of 64 to 1024 threads, with their data in DRAM and in the L2 cache; and each of
// these has to be no worse than `worst`. Smaller launches run as before (least_threads), but for
// the question.
//
// bench/coarsen_model.py says the same in Python for bench/fit, which fits the constants of sm_90;
// those of other architectures are the same, and a larger gain is asked for.
#pragma once

#include "ptxasw/coarsening.hpp"
#include "target/profile.hpp"

#include <cstdint>
#include <vector>

namespace ptxasw::passes {

struct LaunchShape {
  double blocks = 0;      // of the original
  unsigned threads = 256; // of a block
  bool in_l2 = false;     // all arrays fit the L2 cache
};

// Cycles of a launch; `usage` must be known.
double launch_cycles(const target::Profile& profile, const CoarsenBaseline& original,
                     const CoarsenWork& work, const Usage& usage, const Coarsening& how,
                     const LaunchShape& launch);

// Time before over time after, of one launch.
double launch_gain(const target::Profile& profile, const CoarsenBaseline& original,
                   const CoarsenCandidate& candidate, const LaunchShape& launch);

struct ExpectedGain {
  double mean = 0, worst = 0;
};

// Over the launches that are not left as before, in blocks of the size that the kernel states or of
// all sizes; 0 if ptxas was not asked.
ExpectedGain expected_gain(const target::Profile& profile, const CoarsenBaseline& original,
                           const CoarsenCandidate& candidate);

// The mean of it.
double coarsening_gain(const target::Profile& profile, const CoarsenBaseline& original,
                       const CoarsenCandidate& candidate);

// The profile for programs most of whose launches are large: three waves are enough, and small
// launches may lose by being asked for their size.
target::Profile for_large_launches(const target::Profile& profile);

// Launches of fewer threads leave the chip too little to do once `how.copies()` blocks are one.
std::uint64_t least_threads(const target::Profile& profile, const Coarsening& how);

// Empty, or why the candidate must not be taken, whatever it gains: ptxas was not asked, the kernel
// might no longer launch, registers are spilled, or its code does not look as expected.
Why why_not(const CoarsenBaseline& original, const CoarsenCandidate& candidate);

// Empty, or why some launch is likely to be slower whatever an assembler makes of the way and
// whatever others gain: nothing is known of machine code.
Why never_taken(const target::Profile& profile, const CoarsenBaseline& original,
                const CoarsenCandidate& candidate);

// As many as may be merged where small launches must not lose.
unsigned most_copies(const target::Profile& profile);

// The same of kernels that do too little to be asked for the size of their launch; `original.usage`
// may be a guess, and then `least` is how much shorter it has to be for that.
Why too_short(const target::Profile& profile, const CoarsenBaseline& original, double least = 1);

// Fills in gains and verdicts, puts the best first, and marks the one to take, if one pays. Of ways
// that gain nearly the same, the one with the fewest copies is taken, and in a loop the one that
// waits least.
void choose_coarsening(const target::Profile& profile, const CoarsenBaseline& original,
                       std::vector<CoarsenCandidate>& candidates);

// The register limits worth trying for a candidate that uses `registers` when left to itself: the
// one at which as many blocks are resident as of the original, where they have to be; else those at
// which as many warps are, and at which blocks of any size launch. The usage must be known.
std::vector<unsigned> register_limits(const target::Profile& profile,
                                      const CoarsenBaseline& original, unsigned registers);

// Fewer warps are resident than of the original, and blocks of any size would launch with more
// registers: ptxas, which stops where it sees a loss of warps, may do better with them.
bool may_want_more_registers(const target::Profile& profile, const CoarsenBaseline& original,
                             unsigned registers);

} // namespace ptxasw::passes
