// A search through all pairings, which ends after so many tries.
#include "passes/time_tile/step/step_pairs.hpp"

#include "contract/expression.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>

namespace ptxasw::passes {
namespace {

constexpr unsigned most_tries = 20000;

// In the order in which they are written; whole parameters lie much further apart than fields.
unsigned place_of(unsigned part) {
  return contract::number_of(part) << 16 | contract::byte_of(part);
}

// The smallest is the best.
struct Cost {
  std::int64_t offsets = 0; // negated
  unsigned crossed = 0;
  std::uint64_t apart = 0;
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
        with.crossed += (place_of(arrays_[other].out) < place_of(arrays_[n].out)) !=
                                (place_of(chosen_[other]) < place_of(in))
                            ? 1
                            : 0;
      const auto [first, last] = std::minmax({place_of(in), place_of(arrays_[n].out)});
      with.apart += last - first;
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
      const unsigned place = place_of(now);
      const auto [first, last] = std::minmax({place_of(old), place, place_of(array.out)});
      const RotationCost cost{.offsets = -static_cast<std::int64_t>(offsets),
                              .apart = last - first,
                              .disordered = place == first || place == last};
      if (best && !(cost < least)) continue;
      best = OldAndNow{.old = old, .now = now};
      least = cost;
    }
  return best;
}

} // namespace ptxasw::passes
