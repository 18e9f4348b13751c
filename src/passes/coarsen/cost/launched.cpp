// The model of coarsening.hpp without the blocks that return at once.
#include "passes/coarsen/cost/launched.hpp"

#include <algorithm>

namespace ptxasw::passes {

double launched_gain(const target::Profile& profile, const CoarsenBaseline& original,
                     const CoarsenCandidate& candidate, unsigned threads, double waves) {
  if (!original.usage || !candidate.usage) return 0;
  CoarsenBaseline whole = original;
  whole.memory_bytes += original.gathered_bytes;
  target::Profile divided = profile;
  divided.coarsen.idle = 0;
  divided.coarsen.block /= candidate.how.copies();
  const double held =
      original.at_work * static_cast<double>(profile.processors) * profile.threads_per_sm;
  const auto gain = [&](bool in_l2) {
    const LaunchShape launch{.blocks = waves * held / threads, .threads = threads, .in_l2 = in_l2};
    return launch_cycles(profile, whole, whole.work, *whole.usage, {}, launch) /
           launch_cycles(divided, whole, candidate.work, *candidate.usage, candidate.how, launch);
  };
  return std::min(gain(false), gain(true));
}

} // namespace ptxasw::passes
