// See coarsen_search.hpp.
#include "driver/coarsen_search.hpp"

#include "cost/coarsening.hpp"
#include "cost/straight_path.hpp"
#include "driver/machine_code.hpp"
#include "machine/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace ptxasw::driver {
namespace {

using Kernel = CoarsenSearch::Kernel;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_limited = 4;  // ways of a kernel to try with fewer registers
constexpr std::size_t most_loosened = 2; // and with more
constexpr double least_share = 0.75;     // of the registers; with fewer ptxas spills

// Instructions of the trials of one kernel, each copy counted and the original beside them.
double instructions_to_try(const KernelReport& kernel) {
  const auto once = [](const CoarsenWork& work) { return work.instructions / work.repeats; };
  double sum = once(kernel.original.work);
  for (const CoarsenCandidate& candidate : kernel.candidates)
    sum += once(candidate.work) * candidate.how.copies() + once(kernel.original.work);
  return sum;
}

class Search {
public:
  Search(const std::string& text, const Options& options, const SearchOptions& search,
         const cost::Profile& profile, const Rewrite& rewrite, const Assembler& assemble)
      : text_(text), options_(options), search_(search), profile_(profile), rewrite_(rewrite),
        assemble_(assemble) {}

  CoarsenSearch run(const Report& report) {
    collect(report);
    if (names_.empty()) return std::move(result_);
    std::map<std::string, std::vector<CoarsenCandidate>> trials;
    for (const std::string& name : names_)
      trials[name] = std::move(result_.kernels[name].candidates);
    try_all(trials, true);
    trials.clear();
    for (const std::string& name : names_)
      if (auto limited = with_limits(result_.kernels[name]); !limited.empty())
        trials[name] = std::move(limited);
    if (!trials.empty()) try_all(trials, false);
    for (const std::string& name : names_) {
      Kernel& kernel = result_.kernels[name];
      cost::choose_coarsening(profile_, kernel.original, kernel.candidates);
    }
    return std::move(result_);
  }

private:
  void collect(const Report& report) {
    double budget = 1000.0 * options_.coarsen_budget;
    for (const KernelReport& kernel : report.kernels) {
      if (kernel.candidates.empty()) continue;
      const double instructions = instructions_to_try(kernel);
      if (instructions > budget) {
        result_.kernels[kernel.name].why =
            fmt::format("to try {} ways takes {:.0f} instructions, and {:.0f} are left of "
                        "--coarsen-budget={}",
                        kernel.candidates.size(), instructions, budget, options_.coarsen_budget);
        continue;
      }
      budget -= instructions;
      result_.kernels[kernel.name] = {kernel.original, kernel.candidates, {}};
      names_.push_back(kernel.name);
    }
  }

  // The n-th text has the n-th way of every kernel; the original goes first where it is wanted.
  void try_all(std::map<std::string, std::vector<CoarsenCandidate>>& trials, bool with_original) {
    std::size_t rounds = 0;
    for (const auto& [name, candidates] : trials)
      rounds = std::max(rounds, candidates.size());
    std::vector<std::string> texts;
    if (with_original) texts.push_back(text_);
    for (std::size_t n = 0; n < rounds; ++n) {
      Options options = options_;
      for (const std::string& name : names_) {
        const auto& candidates = trials[name];
        options.coarsen_kernels[name] = n < candidates.size() ? candidates[n].how : Coarsening{};
      }
      texts.push_back(rewrite_(options));
    }
    const auto assembled = assemble_(texts, names_);
    result_.trials += static_cast<unsigned>(texts.size());
    std::size_t next = 0;
    if (with_original) {
      const auto usage = usages(assembled[next++]);
      for (const std::string& name : names_)
        if (const auto found = usage.find(name); found != usage.end())
          result_.kernels[name].original.usage = found->second;
    }
    for (std::size_t n = 0; n < rounds; ++n) {
      const auto usage = usages(assembled[next++]);
      for (auto& [name, candidates] : trials) {
        if (n >= candidates.size()) continue;
        if (const auto found = usage.find(name); found != usage.end())
          candidates[n].usage = found->second;
        result_.kernels[name].candidates.push_back(candidates[n]);
      }
    }
  }

  [[nodiscard]] std::map<std::string, KernelUsage>
  usages(const std::optional<Assembled>& assembled) const {
    std::map<std::string, KernelUsage> result;
    if (!assembled) return result;
    const auto code = machine_code(assembled->cubin);
    for (const auto& [name, usage] : machine::read_usage(assembled->messages)) {
      if (!usage) continue;
      KernelUsage& kernel = result[name];
      kernel.registers = usage->registers;
      kernel.stack = usage->stack;
      kernel.spill_stores = usage->spill_stores;
      kernel.spill_loads = usage->spill_loads;
      const auto text = code.find(name);
      if (text == code.end()) continue;
      const auto path = cost::straight_path(text->second, profile_.coarsen.load_latency);
      kernel.path = path.instructions;
      kernel.stores = path.stores;
      kernel.latency = path.latency;
    }
    return result;
  }

  [[nodiscard]] std::vector<CoarsenCandidate> with_limits(const Kernel& kernel) const {
    if (!search_.limit_registers || kernel.original.tuned || !kernel.original.usage) return {};
    std::vector<CoarsenCandidate> limited = with_fewer(kernel);
    std::ranges::move(with_more(kernel), std::back_inserter(limited));
    for (CoarsenCandidate& candidate : limited)
      candidate.usage.reset();
    return limited;
  }

  // Those that would gain most if they kept their code with fewer registers.
  [[nodiscard]] std::vector<CoarsenCandidate> with_fewer(const Kernel& kernel) const {
    std::vector<CoarsenCandidate> limited;
    double best = profile_.coarsen.margin;
    for (const CoarsenCandidate& candidate : kernel.candidates)
      if (cost::why_not(kernel.original, candidate).empty())
        best = std::max(best, gain(kernel, candidate));
    for (const CoarsenCandidate& candidate : kernel.candidates) {
      if (!candidate.usage) continue;
      for (const unsigned limit :
           cost::register_limits(profile_, *kernel.original.usage, candidate.usage->registers)) {
        CoarsenCandidate hoped = candidate;
        if (limit < least_share * candidate.usage->registers) continue;
        hoped.how.registers = limit;
        hoped.usage->registers = limit;
        hoped.gain = gain(kernel, hoped);
        if (hoped.gain > best) limited.push_back(std::move(hoped));
      }
    }
    return best_of(std::move(limited), most_limited);
  }

  // The best of those that ptxas has held to fewer than would launch anyway, for the sake of warps.
  [[nodiscard]] std::vector<CoarsenCandidate> with_more(const Kernel& kernel) const {
    std::vector<CoarsenCandidate> loosened;
    for (CoarsenCandidate candidate : kernel.candidates) {
      if (!cost::why_not(kernel.original, candidate).empty()) continue;
      candidate.gain = gain(kernel, candidate);
      loosened.push_back(std::move(candidate));
    }
    loosened = best_of(std::move(loosened), most_loosened);
    std::erase_if(loosened, [&](const CoarsenCandidate& candidate) {
      return !cost::may_want_more_registers(profile_, *kernel.original.usage,
                                            candidate.usage->registers);
    });
    for (CoarsenCandidate& candidate : loosened)
      candidate.how.registers = cost::registers_for_any_block;
    return loosened;
  }

  [[nodiscard]] double gain(const Kernel& kernel, const CoarsenCandidate& candidate) const {
    return cost::coarsening_gain(profile_, kernel.original, candidate);
  }

  static std::vector<CoarsenCandidate> best_of(std::vector<CoarsenCandidate> list,
                                               std::size_t count) {
    std::ranges::stable_sort(list, std::ranges::greater{}, &CoarsenCandidate::gain);
    list.resize(std::min(list.size(), count));
    return list;
  }

  const std::string& text_;
  const Options& options_;
  const SearchOptions& search_;
  const cost::Profile& profile_;
  const Rewrite& rewrite_;
  const Assembler& assemble_;
  std::vector<std::string> names_; // of the kernels to try, in the order of the text
  CoarsenSearch result_;
};

std::string in_words(const Kernel& kernel, const std::string& outcome) {
  if (!kernel.why.empty()) return "not coarsened: " + kernel.why;
  const std::size_t ways = kernel.candidates.size();
  const CoarsenCandidate& best = kernel.candidates.front();
  if (best.chosen)
    return fmt::format("{}: {}; predicted to run {:.2f} times as fast, best of {} ways tried",
                       to_string(best.how), outcome, best.gain, ways);
  return fmt::format("not coarsened: the best of {} ways tried, {}, is predicted to run {:.2f} "
                     "times as fast and {}",
                     ways, to_string(best.how), best.gain, best.verdict);
}

} // namespace

std::map<std::string, Coarsening, std::less<>> CoarsenSearch::choices() const {
  std::map<std::string, Coarsening, std::less<>> result;
  for (const auto& [name, kernel] : kernels) {
    const bool chosen = !kernel.candidates.empty() && kernel.candidates.front().chosen;
    result[name] = chosen ? kernel.candidates.front().how : Coarsening{};
  }
  return result;
}

CoarsenSearch find_coarsenings(const std::string& text, const Report& report,
                               const Options& options, const SearchOptions& search,
                               const Rewrite& rewrite, const Assembler& assemble) {
  const auto start = Clock::now();
  const cost::Profile* profile = cost::find_profile(search.architecture);
  if (profile == nullptr) return {};
  CoarsenSearch result = Search(text, options, search, *profile, rewrite, assemble).run(report);
  result.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return result;
}

void describe(const CoarsenSearch& search, Report& report) {
  report.trials += search.trials;
  report.search_ms += search.milliseconds;
  for (KernelReport& kernel : report.kernels) {
    const auto found = search.kernels.find(kernel.name);
    if (found == search.kernels.end()) continue;
    kernel.original = found->second.original;
    kernel.candidates = found->second.candidates;
    kernel.coarsening = in_words(found->second, kernel.coarsening);
  }
}

} // namespace ptxasw::driver
