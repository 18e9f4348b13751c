// Branches of which both sides lead to stores: for step.cpp.
#pragma once

#include "passes/time_tile/step/step_conditions.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "passes/time_tile/step/step_region.hpp"

namespace ptxasw::passes {

// Writes into the plan on which side of each the interior is: that which more places take. Empty,
// or which branch is of another form.
Why find_forks(const emulator::Kernel& kernel, const StepRegion& region,
               const IntegerPolynomialReader& reader, const StepPlaces& places, StepSizes& sizes,
               StepPlan& plan);

} // namespace ptxasw::passes
