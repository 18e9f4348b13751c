// When carrying values from iteration to iteration pays: cycles of the load/store pipe of one trip,
// before and after.
//
// A load that the iteration before has done hits L1, so what it costs is the pipe (profile.hpp).
// What takes its place is a register that lives through the loop and a move, which the other pipes
// do beside it. So rotation pays where the pipe is what a loop waits for and much of its work goes;
// compilers unroll small loops, and what their copies share ptxas loads once by itself, so that
// little is left to carry.
//
// Measured on an H200 on 2026-11-22 (stars of radius 1 to 4 that march through 512^3 words or 384^3
// doubles, blocks of 32x8 and 128x2, 64 launches, the median of ten in interleaved rounds): words
// whose indices need no check 1.03 to 1.60; words with a check 0.53 to 1.01, for it costs as much
// as the loads and often an occupancy; doubles 0.82 to 1.65, and no knowing when. So words without
// checks are what pays.
#pragma once

#include "ptxasw/coarsening.hpp"
#include "target/profile.hpp"

#include <optional>
#include <span>
#include <string>

namespace ptxasw::passes {

struct LoopCarryWork {
  double before = 0, after = 0; // cycles of the pipe for a warp and a trip
  unsigned loads = 0;           // carried
  unsigned registers = 0;       // of 32 bits, that carry them
  bool checked = false;         // an index is checked in each trip
  bool wide = false;            // values of more than 32 bits
};

struct LoopCarryVerdict {
  bool pays = false;
  std::string reason; // the numbers behind it, for people
};

LoopCarryVerdict loop_carry_verdict(const target::Profile& profile, const LoopCarryWork& work);

// How the loops of a kernel are rotated.
struct LoopCarryCandidate {
  unsigned iterations = 1; // written one after another, where that is possible
  unsigned registers = 0;  // .maxnreg; 0: as many as ptxas likes
  friend bool operator==(const LoopCarryCandidate&, const LoopCarryCandidate&) = default;
};

struct LoopCarryTrial {
  LoopCarryCandidate way;
  std::optional<Usage> usage; // none: ptxas did not take it
};

// The registers that a rotated kernel may be told to use; 0: none that are worth telling. As many
// blocks as of the original stay resident where they have to.
unsigned loop_carry_limit(unsigned original, const std::optional<BlockSizes>& resident);

// Which of the ways to take: the first, which is without a limit, unless another one waits less.
LoopCarryCandidate choose_buffers(const target::Profile& profile, const Usage& original,
                                  std::span<const LoopCarryTrial> trials);

} // namespace ptxasw::passes
