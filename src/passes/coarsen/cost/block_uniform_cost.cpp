// bench/coarsen_model.py says the same.
#include "passes/coarsen/cost/block_uniform_cost.hpp"

#include "target/numbers.hpp"

#include <algorithm>

namespace ptxasw::passes {
namespace {

using numbers::sm::most_blocks;
constexpr unsigned reserved = numbers::sm::shared_of_driver, unit = numbers::sm::shared_unit;

} // namespace

double waiting_cycles(const target::Profile& profile, const CoarsenWork& work, unsigned copies) {
  return profile.coarsen.barrier * work.barriers * copies;
}

unsigned blocks_with_shared(const target::Profile& profile, unsigned bytes) {
  if (bytes == 0) return most_blocks;
  const unsigned taken = (bytes + unit - 1) / unit * unit + reserved;
  return std::clamp(profile.shared_per_sm / taken, 1U, most_blocks);
}

std::uint64_t least_threads_that_synchronize(const target::Profile& profile,
                                             const Coarsening& how) {
  return static_cast<std::uint64_t>(numbers::coarsen::waves_that_meet * profile.processors *
                                    profile.threads_per_sm * how.copies());
}

bool leaves_room(const target::Profile& profile, const CoarsenWork& original,
                 const CoarsenWork& merged) {
  for (const unsigned block : {64U, 128U, 256U, 512U, 1024U}) {
    const unsigned full = profile.threads_per_sm / block;
    if (may_be_launched_in(original, block) &&
        std::min(blocks_with_shared(profile, merged.shared), full) <
            std::min(blocks_with_shared(profile, original.shared), full))
      return false;
  }
  return true;
}

bool may_be_launched_in(const CoarsenWork& original, unsigned threads) {
  return threads >= 1024 || original.shared <= numbers::coarsen::bytes_of_a_thread * threads;
}

} // namespace ptxasw::passes
