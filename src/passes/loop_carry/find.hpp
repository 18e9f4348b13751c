// The coverage query along the trips of a loop.
//
// A load D is covered by a load S of the same loop when the iteration before read in S the very
// bytes that this trip needs in D:   S(t - 1) = D(t)   for every trip t but the first, in which D's
// own bytes are loaded ahead of the loop. `t` is the trip atom of the emulator, and what changes
// from trip to trip in another way has no value in the iteration before (IterationShift). The
// thread is its own source: it does not matter which other lanes run, or whether they are in other
// trips. PROOF.md has the whole argument. Conditions, and where each is checked:
//   the loop is one block, which ends with the branch back to itself: entered,
//   it runs S and D in every trip, and D in the first one                      plan_loop
//   S and D are no volatile or ordered accesses, all of their bytes are
//   loaded, no predicate holds them back                                       ineligible
//   same width and kind of value; a plain D has a plain S                      try_source
//   nothing behind S in the iteration before or ahead of D in this one may have
//   changed the bytes, or made the thread wait for others                      undisturbed
//   the addresses                                                              prove
//   what D's address takes can be computed ahead of the loop                   slice_of
// Several trips may be written one after another if nothing but loads, stores and plain functions
// stands in the loop, and its end can be told ahead                              again_of
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/justification.hpp"
#include "symbolic/solver.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

// One load whose value the iteration before had.
struct Carried : Justification {
  std::size_t event = 0;          // D
  std::size_t source = 0;         // S, of the iteration before
  std::vector<ptx::InstId> slice; // what computes D's address within a trip, in order
  bool needs_copy = false;        // S's registers are overwritten before the trip ends
};

struct CarriedLoop {
  std::uint32_t loop = 0;
  analysis::BlockId block = 0;
  std::vector<Carried> loads; // in program order
  // What computes, in a trip and before anything else of it, whether another one follows, and what
  // that takes of the next trip; empty if this cannot be told ahead. Then trips may be written one
  // after another.
  std::vector<ptx::InstId> again;
  unsigned iterations = 1; // to be written so
};

struct LoopCarryPlan {
  std::vector<CarriedLoop> loops;  // those with something to carry
  std::map<std::size_t, Why> kept; // by event, loads in loops: why it is not carried
};

LoopCarryPlan find_carried_loops(emulator::Kernel& kernel, sym::Solver& solver,
                                 const JustificationOptions& options);

} // namespace ptxasw::passes
