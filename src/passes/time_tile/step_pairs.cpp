// A search through all pairings, which ends after so many tries.
#include "passes/time_tile/step_pairs.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>

namespace ptxasw::passes {
namespace {

constexpr unsigned most_tries = 20000;

// The smallest is the best.
struct Cost {
  std::int64_t offsets = 0; // negated
  unsigned crossed = 0, apart = 0;
  auto operator<=>(const Cost&) const = default;
};

class Pairer {
public:
  explicit Pairer(std::span<const StepCandidates> arrays) : arrays_(arrays) {}

  std::vector<unsigned> run(std::size_t rank) {
    go_on({});
    if (rank >= found_.size()) return {};
    std::ranges::stable_sort(found_, {}, &Found::cost);
    return std::move(found_[rank].chosen);
  }

private:
  void go_on(Cost cost) {
    if (++tries_ > most_tries) return;
    const std::size_t n = chosen_.size();
    if (n == arrays_.size()) {
      found_.push_back({cost, chosen_});
      return;
    }
    for (const auto& [in, offsets] : arrays_[n].in) {
      if (std::ranges::find(chosen_, in) != chosen_.end()) continue;
      Cost with = cost;
      with.offsets -= static_cast<std::int64_t>(offsets);
      for (std::size_t other = 0; other < n; ++other)
        with.crossed += (arrays_[other].out < arrays_[n].out) != (chosen_[other] < in) ? 1 : 0;
      with.apart += std::max(in, arrays_[n].out) - std::min(in, arrays_[n].out);
      chosen_.push_back(in);
      go_on(with);
      chosen_.pop_back();
    }
  }

  std::span<const StepCandidates> arrays_;
  struct Found {
    Cost cost;
    std::vector<unsigned> chosen;
  };
  std::vector<unsigned> chosen_;
  std::vector<Found> found_;
  unsigned tries_ = 0;
};

} // namespace

std::vector<unsigned> pair_arrays(std::span<const StepCandidates> arrays, std::size_t rank) {
  return Pairer(arrays).run(rank);
}

std::optional<OldAndNow> choose_buffers(const StepCandidates& array) {
  struct RotationCost {
    std::int64_t offsets = 0; // of now, negated
    unsigned apart = 0;
    bool disordered = false; // by age, forwards or backwards
    auto operator<=>(const RotationCost&) const = default;
  };
  std::optional<OldAndNow> best;
  RotationCost least;
  for (const auto& [now, offsets] : array.in)
    for (const auto& [old, unused] : array.in) {
      if (old == now) continue;
      const auto [first, last] = std::minmax({old, now, array.out});
      const RotationCost cost{.offsets = -static_cast<std::int64_t>(offsets),
                              .apart = last - first,
                              .disordered = now == first || now == last};
      if (best && !(cost < least)) continue;
      best = OldAndNow{.old = old, .now = now};
      least = cost;
    }
  return best;
}

} // namespace ptxasw::passes
