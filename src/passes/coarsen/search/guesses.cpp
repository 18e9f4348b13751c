// A candidate is tried if its guessed gain is so much of the least gain, or of that of the best
// that may be taken, and if it does not lose much in the launch that it suits least; a kernel of
// which no candidate is guessed to gain enough is not asked about.
#include "passes/coarsen/search/guesses.hpp"

#include "passes/coarsen/cost/usage_estimate.hpp"
#include "passes/coarsen/search/measured.hpp"
#include "target/numbers.hpp"
#include "target/residency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ptxasw::passes {

namespace trial = numbers::trial;

void choose(const target::Profile& profile, CoarsenChoices& choices) {
  if (choices.run != nullptr)
    choose_measured(profile, choices.original, *choices.run, choices.candidates);
  else
    choose_coarsening(profile, choices.original, choices.candidates);
}

ExpectedGain Guesses::expected(const CoarsenBaseline& original, CoarsenCandidate candidate) const {
  candidate.usage = estimated_usage(original, candidate);
  candidate.usage->registers =
      std::min(candidate.usage->registers, target::registers_for_any_block);
  return expected_gain(profile_, original, candidate);
}

double Guesses::gain(const CoarsenBaseline& original, const CoarsenCandidate& candidate) const {
  return expected(original, candidate).mean;
}

std::vector<std::size_t> Guesses::by_gain(const CoarsenChoices& kernel) const {
  CoarsenBaseline original = kernel.original;
  original.usage = estimated_usage(original);
  std::vector<std::size_t> order;
  std::vector<double> gains;
  for (const CoarsenCandidate& candidate : kernel.candidates) {
    order.push_back(order.size());
    gains.push_back(gain(original, candidate));
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t n) { return gains[n]; });
  return order;
}

std::optional<CoarsenCandidate>
Guesses::take_most_promising(const CoarsenChoices& kernel,
                             std::vector<CoarsenCandidate>& left) const {
  if (!kernel.original.usage) return std::nullopt; // none will be chosen
  const ExpectedGain off = error(kernel);
  const double needed = needed_gain(kernel);
  const double least_worst = profile_.coarsen.worst * trial::may_lose_less;
  auto best = left.end();
  double most = 0;
  for (auto candidate = left.begin(); candidate != left.end(); ++candidate) {
    const ExpectedGain guess = expected(kernel.original, *candidate);
    const double gain = guess.mean * off.mean;
    if (gain < needed || gain <= most || guess.worst * off.worst < least_worst ||
        needs_too_many(kernel, *candidate))
      continue;
    best = candidate;
    most = gain;
  }
  if (best == left.end()) return std::nullopt;
  std::optional<CoarsenCandidate> taken(std::move(*best));
  left.erase(best);
  return taken;
}

// What was tried over what was guessed of it. Of gains that the first order of copies does not
// have the other may still have a part.
ExpectedGain Guesses::error(const CoarsenChoices& kernel) const {
  ExpectedGain sum;
  double count = 0;
  for (const CoarsenCandidate& candidate : kernel.candidates) {
    if (!candidate.usage) continue;
    const ExpectedGain guess = expected(kernel.original, candidate);
    const ExpectedGain gain = expected_gain(profile_, kernel.original, candidate);
    sum.mean += std::log(gain.mean / guess.mean);
    sum.worst += std::log(gain.worst / guess.worst);
    ++count;
  }
  if (count == 0) return {.mean = 1, .worst = 1};
  return {std::max(trial::least_correction, std::exp(sum.mean / count)),
          std::max(trial::least_correction, std::exp(sum.worst / count))};
}

double Guesses::needed_gain(const CoarsenChoices& kernel) const {
  std::vector<CoarsenCandidate> tried = kernel.candidates;
  choose_coarsening(profile_, kernel.original, tried);
  const bool loops = kernel.original.work.repeats > 1;
  const double enough = loops ? trial::may_be_enough_of_loops : trial::may_be_enough;
  return !tried.empty() && tried.front().chosen ? tried.front().gain * trial::worth_another
                                                : profile_.coarsen.margin * enough;
}

// Even when it is held to fewer, by what those needed that were tried. Where an SM has to hold as
// many blocks as before, also by the guess itself: a kernel that takes no more registers than all
// blocks can have may stay there, and one that takes more hardly ever does with copies (none of
// 36 candidates of 6 kernels).
bool Guesses::needs_too_many(const CoarsenChoices& kernel, CoarsenCandidate candidate) const {
  const CoarsenBaseline& original = kernel.original;
  candidate.usage = estimated_usage(original, candidate);
  const double guess = candidate.usage->registers;
  if (original.resident) {
    const unsigned before = original.usage->registers;
    const double share = before <= target::registers_for_all_blocks ? trial::may_need_fewer
                                                                    : trial::hardly_needs_fewer;
    const unsigned most = std::max(target::registers_for_all_blocks,
                                   target::registers_that_keep_blocks(before, *original.resident));
    if (share * guess > most) return true;
  }
  return std::ranges::any_of(kernel.candidates, [&](const CoarsenCandidate& tried) {
    if (!tried.usage) return false;
    const double needed =
        guess * tried.usage->registers / estimated_usage(original, tried).registers;
    const bool alike = tried.how.copies() == candidate.how.copies();
    candidate.usage->registers =
        static_cast<unsigned>(needed * (alike ? trial::alike_share : trial::rough_share));
    return !why_not(original, candidate).empty();
  });
}

bool Guesses::leave(CoarsenChoices& kernel, bool by_gain) const {
  CoarsenBaseline original = kernel.original;
  original.usage = estimated_usage(original);
  std::vector<CoarsenCandidate> guessed = kernel.candidates;
  bool may_pay = false, may_be_taken = false;
  for (CoarsenCandidate& candidate : guessed) {
    candidate.gain = gain(original, candidate);
    candidate.verdict = never_taken(profile_, original, candidate);
    may_pay |= candidate.gain >= trial::hopeless;
    may_be_taken |= candidate.verdict.empty();
    if (candidate.verdict.empty())
      candidate.verdict = {Reason::gains_too_little, "gains too little to ask ptxas about it"};
  }
  if (may_be_taken && (may_pay || !by_gain)) return false;
  kernel.candidates = std::move(guessed);
  std::ranges::stable_sort(kernel.candidates, std::ranges::greater{}, &CoarsenCandidate::gain);
  kernel.basis = "candidates estimated";
  return true;
}

} // namespace ptxasw::passes
