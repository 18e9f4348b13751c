// The machine code of a trial is read for what its registers do not tell.
#include "passes/coarsen/search/search.hpp"

#include "oracle/kernel_usage.hpp"
#include "oracle/straight_path.hpp"
#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/search/guesses.hpp"
#include "passes/shared/apply.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shared/stopwatch.hpp"
#include "ptx/written.hpp"
#include "sass/same_body.hpp"
#include "target/numbers.hpp"
#include "target/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace ptxasw::passes {
namespace {

// How much is tried with fewer registers, and with more: of the best candidates.
struct Extent {
  std::size_t limited, loosened;
};
constexpr Extent most_promising{1, 1}, all_of_them{4, 2};
namespace trial = numbers::trial;

// Instructions that ptxas is given to try it: each copy, and the original body beside them.
double instructions_to_try(const CoarsenChoices& kernel, const CoarsenCandidate& candidate) {
  const auto once = [](const CoarsenWork& work) { return work.instructions / work.repeats; };
  return kernel.code_growth *
         (once(candidate.work) * candidate.how.copies() + once(kernel.original.work));
}

class Search {
public:
  Search(const ptx::Module& module, const Options& options, const target::Profile& profile,
         Assembler& assembler)
      : module_(module), options_(options), profile_(profile), assembler_(assembler),
        guesses_(profile), budget_(1000.0 * options.coarsen_budget) {}

  void run(std::span<const CoarsenSearched> kernels) {
    collect(kernels);
    if (kernels_.empty()) return;
    const bool selects = options_.effort == Effort::standard;
    std::erase_if(kernels_, [&](const CoarsenSearched& kernel) {
      return guesses_.leave(*kernel.choices, selects);
    });
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
      CoarsenChoices& choices = *kernels_[j].choices;
      choose(profile_, choices);
      std::ranges::move(aside_[j], std::back_inserter(choices.candidates));
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
      const auto fits = [&](const CoarsenCandidate& candidate) {
        return instructions_to_try(*kernel.choices, candidate) <= budget_;
      };
      if (std::ranges::any_of(kernel.choices->candidates, fits))
        kernels_.push_back(kernel);
      else
        *kernel.choices = {.why = why_not_tried(), .decided = true};
    }
  }

  // Is there room for it in the budget? It is used up then.
  [[nodiscard]] bool affords(const CoarsenChoices& kernel, const CoarsenCandidate& candidate) {
    const double instructions = instructions_to_try(kernel, candidate);
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
      order.push_back(guesses_.by_gain(*kernel.choices));
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

  // The n-th text has the n-th candidate of every kernel; the original goes first where it is
  // wanted.
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
          {.text = text_with(trials, n), .entries = entries(trials, n), .purpose = Purpose::trial});
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

  // Those of which the n-th text has a candidate. The first text of all may be the one that is
  // kept: where the rest is small beside the candidates, ptxas is given all of it, and need not be
  // again.
  [[nodiscard]] std::vector<std::string> entries(const Trials& trials, std::size_t n) {
    std::vector<std::string> names;
    double tried = 0; // instructions
    std::size_t originals = 0;
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      if (n >= trials[j].size()) continue;
      names.push_back(kernels_[j].name);
      tried += instructions_to_try(*kernels_[j].choices, trials[j][n]);
      originals += instructions_in(kernels_[j].name);
    }
    const std::size_t rest = module_.instructions.size() - originals;
    if (!std::exchange(is_first_, false) || static_cast<double>(rest) > tried) return names;
    return {};
  }

  [[nodiscard]] std::size_t instructions_in(std::string_view kernel) const {
    const ptx::Function* function = ptx::find_kernel(module_, kernel);
    if (function == nullptr) return 0;
    return static_cast<std::size_t>(std::ranges::count(
        module_.body_of(*function), ptx::StatementKind::instruction, &ptx::Statement::kind));
  }

  // What ptxas says of each kernel in its n-th candidate where it does not take all of them
  // together.
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

  void note(CoarsenCandidate& candidate, const std::string& kernel,
            const oracle::MadeKernel& made) const {
    candidate.usage = made.usage;
    if (const auto original = originals_.find(kernel); original != originals_.end())
      candidate.body_changed = sass::why_not_same_body(original->second.code, made.code);
    if (!candidate.body_changed.empty())
      candidate.beside = oracle::other_path(made.code, profile_.coarsen.load_latency);
  }

  // One candidate of each kernel after the other, as long as one may be better than what is known.
  // First the original, whose length may say enough.
  void try_promising(Trials left) {
    try_all(Trials(kernels_.size()), true);
    std::vector<bool> is_cut(kernels_.size()); // some candidate was not tried for want of room
    const unsigned most = profile_.coarsen.harmless ? trial::most_tries : ~0U;
    for (unsigned round = 0; round < most; ++round) {
      Trials next(kernels_.size());
      for (std::size_t j = 0; j < kernels_.size(); ++j) {
        CoarsenChoices& kernel = *kernels_[j].choices;
        if (is_cut[j] || !too_short(kernel, left[j]).empty()) continue;
        auto promising = guesses_.take_most_promising(kernel, left[j]);
        is_cut[j] = promising && !affords(kernel, *promising);
        if (promising) (is_cut[j] ? left : next)[j].push_back(std::move(*promising));
      }
      if (std::ranges::all_of(next, [](const auto& some) { return some.empty(); })) break;
      try_all(std::move(next), false);
    }
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      CoarsenChoices& kernel = *kernels_[j].choices;
      if (kernel.candidates.empty()) kernel.basis = "candidates estimated";
      Why why = too_short(kernel, left[j]);
      if (why.empty() && is_cut[j]) why = why_not_tried();
      if (why.empty()) why = {Reason::gains_too_little, "promises too little to be tried"};
      for (CoarsenCandidate& candidate : left[j]) {
        if (kernel.original.usage) candidate.gain = guesses_.gain(kernel.original, candidate);
        candidate.verdict = why;
        aside_[j].push_back(std::move(candidate));
      }
      std::ranges::stable_sort(aside_[j], std::ranges::greater{}, &CoarsenCandidate::gain);
    }
  }

  // Of a kernel that is, no candidate is taken that asks for the size of the launch.
  [[nodiscard]] Why too_short(const CoarsenChoices& kernel,
                              const std::vector<CoarsenCandidate>& candidates) const {
    const bool all_ask = std::ranges::all_of(candidates, [](const CoarsenCandidate& candidate) {
      return candidate.how.least_threads != 0;
    });
    if (!all_ask || !kernel.original.usage) return {};
    return passes::too_short(profile_, kernel.original);
  }

  // Takes out those that would not be taken whatever ptxas said, and gives them back.
  [[nodiscard]] std::vector<CoarsenCandidate> without_never_taken(CoarsenChoices& kernel) const {
    for (CoarsenCandidate& candidate : kernel.candidates)
      candidate.verdict = never_taken(profile_, kernel.original, candidate);
    auto& all = kernel.candidates;
    const auto never = std::stable_partition(
        all.begin(), all.end(), [](const auto& candidate) { return candidate.verdict.empty(); });
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
    return draft(module_, edits);
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
      if (why_not(kernel.original, candidate).empty())
        best = std::max(best, gain(kernel, candidate));
    for (const CoarsenCandidate& candidate : kernel.candidates) {
      if (!candidate.usage) continue;
      for (const unsigned limit :
           register_limits(profile_, kernel.original, candidate.usage->registers)) {
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
      if (!why_not(kernel.original, candidate).empty()) continue;
      candidate.gain = gain(kernel, candidate);
      loosened.push_back(std::move(candidate));
    }
    loosened = best_of(std::move(loosened), extent().loosened);
    std::erase_if(loosened, [&](const CoarsenCandidate& candidate) {
      return !may_want_more_registers(profile_, kernel.original, candidate.usage->registers);
    });
    for (CoarsenCandidate& candidate : loosened)
      candidate.how.registers = target::registers_for_any_block;
    return loosened;
  }

  [[nodiscard]] double gain(const CoarsenChoices& kernel, const CoarsenCandidate& candidate) const {
    return coarsening_gain(profile_, kernel.original, candidate);
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
  Guesses guesses_;
  std::vector<CoarsenSearched> kernels_; // to try, in the order of the text
  std::map<std::string, oracle::MadeKernel> originals_;
  Trials aside_;  // candidates of theirs that are not tried
  double budget_; // instructions that may still be tried
  unsigned trials_ = 0;
  bool is_first_ = true; // nothing was tried yet
};

std::optional<target::Profile> profile_of(const ptx::Module& module, const Options& options) {
  const target::Profile* profile = target::find_profile(architecture_of(module, options));
  if (profile == nullptr) return std::nullopt;
  return options.coarsen_large ? for_large_launches(*profile) : *profile;
}

} // namespace

bool choose_another(const ptx::Module& module, CoarsenChoices& choices, const Reverted& back,
                    const Options& options) {
  const auto chosen = std::ranges::find_if(choices.candidates, &CoarsenCandidate::chosen);
  const auto profile = profile_of(module, options);
  if (chosen == choices.candidates.end() || !chosen->usage || !back.after || !profile) return false;
  const auto path = chosen->usage->path;
  chosen->usage = back.after;
  chosen->usage->path = path;
  chosen->body_changed = back.body_changed;
  const Coarsening before = chosen->how;
  choose(*profile, choices);
  return std::ranges::any_of(choices.candidates, [&](const CoarsenCandidate& candidate) {
    return candidate.chosen && candidate.how != before;
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
