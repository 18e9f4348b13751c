// What is known of each chip. Every row says all of its numbers; those of chips that nobody has
// measured are stated by the vendor or taken from the H200's, which the row says, and more is asked
// of a gain there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::numbers {

enum class Provenance : std::uint8_t { measured, estimated };

// Cycles of one SM's load/store pipe per warp instruction.
struct Cost {
  double cycles = 0;
  Provenance provenance = Provenance::estimated;
  std::string_view source; // where the number comes from: an origin of numbers.def
};

// Constants of the coarsening model (passes/coarsen/cost/cost.hpp); numbers.def says what each is.
struct CoarsenConstants {
  double memory, l2, wavefront, instruction, start, idle, latency, overlap, scattered, apart;
  double launch, tail, block, cover, occupancy;
  double barrier, load_latency;
  double margin;      // least gain, on average over launches
  double worst;       // and of each of them
  double least_waves; // of full SMs that a launch must leave, or it runs as before
  Provenance provenance;
  bool harmless; // refuse ways by which some launch is likely to lose
};

struct Chip {
  std::string_view architecture; // "sm_90"
  std::string_view name;         // "Hopper"
  Cost shuffle;                  // one 32-bit shfl.sync
  Cost load;                     // a load that hits one line of L1
  Cost line;                     // each further line of the same load
  Cost corner;                   // a guarded load with active lanes in one line only
  Cost guard;                    // predicates and moves of one guarded shuffle, as cycles
  Cost fetch;                    // a line from L2, while all SMs fetch some
  double margin;                 // the load must cost this many times the shuffle
  double kernel_margin;          // all accesses of the kernel, before against after
  double rotate_margin;          // the same of a loop and its rotation
  unsigned rotate_registers;     // that may carry values
  CoarsenConstants coarsen;
  unsigned processors; // SMs
  unsigned threads_per_sm;
  unsigned registers_per_sm;
  unsigned shared_per_sm; // bytes

  [[nodiscard]] bool measured() const; // every cost that decides about shuffles was
};

std::span<const Chip> chips();

// "sm_90", also with a feature suffix (sm_90a, sm_100f); nullptr where nothing is known.
const Chip* find_chip(std::string_view architecture);

// Whose numbers decide for an architecture, for people: "" where they are its own, measured.
std::string whose_numbers(std::string_view architecture);

} // namespace ptxasw::numbers
