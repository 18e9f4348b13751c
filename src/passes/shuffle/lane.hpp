// The coverage query along the lane axis.
//
// A load D is covered by an earlier load S with delta N when lane x + N of the same warp read in S
// the very bytes that lane x needs in D:   S(x + N) = D(x)   for every %tid.x, given the facts of
// src/README.md's rules. `x` is %tid.x (and %laneid with it); what the rewrite checks at run time
// is listed in the Cover. Conditions, and where each is checked:
//   S dominates D, same innermost loop, warp-uniform trips around     try_cover, ineligible
//   S took effect in lane x + N (guard)                               source_executed
//   nothing in between may have changed the bytes for lane x          undisturbed
//   S's register still has the value, or a copy is kept               ReuseSource::needs_copy
//   lane x has not stored the bytes ahead of S, unordered with S      rests_on_own_store
//   same width and kind of value                                      same_shape
//   all bytes of S and D are loaded; a plain D has a plain S          ineligible, try_cover
//   the addresses                                                     prove
//   the address means the same memory in both lanes                   global_address, space_check
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/justification.hpp"
#include "ptxasw/options.hpp"
#include "symbolic/solver.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace ptxasw::passes {

struct ReuseSource : Justification {
  std::size_t load = 0;     // the source: its number among the plan's loads, if it is one,
  std::size_t source = 0;   // and its event
  int delta = 0;            // 0: the lane itself has the value
  bool needs_copy = false;  // S's register is overwritten before D
  bool row_check = true;    // %tid.x + delta may leave the row of the block
  bool space_check = false; // generic addresses: D's may be another lane's own memory
};

struct Load {
  std::size_t event = 0;
  Stride lane_stride;      // from lane to lane
  Stride iteration_stride; // from iteration to iteration of the innermost loop; 0 outside of loops
  std::optional<ReuseSource> cover;
  Why kept; // why it is not covered
};

struct LaneOptions {
  unsigned max_delta = 31;
  bool shared = false;                  // also shared memory
  bool no_index_wrap = false;           // promised by the user (--assume=no-index-wrap)
  bool paranoid = false;                // Z3 repeats every normal-form proof
  std::array<std::uint32_t, 3> block{}; // known block shape, zeros where unknown
  // Where no load can pay, if the lane at this distance had its value, none is looked at further,
  // and none is covered. What does not pay at distance 1 pays at none but 0. Empty: any could.
  std::function<bool(const Load&, int delta)> could_pay;
};

struct LanePlan {
  std::vector<Load> loads; // in program order
};

LanePlan find_lane_reuse(emulator::Kernel& kernel, sym::Solver& solver, const LaneOptions& options);

} // namespace ptxasw::passes
