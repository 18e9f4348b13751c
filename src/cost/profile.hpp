// When a shuffle is cheaper than the load it replaces, per architecture.
//
// A covered load reads what another lane of the same warp loaded a moment ago, so it hits L1. What
// such a hit costs is the number of cycles it keeps the SM's load/store pipe busy, and that grows
// with the number of 128-byte lines its lanes touch. The shuffle goes through the same pipe, once
// per 32 bits, and so does the corner-case load of the lanes that have no partner. On every chip
// since Volta the three together cost more than one coalesced hit and far less than a hit that
// touches 32 lines. The profile says how much; profiles.hpp holds the numbers.
#pragma once

#include "cost/access.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::cost {

enum class Provenance : std::uint8_t { measured, estimated };

// Cycles of one SM's load/store pipe per warp instruction.
struct Cost {
  double cycles = 0;
  Provenance provenance = Provenance::estimated;
  std::string_view source; // where the number comes from
};

// A thread block of 1024 threads has 64 registers a thread; no launch fails below that.
inline constexpr unsigned registers_for_any_block = 64;

// Constants of the coarsening model (coarsening.hpp): cycles of one SM. Those down to `occupancy`
// are fitted to 1572 launches and ways on an H200:
//   bench/fit bench/results/h200/ways.json.gz
struct CoarsenCosts {
  double memory = 0.05416;      // a byte from or to DRAM
  double l2 = 0.01035;          // a byte that the L2 cache holds
  double wavefront = 0.8217;    // of the load/store pipe
  double instruction = 0.02354; // issued to one of the SM's four schedulers
  double start = 715.3;         // of a warp, until it does something, and its end
  double idle = 388.0;          // of a warp that returns at once
  double latency = 0.446;       // share of the latency that is not hidden within a warp
  double overlap = 1.5;         // the exponent: 1 nothing overlaps
  double scattered = 0.6673; // what rows of many copies cost a kernel that writes more than reads
  double apart = 0.04467;    // what copies along z cost more, at most: their rows are far apart
  double launch = 2039;      // before the first block starts
  double tail = 2.928;       // of what one warp takes alone, at both ends of a launch
  double block = 158.0;      // between the starts of two blocks
  double cover = 12.0;       // the exponent with which that hides behind the rest
  double occupancy = 0.2224; // of warps that are missing
  // What a warp waits at a barrier: fitted to half of the kernels of suite M (a third less off, the
  // others as well; src/rewrite/COARSENING.md, section 8)
  double barrier = 250;
  double load_latency = 400; // for the straight path
  double margin = 1.2;       // least gain, on average over launches
  double worst = 0.97;       // and of each of them
  double least_waves = 6;    // of full SMs that a launch must leave, or it runs as before
  Provenance provenance = Provenance::estimated;
  bool harmless = true; // refuse ways by which some launch is likely to lose
};

struct Profile {
  std::string_view architecture; // "sm_90"
  std::string_view name;         // "Hopper"
  Cost shuffle;                  // one 32-bit shfl.sync
  Cost load;                     // a load that hits one line of L1
  Cost line;                     // each further line of the same load
  Cost corner;                   // a guarded load with active lanes in one line only
  Cost guard;                    // predicates and moves of one guarded shuffle, as cycles
  // A line that one SM brings into L1 from L2 while all others do the same.
  Cost fetch{3.0, Provenance::estimated, "L2 delivers about 5120 bytes per clock to 108..132 SMs"};
  double margin = 1.5;        // the load must cost this many times the shuffle
  double kernel_margin = 1.5; // all accesses of the kernel, before against after
  // All accesses of a loop, before against after their rotation, and the registers it may take.
  double rotate_margin = 1.15;
  unsigned rotate_registers = 32;
  CoarsenCosts coarsen;
  unsigned register_budget = registers_for_any_block;
  unsigned processors = 132; // SMs
  unsigned threads_per_sm = 2048;
  unsigned registers_per_sm = 65536;
  unsigned shared_per_sm = 228U << 10; // bytes

  [[nodiscard]] bool measured() const; // every cost that decides was measured
};

std::span<const Profile> profiles();

// "sm_90", also with a feature suffix (sm_90a, sm_100f); nullptr when there is no profile.
const Profile* find_profile(std::string_view architecture);

struct ShuffleCandidate {
  unsigned bytes = 4;                      // of the covered load, per lane
  Lane lane = Lane::unknown;               // how its address depends on the lane
  std::optional<std::int64_t> lane_stride; // bytes, when constant
  Range sectors{1, warp_lanes};            // per request
  int delta = 0;                           // lane + delta holds the value; 0 is a register move
  bool far_apart = false; // lanes a parametric distance apart are in lines of their own: a promise
};

struct Verdict {
  bool pays = false;
  double load_cycles = 0;    // as it stands
  double shuffle_cycles = 0; // rewritten: shuffles, guard and corner-case load
  std::string reason;        // for people: the numbers behind the decision

  [[nodiscard]] double gain() const { return load_cycles - shuffle_cycles; }
};

Verdict shuffle_verdict(const Profile& profile, const ShuffleCandidate& candidate);

// Cycles of the load/store pipe for an access as it stands.
double access_cycles(const Profile& profile, const ShuffleCandidate& access);

// A few cheap loads among many dear ones change nothing: the pipe must be relieved as a whole. On
// an H200 `heat_t` (2 of 5 column loads covered, predicted 1.3) ran at 0.95, `transposed1` (2 of 3,
// predicted 2.4) at 1.6 and `transposed4` (8 of 9) at 3.3 times the speed of the untouched kernel.
bool kernel_pays(const Profile& profile, double cycles_before, double cycles_after);

// By name: an architecture without a profile never pays.
Verdict shuffle_verdict(std::string_view architecture, const ShuffleCandidate& candidate);

inline bool shuffle_pays(const Profile& profile, const ShuffleCandidate& candidate) {
  return shuffle_verdict(profile, candidate).pays;
}

} // namespace ptxasw::cost
