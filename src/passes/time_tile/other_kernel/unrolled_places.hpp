// What the copies of an unrolled loop have in common: how registers move from place to place, and
// that each copy stores what another kernel does, with a thread for each place.
#pragma once

#include "passes/time_tile/other_kernel/same_values.hpp"
#include "passes/time_tile/other_kernel/unrolled_loop.hpp"
#include "passes/time_tile/step/step.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

// A register that is moved on by `by` for each place, or that is loaded anew from an address that
// is.
struct MovedRegister {
  ptx::RegId reg = 0;
  IntegerPolynomial by;
  std::optional<ptx::InstId> load; // of what it has at the first place
};

struct UnrolledPlaces {
  Why refused; // why these are no such places; nothing else is then valid
  // What is left, for a place, begins with these as they are there.
  std::vector<MovedRegister> moved;
  StepPlan::Walk walk;
};

// Places count from 0 along the axis.
UnrolledPlaces find_places(emulator::Kernel& kernel, const UnrolledLoop& loop, unsigned axis);

// Is each store of either loop that of `other`, of the place that it is for? Else the places are
// refused. What that rests on is added to them.
void compare_places(emulator::Kernel& kernel, const UnrolledLoop& loop, unsigned axis,
                    emulator::Kernel& other, UnrolledPlaces& places);

} // namespace ptxasw::passes
