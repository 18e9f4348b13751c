// The coverage query along the trips of a loop.
//
// A load D is covered by a load S of the same loop when the trip before read in S the very bytes
// that this trip needs in D:   S(t - 1) = D(t)   for every trip t but the first, in which D's own
// bytes are loaded ahead of the loop. `t` is the trip atom of the emulator, and what changes from
// trip to trip in another way has no value in the trip before (TripShift). The thread is its own
// source: it does not matter which other lanes run, or whether they are in other trips.
// ../rewrite/ROTATION.md has the whole argument. Conditions, and where each is checked:
//   the loop is one block, which ends with the branch back to itself: entered,
//   it runs S and D in every trip, and D in the first one                      plan_loop
//   S and D are no volatile or ordered accesses, all of their bytes are
//   loaded, no predicate holds them back                                       ineligible
//   same width and kind of value; a plain D has a plain S                      try_source
//   nothing behind S in the trip before or ahead of D in this one may have
//   changed the bytes, or made the thread wait for others                      undisturbed
//   the addresses                                                              prove
//   what D's address takes can be computed ahead of the loop                   slice_of
#pragma once

#include "emulator/emulate.hpp"
#include "reuse/check_places.hpp"
#include "reuse/relaxed.hpp"
#include "symbolic/solver.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::reuse {

// How a term changes from a trip of a loop to the one before.
class TripShift {
public:
  TripShift(emulator::Kernel& kernel, std::uint32_t loop)
      : c_(*kernel.context), trip_(kernel.trace.trips[loop]) {}

  // t in the trip before; nothing if t depends on a value that the loop finds anew in each trip.
  std::optional<sym::Term> before(sym::Term t);
  // The same for a proof that does not rest on how before() works.
  [[nodiscard]] sym::Context::Substitution meaning() const;

private:
  [[nodiscard]] bool varies_freely(sym::Term atom) const;

  sym::Context& c_;
  sym::Term trip_;
};

// One load whose value the trip before had.
struct Carried {
  std::size_t event = 0;  // D
  std::size_t source = 0; // S, of the trip before
  std::vector<NoWrap> checks;
  std::vector<IndexFact> promised; // the same, but the user vouches for them
  std::vector<ptx::InstId> slice;  // what computes D's address within a trip, in order
  bool needs_copy = false;         // S's registers are overwritten before the trip ends
  sym::ProofKind proof = sym::ProofKind::none;
};

struct RotatedLoop {
  std::uint32_t loop = 0;
  analysis::BlockId block = 0;
  std::vector<Carried> loads; // in program order
};

struct RotateOptions {
  bool no_index_wrap = false; // promised by the user
  bool paranoid = false;      // Z3 repeats every normal-form proof
};

struct RotationPlan {
  std::vector<RotatedLoop> loops;          // those with something to carry
  std::map<std::size_t, std::string> kept; // by event, loads in loops: why it is not carried
};

RotationPlan find_rotations(emulator::Kernel& kernel, sym::Solver& solver,
                            const RotateOptions& options);

} // namespace ptxasw::reuse
