// Which coarsening pays for the launches that a kernel really gets, by what a run measured of them
// (profile/profile.hpp) instead of by launches that are made up.
//
// The run had each version with a divided grid, since a launcher ran it; here blocks whose work
// others do return at once. What that takes is the model's: a version's measured gain is taken
// times the model's gain of this form over that of a divided grid. From how many threads on a
// launch is merged follows from the launches, too: smaller than the smallest that gains, larger
// than the largest that does not, and between these two where the model has it. Those that are not
// merged run the original's body in a kernel that may have more registers, and whose body ptxas may
// have changed: what that costs them is predicted, and counts.
#pragma once

#include "profile/profile.hpp"
#include "ptxasw/coarsening.hpp"
#include "target/profile.hpp"

#include <array>
#include <vector>

namespace ptxasw::passes {

// The run timed such a version.
[[nodiscard]] bool is_timed(const profile::Kernel& run, const std::array<unsigned, 3>& factors);

// As choose_coarsening (cost.hpp); the least launch that is merged is set, too.
void choose_measured(const target::Profile& target, const CoarsenBaseline& original,
                     const profile::Kernel& run, std::vector<CoarsenCandidate>& candidates);

// Launches of fewer threads were among those of the run, and took part of its time.
[[nodiscard]] bool has_smaller(const profile::Kernel& run, std::uint64_t threads);

} // namespace ptxasw::passes
