// See launched.hpp.
#include "cost/launched.hpp"

#include <algorithm>

namespace ptxasw::cost {
namespace {

constexpr double block_cycles = 141; // of one SM, from one block to the next

} // namespace

double launched_gain(const Profile& profile, const CoarsenBaseline& original,
                     const CoarsenCandidate& candidate, unsigned threads) {
  if (!original.usage || !candidate.usage) return 0;
  Profile divided = profile;
  divided.coarsen.idle = 0;
  const auto cycles = [&](const CoarsenWork& work, const KernelUsage& usage,
                          const Coarsening& how) {
    const double warps = std::max(1U, threads / warp_lanes) * how.copies();
    return std::max(coarsened_cycles(divided, original, work, usage, how, threads),
                    block_cycles / warps);
  };
  return cycles(original.work, *original.usage, {}) /
         cycles(candidate.work, *candidate.usage, candidate.how);
}

} // namespace ptxasw::cost
