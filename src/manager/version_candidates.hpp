// Which ways of a kernel are worth an entry beside it, and what a launch contract says that they
// gain.
#pragma once

#include "contract/contract.hpp"
#include "oracle/printed.hpp"
#include "passes/coarsen/search/candidates.hpp"
#include "ptxasw/options.hpp"
#include "target/profile.hpp"

#include <array>
#include <optional>
#include <vector>

namespace ptxasw::manager {

// A way to coarsen, with what it gains by launch.
struct VersionCandidate {
  Coarsening how;
  std::vector<contract::Gain> gains;
  double best = 0, usual = 0; // the most of it; its sum over larger launches
};

// For each number of copies the way that gains most in some launch and the one that gains most on
// average over larger ones; and one that leaves x alone.
[[nodiscard]] std::vector<VersionCandidate> best_candidates(const target::Profile& profile,
                                                            const passes::CoarsenChoices& choices);

// What the standard form gains, and the kernel as it was, where that is told by the size of the
// launch alone: one that is too small for its blocks to be merged runs the original body behind a
// question, and would better not be asked.
struct Asked {
  std::vector<contract::Gain> standard, original;
};
[[nodiscard]] std::optional<Asked> asked_gains(const oracle::Changed& kernel,
                                               const target::Profile& profile);

// Of the standard form beside its kernel: as above, or what is usual where other rewrites are in
// it.
[[nodiscard]] std::vector<contract::Gain> gains_of_standard(const oracle::Changed& kernel,
                                                            const target::Profile& profile);

// The shapes of blocks worth a try, each as a variant of the one entry, of a kernel that asks for
// its place along these axes.
[[nodiscard]] std::vector<contract::Variant> shapes_of(const std::array<bool, 3>& axes);

} // namespace ptxasw::manager
