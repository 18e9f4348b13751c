// Should a kernel with x = e % width and y = e / width, e a linear index, walk its elements in
// columns? Told without a launch; tools/cachesim counts what a launch really fetches.
#pragma once

#include "ptxasw/reason.hpp"
#include "target/profile.hpp"

#include <span>
#include <string>

namespace ptxasw::passes {

// One load of such a kernel's innermost loop. Elements beside each other along x lie so in memory.
struct LinearLoad {
  bool follows_x = false, follows_y = false; // its address depends on x, on y
  bool shares_line = false; // an earlier one is a few bytes away: no new line comes for it
  unsigned bytes = 4;
};

struct ColumnProposal {
  unsigned width = 0;            // of linear-column; 0: stay as it is
  double fetch_ratio = 1;        // lines brought into L1, columns against naive
  double speed = 1;              // predicted by the busier of L1 and the path to L2
  std::string reason;            // for people
  Reason against = Reason::none; // where nothing is proposed
};

// Conservative: the planes are taken as too large for L1 to hold rows, a block as `threads` threads
// (0: not known) in step and alone on its multiprocessor, and a small gain is none. On an H200
// products of 1024 to 4096 in blocks of 128 to 1024 threads ran 1.01 to 1.34 times as fast in
// columns of 64, 0.97 to 1.33 in columns of 32 (bench/results/remap/results.md).
ColumnProposal propose_columns(const target::Profile& profile, std::span<const LinearLoad> loads,
                               unsigned threads = 0);

} // namespace ptxasw::passes
