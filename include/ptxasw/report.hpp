// What was found and what was done, as data. src/report turns it into text, JSON and HTML.
#pragma once

#include "ptxasw/assembler.hpp"
#include "ptxasw/coarsening.hpp"
#include "ptxasw/reason.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

enum class FactKind : std::uint8_t { architectural, path, checked, promised };
struct Fact {
  FactKind kind = FactKind::architectural;
  std::string text; // "%tid.x + 1 < %ntid.x"
};

// How one warp request falls on memory, for lanes along %tid.x.
enum class AccessClass : std::uint8_t { uniform, coalesced, strided, vertical, streaming, random };

enum class Outcome : std::uint8_t {
  kept,     // left alone; `kept` says why
  shuffled, // from lane + delta
  moved,    // delta 0: the value was in a register already
  carried,  // from the iteration before of its loop
};

struct AccessReport {
  std::uint32_t ptx_line = 0;    // in the input
  std::uint32_t source_line = 0; // by .loc, 0 if unknown
  std::string source_file;
  bool is_store = false;
  std::string space;                       // "global"
  unsigned bytes = 4;                      // per lane
  std::string qualifiers;                  // ".nc", ".volatile", ...
  std::string address;                     // the address term
  std::vector<std::string> values;         // of a store: what it writes, if that was asked for
  std::optional<std::int64_t> lane_stride; // bytes between neighbouring lanes; none: not affine
  std::array<unsigned, 2> sectors{1, 32};  // fewest and most 32-byte sectors per warp request
  AccessClass access = AccessClass::random;
  std::uint32_t loop_depth = 0;

  Outcome outcome = Outcome::kept;
  Why kept;
  int delta = 0;
  std::uint32_t source_ptx_line = 0; // of the load that supplies the value
  std::vector<Fact> facts;
  std::string proof; // "normal form", "Z3"
};

// --coarsen=auto: the original's work per warp, and every candidate that was weighed, best first.
struct CandidatesWeighed {
  CoarsenBaseline as_it_is;
  std::vector<CoarsenCandidate> ways;
};

// What a block of an entry for several time steps holds of the line along which elements lie side
// by side, in places.
struct StepTile {
  unsigned count = 0;                          // steps; 0: there is no such entry
  unsigned width = 0;                          // of all of it
  unsigned before = 0, behind = 0;             // that lie beside the centre, which is stored
  unsigned reads_before = 0, reads_behind = 0; // how far to either side one step reads
};

// What would change a kernel, as far as it was tried or follows from its form.
struct Hint {
  std::string what; // "--coarsen=large": what to give, to run or to write
  std::string text; // when that helps, and how much, for people
  double gain = 0;  // predicted: time of the original over time of what comes of it; 0: not known
};

struct KernelReport {
  std::string name;
  std::uint32_t ptx_line = 0;
  bool analyzed = false;
  Why left_alone; // as a whole; empty if it was not
  std::vector<AccessReport> accesses;
  unsigned loads = 0, covered = 0, shuffles = 0, moves = 0, carried = 0;
  double mean_delta = 0; // mean |delta| of the shuffles
  double milliseconds = 0;
  unsigned solver_queries = 0, z3_queries = 0;
  unsigned fusable = 0;      // additions whose products ptxas may or may not fuse
  unsigned foldable = 0;     // approximate functions that ptxas may or may not fold
  unsigned pinned = 0;       // additions that are written as ptxas fuses them by itself
  bool pinned_bytes = false; // which gives the very machine code of the original
  // What came of each rewrite: of --coarsen, --remap, --loop-carry, --warp-reduce, --shuffle; and
  // of
  // --steps, which is described where it was not asked for, too ("a time step ...").
  Decision coarsening, remapping, rotation, rounds, shuffling, steps;
  // The host must launch a grid that is so many times smaller (--coarsen-grid=host, launcher). What
  // is left over stands by itself: as many blocks more as fill no group.
  std::array<unsigned, 3> grid_divided_by{1, 1, 1};
  bool grid_rest_by_itself = false;
  // Of a kernel that stays as it was: so do its launches.
  void keep_grid() {
    grid_divided_by = {1, 1, 1};
    grid_rest_by_itself = false;
  }
  CandidatesWeighed weighed;
  StepTile step_tile;               // of an entry for several time steps, or what it would be
  std::vector<std::string> entries; // that were added beside it
  std::vector<Hint> hints;
  bool hints_sought = false; // without any, nothing is known that helps
  bool changed = false;
};

// A kernel that was rewritten, and is as it was again because of what the assembler said.
struct Reverted {
  std::string kernel;
  std::optional<Usage> before, after; // none: not known
  std::string refusal;                // what it said where it did not take the kernel at all
  std::string body_changed;           // how, where launches that are not merged would lose by it
};

// What one pass did in a module.
struct PassStatistics {
  std::string pass;                  // its folder
  unsigned planned = 0, changed = 0; // kernels in which it had a plan, and that it rewrote
  double find_ms = 0, emit_ms = 0;
};

struct Message {
  std::uint32_t line = 0, column = 0;
  std::string text; // rendered: file:line:column: ...
};

struct Report {
  std::string file;
  std::vector<KernelReport> kernels;
  std::vector<Message> messages;
  std::vector<std::string> warnings; // to be said wherever the module is compiled, a line each
  std::vector<Reverted> reverted;
  std::size_t statements = 0, opaque_statements = 0, bytes = 0, opaque_bytes = 0;
  unsigned parses = 0, emulations = 0; // of modules, of kernels
  unsigned trials = 0;                 // texts given to ptxas to find out which coarsening pays
  unsigned calls = 0;                  // of ptxas, all together
  // What an assembler would have been asked, had there been one: "which of 9 ways pays in k".
  std::vector<std::string> unmemoized;
  double search_ms = 0;               // that they took
  std::vector<PassStatistics> passes; // in their order
  double parse_ms = 0, analyze_ms = 0, print_ms = 0;
};

} // namespace ptxasw
