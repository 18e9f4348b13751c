// One way to coarsen a kernel, and what is known of it: the same words in options, in the search
// for the best way, and in the report.
#pragma once

#include "ptxasw/assembler.hpp"
#include "ptxasw/reason.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace ptxasw {

// How the copies of a coarsened kernel's body stand to each other
// (src/passes/coarsen/find/block_order.hpp).
enum class CoarsenOrder : std::uint8_t { instructions, copies };

struct Coarsening {
  std::array<unsigned, 3> factors{1, 1, 1}; // blocks along x, y, z whose work one block does
  CoarsenOrder order = CoarsenOrder::copies;
  unsigned registers = 0;          // .maxnreg of the new kernel; 0: as many as ptxas likes
  std::uint64_t least_threads = 0; // launches of fewer run the original body; 0: none do
  [[nodiscard]] unsigned copies() const { return factors[0] * factors[1] * factors[2]; }
  friend bool operator==(const Coarsening&, const Coarsening&) = default;
};

// "y:4", "y:4 by instructions, 32 registers"
std::string to_string(const Coarsening& how);

// What one warp has to do for one copy of the body, on average over the copies. A loop is taken to
// make a fixed number of trips.
struct CoarsenWork {
  double wavefronts = 0;   // cycles of the load/store pipe for loads and stores
  double loads = 0;        // load instructions
  double instructions = 0; // all of them
  double repeats = 1;      // `instructions` over those that the text has
  double barriers = 0;     // at which the threads of a block meet
  unsigned shared = 0;     // bytes of shared memory that a block has, for all of its copies
};

// Of blocks that a kernel may be launched with, in threads.
struct BlockSizes {
  unsigned least = 1, most = 1024;
};

// The kernel as it stands.
struct CoarsenBaseline {
  CoarsenWork work;
  double memory_bytes = 0; // that each warp moves to or from memory if caches keep what is shared
  double stored_bytes = 0; // of these, written
  // More that it moves where addresses are data, if no cache holds what they lead to.
  double gathered_bytes = 0;
  double at_work = 1;   // of the blocks; the others leave at once
  unsigned threads = 0; // of a block, if the kernel or the user says so
  bool bounded = false; // states its block size, by .maxntid or .reqntid
  bool tuned = false;   // has performance directives, beside which there is no place for ours
  // Blocks of which as many have to stay resident on an SM (src/target/residency.hpp).
  std::optional<BlockSizes> resident = BlockSizes{};
  unsigned shared_per_sm = 0; // bytes; 0: not known
  std::optional<Usage> usage;
};

// A way that was considered.
struct CoarsenCandidate {
  Coarsening how;
  CoarsenWork work;
  std::optional<Usage> usage; // none: ptxas was not asked
  // How ptxas has changed the body that launches run which are not merged
  // (src/sass/same_body.hpp); empty: not at all, as far as it is known.
  std::string body_changed;
  std::optional<StraightPath> beside; // that way, where it has changed; none: not known
  double gain = 0;                    // predicted: time of the original over time of this; 0: none
  double worst = 0;                   // the same of the launch that it suits least
  bool chosen = false;
  Why verdict; // why it was not chosen
};

} // namespace ptxasw
