// The machine code of a trial is read for what its registers do not tell.
#include "pipeline/coarsen_search.hpp"

#include "cost/coarsening.hpp"
#include "cost/straight_path.hpp"
#include "machine/assembler.hpp"
#include "machine/machine_code.hpp"
#include "rewrite/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

namespace ptxasw::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_limited = 4;  // ways of a kernel to try with fewer registers
constexpr std::size_t most_loosened = 2; // and with more
constexpr double least_share = 0.75;     // of the registers; with fewer ptxas spills

// Instructions of the trials of one kernel, each copy counted and the original beside them.
double instructions_to_try(const CoarsenChoices& kernel) {
  const auto once = [](const CoarsenWork& work) { return work.instructions / work.repeats; };
  double sum = once(kernel.original.work);
  for (const CoarsenCandidate& candidate : kernel.candidates)
    sum += once(candidate.work) * candidate.how.copies() + once(kernel.original.work);
  return sum;
}

class Search {
public:
  Search(const ptx::Module& module, const Options& options, const cost::Profile& profile,
         Assembler& assembler)
      : module_(module), options_(options), profile_(profile), assembler_(assembler) {}

  void run(std::span<KernelJob* const> jobs) {
    collect(jobs);
    if (jobs_.empty()) return;
    Trials trials;
    for (KernelJob* job : jobs_)
      trials.push_back(std::move(job->ways().candidates));
    for (KernelJob* job : jobs_)
      job->ways().candidates.clear();
    try_all(std::move(trials), true);
    trials.clear();
    for (KernelJob* job : jobs_)
      trials.push_back(with_limits(job->ways()));
    try_all(std::move(trials), false);
    for (KernelJob* job : jobs_)
      cost::choose_coarsening(profile_, job->ways().original, job->ways().candidates);
  }

  [[nodiscard]] unsigned trials() const { return trials_; }

private:
  using Trials = std::vector<std::vector<CoarsenCandidate>>; // by job

  void collect(std::span<KernelJob* const> jobs) {
    double budget = 1000.0 * options_.coarsen_budget;
    for (KernelJob* job : jobs) {
      CoarsenChoices& ways = job->ways();
      if (ways.candidates.empty()) continue;
      ways.tried = true;
      const double instructions = instructions_to_try(ways);
      if (instructions <= budget) {
        budget -= instructions;
        jobs_.push_back(job);
        continue;
      }
      const std::string why =
          fmt::format("to try {} ways takes {:.0f} instructions, and {:.0f} are left of "
                      "--coarsen-budget={}",
                      ways.candidates.size(), instructions, budget, options_.coarsen_budget);
      ways = {.why = why, .tried = true};
    }
  }

  // The n-th text has the n-th way of every kernel; the original goes first where it is wanted.
  void try_all(Trials trials, bool with_original) {
    std::size_t rounds = 0;
    for (const auto& candidates : trials)
      rounds = std::max(rounds, candidates.size());
    std::vector<AssemblyRequest> requests;
    std::vector<std::string> names;
    for (const KernelJob* job : jobs_)
      names.push_back(job->name());
    if (with_original) requests.push_back({.text = *module_.text, .entries = names});
    for (std::size_t n = 0; n < rounds; ++n)
      requests.push_back({.text = text_with(trials, n), .entries = names});
    if (requests.empty()) return;
    const auto assembled = assembler_.assemble(requests);
    trials_ += static_cast<unsigned>(requests.size());
    std::size_t next = 0;
    if (with_original) {
      const auto usage = usages(assembled[next++]);
      for (KernelJob* job : jobs_)
        if (const auto found = usage.find(job->name()); found != usage.end())
          job->ways().original.usage = found->second;
    }
    for (std::size_t n = 0; n < rounds; ++n) {
      const bool taken = assembled[next].has_value();
      const auto usage = taken ? usages(assembled[next]) : one_by_one(trials, n);
      ++next;
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if (n >= trials[j].size()) continue;
        if (const auto found = usage.find(jobs_[j]->name()); found != usage.end())
          trials[j][n].usage = found->second;
        jobs_[j]->ways().candidates.push_back(std::move(trials[j][n]));
      }
    }
  }

  // What ptxas says of each kernel in its n-th way where it does not take all of them together.
  std::map<std::string, KernelUsage> one_by_one(const Trials& trials, std::size_t n) {
    std::map<std::string, KernelUsage> result;
    if (jobs_.size() == 1) return result;
    std::vector<AssemblyRequest> requests;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (n >= trials[j].size()) continue;
      Trials alone(trials.size());
      alone[j].assign(trials[j].begin(), trials[j].begin() + static_cast<std::ptrdiff_t>(n) + 1);
      requests.push_back({.text = text_with(alone, n), .entries = {jobs_[j]->name()}});
    }
    trials_ += static_cast<unsigned>(requests.size());
    for (const auto& assembled : assembler_.assemble(requests))
      result.merge(usages(assembled));
    return result;
  }

  [[nodiscard]] std::string text_with(const Trials& trials, std::size_t n) const {
    std::vector<ptx::Edit> edits;
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if (n < trials[j].size())
        std::ranges::move(jobs_[j]->coarsened(trials[j][n].how), std::back_inserter(edits));
    return rewrite::draft(module_, edits);
  }

  [[nodiscard]] std::map<std::string, KernelUsage>
  usages(const std::optional<Assembled>& assembled) const {
    std::map<std::string, KernelUsage> result;
    if (!assembled) return result;
    const auto code = machine::machine_code(assembled->cubin);
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
      if (cost::why_not(kernel.original, candidate).empty())
        best = std::max(best, gain(kernel, candidate));
    for (const CoarsenCandidate& candidate : kernel.candidates) {
      if (!candidate.usage) continue;
      for (const unsigned limit :
           cost::register_limits(profile_, kernel.original, candidate.usage->registers)) {
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
  [[nodiscard]] std::vector<CoarsenCandidate> with_more(const CoarsenChoices& kernel) const {
    std::vector<CoarsenCandidate> loosened;
    for (CoarsenCandidate candidate : kernel.candidates) {
      if (!cost::why_not(kernel.original, candidate).empty()) continue;
      candidate.gain = gain(kernel, candidate);
      loosened.push_back(std::move(candidate));
    }
    loosened = best_of(std::move(loosened), most_loosened);
    std::erase_if(loosened, [&](const CoarsenCandidate& candidate) {
      return !cost::may_want_more_registers(profile_, kernel.original, candidate.usage->registers);
    });
    for (CoarsenCandidate& candidate : loosened)
      candidate.how.registers = cost::registers_for_any_block;
    return loosened;
  }

  [[nodiscard]] double gain(const CoarsenChoices& kernel, const CoarsenCandidate& candidate) const {
    return cost::coarsening_gain(profile_, kernel.original, candidate);
  }

  static std::vector<CoarsenCandidate> best_of(std::vector<CoarsenCandidate> list,
                                               std::size_t count) {
    std::ranges::stable_sort(list, std::ranges::greater{}, &CoarsenCandidate::gain);
    list.resize(std::min(list.size(), count));
    return list;
  }

  const ptx::Module& module_;
  const Options& options_;
  const cost::Profile& profile_;
  Assembler& assembler_;
  std::vector<KernelJob*> jobs_; // to try, in the order of the text
  unsigned trials_ = 0;
};

} // namespace

void choose_coarsenings(const ptx::Module& module, std::span<KernelJob* const> jobs,
                        const Options& options, Assembler& assembler, Report& report) {
  const cost::Profile* profile =
      cost::find_profile(options.architecture.empty() ? module.target : options.architecture);
  if (profile == nullptr) return;
  const auto start = Clock::now();
  Search search(module, options, *profile, assembler);
  search.run(jobs);
  if (search.trials() == 0) return;
  report.trials += search.trials();
  report.search_ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

} // namespace ptxasw::pipeline
