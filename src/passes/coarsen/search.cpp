// The machine code of a trial is read for what its registers do not tell.
#include "passes/coarsen/search.hpp"

#include "oracle/assembler.hpp"
#include "oracle/kernel_usage.hpp"
#include "oracle/straight_path.hpp"
#include "passes/coarsen/cost.hpp"
#include "passes/coarsen/measured.hpp"
#include "passes/coarsen/usage_estimate.hpp"
#include "passes/shared/apply.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shared/stopwatch.hpp"
#include "sass/same_body.hpp"
#include "target/numbers.hpp"
#include "target/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace ptxasw::passes {
namespace {

// How much is tried with fewer registers, and with more: of the best ways.
struct Extent {
  std::size_t limited, loosened;
};
constexpr Extent most_promising{1, 1}, all_of_them{4, 2};
// A way is tried if its guessed gain is so much of the least gain, or of that of the best that may
// be taken, and if it does not lose much in the launch that it suits least; a kernel of which no
// way is guessed to gain enough is not asked about.
namespace trial = numbers::trial;

// Instructions that ptxas is given to try it: each copy, and the original body beside them.
double instructions_to_try(const CoarsenChoices& kernel, const CoarsenCandidate& way) {
  const auto once = [](const CoarsenWork& work) { return work.instructions / work.repeats; };
  return kernel.code_growth * (once(way.work) * way.how.copies() + once(kernel.original.work));
}

// By what a run measured of the kernel, if that is known; else by the model.
void choose(const target::Profile& profile, CoarsenChoices& ways) {
  if (ways.run != nullptr)
    choose_measured(profile, ways.original, *ways.run, ways.candidates);
  else
    choose_coarsening(profile, ways.original, ways.candidates);
}

class Search {
public:
  Search(const ptx::Module& module, const Options& options, const target::Profile& profile,
         Assembler& assembler)
      : module_(module), options_(options), profile_(profile), assembler_(assembler),
        budget_(1000.0 * options.coarsen_budget) {}

  void run(std::span<const CoarsenSearched> kernels) {
    collect(kernels);
    if (kernels_.empty()) return;
    const bool selects = options_.effort == Effort::standard;
    std::erase_if(kernels_,
                  [&](const CoarsenSearched& kernel) { return leaves(*kernel.choices, selects); });
    if (kernels_.empty()) return;
    for (const CoarsenSearched& kernel : kernels_)
      aside_.push_back(without_never_taken(*kernel.choices));
    if (!selects) keep_affordable();
    Trials trials;
    for (const CoarsenSearched& kernel : kernels_)
      trials.push_back(std::exchange(kernel.choices->candidates, {}));
    if (selects)
      try_promising(std::move(trials));
    else
      try_all(std::move(trials), true);
    trials.clear();
    for (const CoarsenSearched& kernel : kernels_)
      trials.push_back(with_limits(*kernel.choices));
    try_all(std::move(trials), false);
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      CoarsenChoices& ways = *kernels_[j].choices;
      choose(profile_, ways);
      std::ranges::move(aside_[j], std::back_inserter(ways.candidates));
    }
  }

  [[nodiscard]] unsigned trials() const { return trials_; }

private:
  using Purpose = AssemblyRequest::Purpose;
  using Trials = std::vector<std::vector<CoarsenCandidate>>; // by job

  void collect(std::span<const CoarsenSearched> kernels) {
    for (const CoarsenSearched& kernel : kernels) {
      if (kernel.choices->candidates.empty()) continue;
      kernel.choices->decided = true;
      const auto fits = [&](const CoarsenCandidate& way) {
        return instructions_to_try(*kernel.choices, way) <= budget_;
      };
      if (std::ranges::any_of(kernel.choices->candidates, fits))
        kernels_.push_back(kernel);
      else
        *kernel.choices = {.why = why_not_tried(), .decided = true};
    }
  }

  // Is there room for it in the budget? It is used up then.
  [[nodiscard]] bool affords(const CoarsenChoices& kernel, const CoarsenCandidate& way) {
    const double instructions = instructions_to_try(kernel, way);
    if (instructions > budget_) return false;
    budget_ -= instructions;
    return true;
  }

  [[nodiscard]] Why why_not_tried() const {
    return {Reason::search_budget, fmt::format("not tried: too little is left of "
                                               "--coarsen-budget={}",
                                               options_.coarsen_budget)};
  }

  // Takes out those for which there is no room: of each kernel the likeliest first, one after the
  // other.
  void keep_affordable() {
    std::vector<std::vector<std::size_t>> order; // by kernel
    std::vector<std::vector<bool>> kept;
    std::size_t rounds = 0;
    for (const CoarsenSearched& kernel : kernels_) {
      order.push_back(by_guess(*kernel.choices));
      kept.emplace_back(order.back().size());
      rounds = std::max(rounds, order.back().size());
    }
    for (std::size_t n = 0; n < rounds; ++n)
      for (std::size_t j = 0; j < kernels_.size(); ++j) {
        const CoarsenChoices& kernel = *kernels_[j].choices;
        if (n < order[j].size())
          kept[j][order[j][n]] = affords(kernel, kernel.candidates[order[j][n]]);
      }
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      std::vector<CoarsenCandidate> all;
      std::swap(all, kernels_[j].choices->candidates);
      for (std::size_t n = 0; n < all.size(); ++n) {
        if (!kept[j][n]) all[n].verdict = why_not_tried();
        (kept[j][n] ? kernels_[j].choices->candidates : aside_[j]).push_back(std::move(all[n]));
      }
    }
  }

  [[nodiscard]] std::vector<std::size_t> by_guess(const CoarsenChoices& kernel) const {
    CoarsenBaseline original = kernel.original;
    original.usage = passes::estimated_usage(original);
    std::vector<std::size_t> order;
    std::vector<double> gains;
    for (const CoarsenCandidate& way : kernel.candidates) {
      order.push_back(order.size());
      gains.push_back(guessed_gain(original, way));
    }
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t n) { return gains[n]; });
    return order;
  }

  // The n-th text has the n-th way of every kernel; the original goes first where it is wanted.
  void try_all(Trials trials, bool with_original) {
    std::size_t rounds = 0;
    for (const auto& candidates : trials)
      rounds = std::max(rounds, candidates.size());
    std::vector<AssemblyRequest> requests;
    std::vector<std::string> names;
    for (const CoarsenSearched& kernel : kernels_)
      names.push_back(kernel.name);
    // With lines: what is chosen is compared with it (oracle/validation.hpp).
    if (with_original)
      requests.push_back({.text = *module_.text,
                          .entries = names,
                          .line_info = true,
                          .purpose = Purpose::original});
    for (std::size_t n = 0; n < rounds; ++n)
      requests.push_back(
          {.text = text_with(trials, n), .entries = names, .purpose = Purpose::trial});
    if (requests.empty()) return;
    const auto assembled = assembler_.assemble(requests);
    trials_ += static_cast<unsigned>(requests.size());
    std::size_t next = 0;
    if (with_original) {
      originals_ = oracle::kernels_made(assembled[next++], profile_);
      for (const CoarsenSearched& kernel : kernels_)
        if (const auto found = originals_.find(kernel.name); found != originals_.end())
          kernel.choices->original.usage = found->second.usage;
    }
    for (std::size_t n = 0; n < rounds; ++n) {
      const bool taken = assembled[next].has_value();
      const auto made =
          taken ? oracle::kernels_made(assembled[next], profile_) : one_by_one(trials, n);
      ++next;
      for (std::size_t j = 0; j < kernels_.size(); ++j) {
        if (n >= trials[j].size()) continue;
        if (!taken) kernels_[j].choices->refusal = assembler_.refusal();
        if (const auto found = made.find(kernels_[j].name); found != made.end())
          note(trials[j][n], found->first, found->second);
        kernels_[j].choices->candidates.push_back(std::move(trials[j][n]));
      }
    }
  }

  // What ptxas says of each kernel in its n-th way where it does not take all of them together.
  std::map<std::string, oracle::MadeKernel> one_by_one(const Trials& trials, std::size_t n) {
    std::map<std::string, oracle::MadeKernel> result;
    if (kernels_.size() == 1) return result;
    std::vector<AssemblyRequest> requests;
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      if (n >= trials[j].size()) continue;
      Trials alone(trials.size());
      alone[j].assign(trials[j].begin(), trials[j].begin() + static_cast<std::ptrdiff_t>(n) + 1);
      requests.push_back(
          {.text = text_with(alone, n), .entries = {kernels_[j].name}, .purpose = Purpose::trial});
    }
    trials_ += static_cast<unsigned>(requests.size());
    for (const auto& assembled : assembler_.assemble(requests))
      result.merge(oracle::kernels_made(assembled, profile_));
    return result;
  }

  void note(CoarsenCandidate& way, const std::string& kernel,
            const oracle::MadeKernel& made) const {
    way.usage = made.usage;
    if (const auto original = originals_.find(kernel); original != originals_.end())
      way.body_changed = sass::why_not_same_body(original->second.code, made.code);
    if (!way.body_changed.empty())
      way.beside = oracle::other_path(made.code, profile_.coarsen.load_latency);
  }

  // One way of each kernel after the other, as long as one may be better than what is known. First
  // the original, whose length may say enough.
  void try_promising(Trials left) {
    try_all(Trials(kernels_.size()), true);
    std::vector<bool> is_cut(kernels_.size()); // some way was not tried for want of room
    const unsigned most = profile_.coarsen.harmless ? trial::most_tries : ~0U;
    for (unsigned round = 0; round < most; ++round) {
      Trials next(kernels_.size());
      for (std::size_t j = 0; j < kernels_.size(); ++j) {
        CoarsenChoices& kernel = *kernels_[j].choices;
        if (is_cut[j] || !too_short(kernel, left[j]).empty()) continue;
        next[j] = most_promising_of(kernel, left[j]);
        is_cut[j] = !next[j].empty() && !affords(kernel, next[j].front());
        if (!is_cut[j]) continue;
        left[j].push_back(std::move(next[j].front()));
        next[j].clear();
      }
      if (std::ranges::all_of(next, [](const auto& ways) { return ways.empty(); })) break;
      try_all(std::move(next), false);
    }
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      CoarsenChoices& kernel = *kernels_[j].choices;
      if (kernel.candidates.empty()) kernel.basis = "candidates estimated";
      Why why = too_short(kernel, left[j]);
      if (why.empty() && is_cut[j]) why = why_not_tried();
      if (why.empty()) why = {Reason::gains_too_little, "promises too little to be tried"};
      for (CoarsenCandidate& way : left[j]) {
        if (kernel.original.usage) way.gain = guessed_gain(kernel.original, way);
        way.verdict = why;
        aside_[j].push_back(std::move(way));
      }
      std::ranges::stable_sort(aside_[j], std::ranges::greater{}, &CoarsenCandidate::gain);
    }
  }

  // Of a kernel that is, no way is taken that asks for the size of the launch.
  [[nodiscard]] Why too_short(const CoarsenChoices& kernel,
                              const std::vector<CoarsenCandidate>& ways) const {
    const bool all_ask = std::ranges::all_of(
        ways, [](const CoarsenCandidate& way) { return way.how.least_threads != 0; });
    if (!all_ask || !kernel.original.usage) return {};
    return passes::too_short(profile_, kernel.original);
  }

  // The one of them that is likely to gain most, taken out; none if it is not likely to gain enough
  // to be taken, or more than what would be taken now.
  [[nodiscard]] std::vector<CoarsenCandidate>
  most_promising_of(const CoarsenChoices& kernel, std::vector<CoarsenCandidate>& left) const {
    if (!kernel.original.usage) return {}; // none will be chosen
    const passes::ExpectedGain off = error_of_guesses(kernel);
    const double needed = needed_gain(kernel);
    auto best = left.end();
    double most = 0;
    for (auto way = left.begin(); way != left.end(); ++way) {
      const passes::ExpectedGain guess = guessed(kernel.original, *way);
      const double gain = guess.mean * off.mean;
      if (gain < needed || gain <= most || guess.worst * off.worst < least_worst() ||
          needs_too_many(kernel, *way))
        continue;
      best = way;
      most = gain;
    }
    if (best == left.end()) return {};
    std::vector<CoarsenCandidate> result{std::move(*best)};
    left.erase(best);
    return result;
  }

  [[nodiscard]] passes::ExpectedGain guessed(const CoarsenBaseline& original,
                                             CoarsenCandidate way) const {
    way.usage = passes::estimated_usage(original, way);
    way.usage->registers = std::min(way.usage->registers, target::registers_for_any_block);
    return passes::expected_gain(profile_, original, way);
  }

  // What was tried over what was guessed of it. Of gains that the first order of copies does not
  // have the other may still have a part.
  [[nodiscard]] passes::ExpectedGain error_of_guesses(const CoarsenChoices& kernel) const {
    passes::ExpectedGain sum;
    double count = 0;
    for (const CoarsenCandidate& way : kernel.candidates) {
      if (!way.usage) continue;
      const passes::ExpectedGain guess = guessed(kernel.original, way);
      const passes::ExpectedGain gain = passes::expected_gain(profile_, kernel.original, way);
      sum.mean += std::log(gain.mean / guess.mean);
      sum.worst += std::log(gain.worst / guess.worst);
      ++count;
    }
    if (count == 0) return {.mean = 1, .worst = 1};
    return {std::max(trial::least_correction, std::exp(sum.mean / count)),
            std::max(trial::least_correction, std::exp(sum.worst / count))};
  }

  [[nodiscard]] double needed_gain(const CoarsenChoices& kernel) const {
    std::vector<CoarsenCandidate> tried = kernel.candidates;
    passes::choose_coarsening(profile_, kernel.original, tried);
    const bool loops = kernel.original.work.repeats > 1;
    const double enough = loops ? trial::may_be_enough_of_loops : trial::may_be_enough;
    return !tried.empty() && tried.front().chosen ? tried.front().gain * trial::worth_another
                                                  : profile_.coarsen.margin * enough;
  }

  [[nodiscard]] double least_worst() const { return profile_.coarsen.worst * trial::may_lose_less; }

  // Even when it is held to fewer, by what those needed that were tried. Where an SM has to hold as
  // many blocks as before, also by the guess itself: a kernel that takes no more registers than all
  // blocks can have may stay there, and one that takes more hardly ever does with copies (none of
  // 36 ways of 6 kernels).
  [[nodiscard]] bool needs_too_many(const CoarsenChoices& kernel, CoarsenCandidate way) const {
    const CoarsenBaseline& original = kernel.original;
    way.usage = passes::estimated_usage(original, way);
    const double guess = way.usage->registers;
    if (original.resident) {
      const unsigned before = original.usage->registers;
      const double share = before <= target::registers_for_all_blocks ? trial::may_need_fewer
                                                                      : trial::hardly_needs_fewer;
      const unsigned most =
          std::max(target::registers_for_all_blocks,
                   target::registers_that_keep_blocks(before, *original.resident));
      if (share * guess > most) return true;
    }
    return std::ranges::any_of(kernel.candidates, [&](const CoarsenCandidate& tried) {
      if (!tried.usage) return false;
      const double needed =
          guess * tried.usage->registers / passes::estimated_usage(original, tried).registers;
      const bool alike = tried.how.copies() == way.how.copies();
      way.usage->registers =
          static_cast<unsigned>(needed * (alike ? trial::alike_share : trial::rough_share));
      return !passes::why_not(original, way).empty();
    });
  }

  [[nodiscard]] double guessed_gain(const CoarsenBaseline& original,
                                    const CoarsenCandidate& way) const {
    return guessed(original, way).mean;
  }

  // Decided without asking: no way would be taken whatever ptxas said, or (`by_gain`) none is
  // likely to pay. Then the ways are shown with what is guessed of them.
  [[nodiscard]] bool leaves(CoarsenChoices& kernel, bool by_gain) const {
    CoarsenBaseline original = kernel.original;
    original.usage = passes::estimated_usage(original);
    std::vector<CoarsenCandidate> guessed = kernel.candidates;
    bool may_pay = false, may_be_taken = false;
    for (CoarsenCandidate& way : guessed) {
      way.gain = guessed_gain(original, way);
      way.verdict = passes::never_taken(profile_, original, way);
      may_pay |= way.gain >= trial::hopeless;
      may_be_taken |= way.verdict.empty();
      if (way.verdict.empty())
        way.verdict = {Reason::gains_too_little, "gains too little to ask ptxas about it"};
    }
    if (may_be_taken && (may_pay || !by_gain)) return false;
    kernel.candidates = std::move(guessed);
    std::ranges::stable_sort(kernel.candidates, std::ranges::greater{}, &CoarsenCandidate::gain);
    kernel.basis = "candidates estimated";
    return true;
  }

  // Takes out those that would not be taken whatever ptxas said, and gives them back.
  [[nodiscard]] std::vector<CoarsenCandidate> without_never_taken(CoarsenChoices& kernel) const {
    for (CoarsenCandidate& way : kernel.candidates)
      way.verdict = passes::never_taken(profile_, kernel.original, way);
    auto& all = kernel.candidates;
    const auto never = std::stable_partition(all.begin(), all.end(),
                                             [](const auto& way) { return way.verdict.empty(); });
    std::vector<CoarsenCandidate> aside(never, all.end());
    all.erase(never, all.end());
    return aside;
  }

  [[nodiscard]] Extent extent() const {
    return options_.effort == Effort::thorough ? all_of_them : most_promising;
  }

  [[nodiscard]] std::string text_with(const Trials& trials, std::size_t n) const {
    std::vector<ptx::Edit> edits;
    for (std::size_t j = 0; j < kernels_.size(); ++j)
      if (n < trials[j].size())
        std::ranges::move(kernels_[j].emit(trials[j][n].how), std::back_inserter(edits));
    return passes::draft(module_, edits);
  }

  [[nodiscard]] std::vector<CoarsenCandidate> with_limits(const CoarsenChoices& kernel) const {
    if (!assembler_.takes_register_limits() || kernel.original.tuned || !kernel.original.usage)
      return {};
    std::vector<CoarsenCandidate> limited = with_fewer(kernel);
    std::ranges::move(with_more(kernel), std::back_inserter(limited));
    for (CoarsenCandidate& candidate : limited)
      candidate.usage.reset();
    return limited;
  }

  // Those that would gain most if they kept their code with fewer registers.
  [[nodiscard]] std::vector<CoarsenCandidate> with_fewer(const CoarsenChoices& kernel) const {
    std::vector<CoarsenCandidate> limited;
    double best = profile_.coarsen.margin;
    for (const CoarsenCandidate& candidate : kernel.candidates)
      if (passes::why_not(kernel.original, candidate).empty())
        best = std::max(best, gain(kernel, candidate));
    for (const CoarsenCandidate& candidate : kernel.candidates) {
      if (!candidate.usage) continue;
      for (const unsigned limit :
           passes::register_limits(profile_, kernel.original, candidate.usage->registers)) {
        CoarsenCandidate hoped = candidate;
        if (limit < trial::least_registers * candidate.usage->registers) continue;
        hoped.how.registers = limit;
        hoped.usage->registers = limit;
        hoped.gain = gain(kernel, hoped);
        if (hoped.gain > best) limited.push_back(std::move(hoped));
      }
    }
    return best_of(std::move(limited), extent().limited);
  }

  // The best of those that ptxas has held to fewer than would launch anyway, for the sake of warps.
  [[nodiscard]] std::vector<CoarsenCandidate> with_more(const CoarsenChoices& kernel) const {
    std::vector<CoarsenCandidate> loosened;
    for (CoarsenCandidate candidate : kernel.candidates) {
      if (!passes::why_not(kernel.original, candidate).empty()) continue;
      candidate.gain = gain(kernel, candidate);
      loosened.push_back(std::move(candidate));
    }
    loosened = best_of(std::move(loosened), extent().loosened);
    std::erase_if(loosened, [&](const CoarsenCandidate& candidate) {
      return !passes::may_want_more_registers(profile_, kernel.original,
                                              candidate.usage->registers);
    });
    for (CoarsenCandidate& candidate : loosened)
      candidate.how.registers = target::registers_for_any_block;
    return loosened;
  }

  [[nodiscard]] double gain(const CoarsenChoices& kernel, const CoarsenCandidate& candidate) const {
    return passes::coarsening_gain(profile_, kernel.original, candidate);
  }

  static std::vector<CoarsenCandidate> best_of(std::vector<CoarsenCandidate> list,
                                               std::size_t count) {
    std::ranges::stable_sort(list, std::ranges::greater{}, &CoarsenCandidate::gain);
    list.resize(std::min(list.size(), count));
    return list;
  }

  const ptx::Module& module_;
  const Options& options_;
  const target::Profile& profile_;
  Assembler& assembler_;
  std::vector<CoarsenSearched> kernels_; // to try, in the order of the text
  std::map<std::string, oracle::MadeKernel> originals_;
  Trials aside_;  // ways of theirs that are not tried
  double budget_; // instructions that may still be tried
  unsigned trials_ = 0;
};

std::optional<target::Profile> profile_of(const ptx::Module& module, const Options& options) {
  const target::Profile* profile = target::find_profile(architecture_of(module, options));
  if (profile == nullptr) return std::nullopt;
  return options.coarsen_large ? passes::for_large_launches(*profile) : *profile;
}

} // namespace

bool choose_another(const ptx::Module& module, CoarsenChoices& ways, const Reverted& back,
                    const Options& options) {
  const auto chosen = std::ranges::find_if(ways.candidates, &CoarsenCandidate::chosen);
  const auto profile = profile_of(module, options);
  if (chosen == ways.candidates.end() || !chosen->usage || !back.after || !profile) return false;
  const auto path = chosen->usage->path;
  chosen->usage = back.after;
  chosen->usage->path = path;
  chosen->body_changed = back.body_changed;
  const Coarsening before = chosen->how;
  choose(*profile, ways);
  return std::ranges::any_of(ways.candidates, [&](const CoarsenCandidate& way) {
    return way.chosen && way.how != before;
  });
}

void choose_coarsenings(const ptx::Module& module, std::span<const CoarsenSearched> kernels,
                        const Options& options, Assembler& assembler, Report& report) {
  const auto profile = profile_of(module, options);
  if (!profile) return;
  const Stopwatch searching;
  Search search(module, options, *profile, assembler);
  search.run(kernels);
  report.trials += search.trials();
  report.search_ms += searching.milliseconds();
}

} // namespace ptxasw::passes
