// See launched.hpp.
#include "cost/launched.hpp"

#include <algorithm>

namespace ptxasw::cost {

double launched_gain(const Profile& profile, const CoarsenBaseline& original,
                     const CoarsenCandidate& candidate, unsigned threads, double waves) {
  if (!original.usage || !candidate.usage) return 0;
  Profile divided = profile;
  divided.coarsen.idle = 0;
  divided.coarsen.block /= candidate.how.copies();
  const double held = static_cast<double>(profile.processors) * profile.threads_per_sm;
  const auto gain = [&](bool in_l2) {
    const LaunchShape launch{.blocks = waves * held / threads, .threads = threads, .in_l2 = in_l2};
    return launch_cycles(profile, original, original.work, *original.usage, {}, launch) /
           launch_cycles(divided, original, candidate.work, *candidate.usage, candidate.how,
                         launch);
  };
  return std::min(gain(false), gain(true));
}

} // namespace ptxasw::cost
