// One round of the fuzzer: rewrite a kernel by force, compare the two on the interpreter; and make
// a failing kernel small.
#pragma once

#include "passes/coarsen/find/block.hpp"
#include "ptxasw/options.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace ptxasw::fuzz {

enum class Rewrite : std::uint8_t { shuffle, coarsen, remap, shipped, trees, versions };
inline constexpr Rewrite rewrites[] = {Rewrite::shuffle, Rewrite::coarsen, Rewrite::remap};

struct Round {
  std::string rewritten;                      // empty: unchanged
  unsigned loads = 0, covered = 0;            // of a coarsened kernel: in all copies
  unsigned equal = 0, left_out = 0;           // launches
  bool in_registers = false, rotated = false; // trees, loops
  std::string problem;                        // empty: fine
};

// Every shuffle forced on. Seeds differ in what is emitted (with checks that trap, with a branch
// around the corner case) and in whether the block shape is promised.
Options everything_on(std::uint64_t seed);
// `harm`: changes the rewritten text before it is run, to see that this is found.
Round check_shuffles(const std::string& text, std::uint64_t seed, const Options& options,
                     const std::function<void(std::string&)>& harm = {});

// How a kernel is coarsened: factors, order of the copies, rows or blocks, who divides the grid
// (and with that, whether threads have regions), which launches are too small.
struct Merge {
  passes::BlockOptions plan;
  CoarsenGrid grid = CoarsenGrid::kernel;
  std::uint64_t least_threads = 0;
};
Merge merge_of(std::uint64_t seed);
Round check_coarsening(const std::string& text, std::uint64_t seed, const Merge& merge);

// Blocks or threads do each other's work, in a way that the seed picks; sometimes on top of
// shuffles.
Round check_remap(const std::string& text, std::uint64_t seed);

// As users run it, nothing forced: by default or with --coarsen=auto, with the real ptxas to ask
// where there is one. What auto makes depend on the size of the launch is made to run in any.
Round check_shipped(const std::string& text, std::uint64_t seed);

// Each version that --variants adds, launched as its contract says, with the real ptxas to ask;
// without one there are none. `loads` are versions, `covered` those of which a launch was compared.
Round check_versions(const std::string& text, std::uint64_t seed);

// Trees in registers and loops that carry values, for the most part alone; blocks of whole warps
// for the most part.
Options trees_on(std::uint64_t seed);
Round check_trees(const std::string& text, std::uint64_t seed, const Options& options);

Round check(const std::string& text, std::uint64_t seed, Rewrite rewrite);

// Deletes lines as long as `still_fails` holds.
std::string shrink(const std::string& text,
                   const std::function<bool(const std::string&)>& still_fails);

} // namespace ptxasw::fuzz
