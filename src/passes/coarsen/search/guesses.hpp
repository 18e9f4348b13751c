// What the candidates of a kernel are likely to gain before ptxas has seen them: by registers that
// are estimated (usage_estimate.hpp), and by how far off such guesses were for those of the same
// kernel that it has seen.
#pragma once

#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/search/candidates.hpp"
#include "target/profile.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

// By what a run measured of the kernel, if that is known; else by the model.
void choose(const target::Profile& profile, CoarsenChoices& choices);

class Guesses {
public:
  explicit Guesses(const target::Profile& profile) : profile_(profile) {}

  [[nodiscard]] double gain(const CoarsenBaseline& original,
                            const CoarsenCandidate& candidate) const;

  // The candidates of a kernel that ptxas has not seen, by number: the likeliest to gain first.
  [[nodiscard]] std::vector<std::size_t> by_gain(const CoarsenChoices& kernel) const;

  // The one of `left` that is likely to gain most, taken out; none if it is not likely to gain
  // enough to be taken, or more than what would be taken now.
  [[nodiscard]] std::optional<CoarsenCandidate>
  take_most_promising(const CoarsenChoices& kernel, std::vector<CoarsenCandidate>& left) const;

  // Decided without asking: no candidate would be taken whatever ptxas said, or (`by_gain`) none is
  // likely to pay. Then the candidates are shown with what is guessed of them.
  [[nodiscard]] bool leave(CoarsenChoices& kernel, bool by_gain) const;

private:
  [[nodiscard]] ExpectedGain expected(const CoarsenBaseline& original,
                                      CoarsenCandidate candidate) const;
  [[nodiscard]] ExpectedGain error(const CoarsenChoices& kernel) const;
  [[nodiscard]] double needed_gain(const CoarsenChoices& kernel) const;
  [[nodiscard]] bool needs_too_many(const CoarsenChoices& kernel, CoarsenCandidate candidate) const;

  const target::Profile& profile_;
};

} // namespace ptxasw::passes
