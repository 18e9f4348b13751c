// What a user can ask of the optimizer. The same options travel as `--NAME[=VALUE]` of a
// sub-command, as `--ptxasw-NAME[=VALUE]` among ptxas arguments, and in PTXASW_FLAGS.
#pragma once

#include "ptxasw/coarsening.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw {

enum class ShuffleMode : std::uint8_t {
  none,      // change nothing
  all,       // every load that is provably covered
  automatic, // "auto": those that pay in every launch by the cost model of the target
  columns, // as automatic, and lanes that lie a run-time distance apart are taken to lie far apart
};

// Which values of a loop are carried to its next trip in registers
// (src/passes/loop_carry/PROOF.md).
enum class LoopCarryMode : std::uint8_t {
  none,
  all,       // every load that the iteration before has provably done
  automatic, // "auto": of those loops for which the cost model of the target says it will pay
};

// Which rounds of trees in shared memory are done in registers (src/passes/warp_reduce/PROOF.md).
enum class WarpReduceMode : std::uint8_t {
  none,
  all,       // every stretch that provably stays within a warp
  automatic, // "auto": of those that save barriers enough for the test in front of them
};

// What to emit for a covered load.
enum class Emit : std::uint8_t {
  normal,
  check, // load and shuffle both, compare, trap when they differ
};

// What to do with a kernel in which ptxas is free to choose which product an addition is fused with
// (src/passes/pin_fma).
enum class FpContract : std::uint8_t {
  exact, // leave it alone unless the choice has been pinned: results stay bitwise the same
  any,   // rewrite it all the same: results may differ in the last bit, as PTX allows
};

// Who sees to it that only every N-th block of a coarsened kernel works.
enum class CoarsenGrid : std::uint8_t {
  kernel, // the kernel: the others return at once, the host launches as before
  host,   // the host: it launches a grid divided by N, as the report and a comment in the PTX say
  // The host, for grids that N need not divide: it rounds up, and hands the sizes of the original
  // grid to the kernel as a further parameter, three u32 (src/contract/CONTRACT.md).
  launcher,
};

// Who does which work (src/passes/remap/PROOF.md).
enum class RemapKind : std::uint8_t {
  none,
  automatic,     // "auto": what the access classes of the kernel speak for, or nothing
  column,        // blocks of a grid column by column, each `width` blocks wide
  zigzag,        // the same, every other row of a column backwards
  swap,          // down first: columns one block wide
  linear_column, // elements of a kernel with x = index % n, y = index / n, `width` wide
  linear_zigzag,
  thread_swap, // `width` lanes of a warp along the next axis instead of x
};
struct Remap {
  RemapKind kind = RemapKind::none;
  unsigned width = 0;
  std::string kernel; // empty: every kernel
};

// How much the assembler is asked to choose a coarsening.
enum class Effort : std::uint8_t {
  standard, // "default": the original and the most promising ways
  thorough, // every way
};

struct Options {
  FpContract fp_contract = FpContract::exact;
  ShuffleMode shuffle = ShuffleMode::automatic;
  unsigned shuffle_max_delta = 31;
  LoopCarryMode loop_carry = LoopCarryMode::automatic;
  unsigned loop_carry_iterations = 0; // of a rotated loop, one after another; 0: as the model says
  WarpReduceMode warp_reduce = WarpReduceMode::automatic;
  // One block does the work of so many neighbours along x, y, z (--coarsen=y:8); 1: as launched.
  std::array<unsigned, 3> coarsen{1, 1, 1};
  bool coarsen_auto = true;      // where all are 1: choose factors, order, registers by their gain
  bool coarsen_large = false;    // and most launches are large, as the user says
  unsigned coarsen_budget = 100; // thousands of instructions that ptxas may be given to try
  Effort effort = Effort::standard;
  std::string profile; // a file: what runs of the program measured (src/profile/profile.hpp)
  std::shared_ptr<const std::string> profile_text; // what is in it, where it is no file
  std::string decision_cache; // of decisions: a directory, "off", or empty for where caches are
  CoarsenGrid coarsen_grid = CoarsenGrid::kernel;
  CoarsenOrder coarsen_order = CoarsenOrder::copies;
  // Launches of fewer run as before; 0: none, or of auto's ways those that the chip has room for.
  std::uint64_t coarsen_least_threads = 0;
  unsigned coarsen_registers = 0; // .maxnreg of coarsened kernels; 0: as many as ptxas likes
  bool variants = false;          // add entries that a launcher may choose from
  // Add, for kernels that are time steps, entries that do so many launches at once; 0: none.
  unsigned steps = 0;
  bool steps_auto = false; // as many as are likely to pay
  // And for these sequences of kernels that runs of programs launched over and over: JSON, as the
  // launcher keeps it (src/contract/sequences.hpp); empty: none.
  std::string sequences;
  std::vector<Remap> remaps; // --remap=column:8@kernel; the last that fits a kernel counts
  // Rewritten kernels may use so many registers that an SM holds fewer of their blocks at a time.
  bool fewer_blocks = false;
  bool shuffle_shared = false; // also loads from shared memory
  Emit emit = Emit::normal;
  bool paranoid = false; // repeat every normal-form proof with Z3
  bool use_z3 = true;
  std::chrono::milliseconds kernel_budget{250};
  std::size_t memory_budget = std::size_t{256} << 20;
  std::size_t size_limit = std::size_t{64} << 20;    // larger files pass through unread
  std::optional<std::array<std::uint32_t, 3>> block; // --block=512x1x1: promised by the user
  std::vector<std::string> assumptions;              // --assume=no-index-wrap
  std::string dump_queries;                          // --dump-queries=DIR
  bool values = false;                               // analyze: what stores write, too
  bool details = true;      // somebody will read what the report says of each access
  std::string architecture; // --arch=sm_90; empty: the module's .target
};

// Is any rewrite switched on?
[[nodiscard]] inline bool rewrites(const Options& options) {
  return options.shuffle != ShuffleMode::none || options.loop_carry != LoopCarryMode::none ||
         options.warp_reduce != WarpReduceMode::none || options.coarsen_auto ||
         options.coarsen != std::array{1U, 1U, 1U} || !options.remaps.empty();
}

// Are entries to be added that a launcher may choose from?
[[nodiscard]] inline bool further_entries(const Options& options) {
  return options.variants || options.steps != 0 || options.steps_auto;
}

// What was asked for a kernel: the last that names it, else the last that names none.
[[nodiscard]] Remap remap_of(const Options& options, std::string_view kernel);
// "column:32", "swap"
[[nodiscard]] std::string text_of(const Remap& remap);

// One NAME or NAME=VALUE without leading dashes. Returns an error message for people, or nothing.
[[nodiscard]] std::optional<std::string> apply_option(Options& options,
                                                      std::string_view name_value);

// NAME or NAME=VALUE as it was before: what it is now (empty: it is gone, and ignored), and what to
// tell whoever gives it. apply_option takes such options, too.
struct FormerOption {
  std::string_view before, now, says;
};
// Null: `name_value` is none.
[[nodiscard]] const FormerOption* former_option(std::string_view name_value);

// Names, value forms and one line of help each, for --help and the manual.
struct OptionHelp {
  std::string_view name, value, help;
};
const std::vector<OptionHelp>& option_help();

} // namespace ptxasw
