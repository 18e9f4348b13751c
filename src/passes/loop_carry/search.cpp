// The n-th text has the n-th candidate of each kernel.
#include "passes/loop_carry/search.hpp"

#include "oracle/kernel_usage.hpp"
#include "passes/shared/apply.hpp"
#include "passes/shared/function_facts.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

namespace ptxasw::passes {
namespace {

using Purpose = AssemblyRequest::Purpose;
using MadeKernels = std::map<std::string, oracle::MadeKernel>;

// Trips that are tried where registers are limited, when nobody has said how many.
constexpr unsigned several_iterations = 4;

class Search {
public:
  Search(const ptx::Module& module, const Options& options, const target::Profile& profile,
         Assembler& assembler, std::span<const LoopCarrySearched> kernels)
      : module_(module), options_(options), profile_(profile), assembler_(assembler),
        kernels_(kernels) {}

  void run() {
    ask_about_the_originals();
    std::vector<std::vector<LoopCarryTrial>> trials;
    for (std::size_t j = 0; j < kernels_.size(); ++j)
      trials.push_back(trials_of(j));
    try_all(trials);
    for (std::size_t j = 0; j < kernels_.size(); ++j)
      if (trials[j].size() > 1)
        *kernels_[j].way = choose_buffers(profile_, originals_.at(name(j)).usage, trials[j]);
  }

  [[nodiscard]] unsigned trials() const { return trials_; }

private:
  [[nodiscard]] const std::string& name(std::size_t j) const { return kernels_[j].name; }

  // With lines: what comes of them is compared with it (oracle/validation.hpp).
  void ask_about_the_originals() {
    std::vector<std::string> names;
    for (const LoopCarrySearched& kernel : kernels_)
      names.push_back(kernel.name);
    ++trials_;
    originals_ = oracle::kernels_made(assembler_.assemble({.text = *module_.text,
                                                           .entries = names,
                                                           .line_info = true,
                                                           .purpose = Purpose::original}),
                                      profile_);
  }

  [[nodiscard]] std::vector<LoopCarryTrial> trials_of(std::size_t j) const {
    const unsigned asked = std::max(options_.loop_carry_iterations, 1U);
    std::vector<LoopCarryTrial> trials{{{.iterations = asked}, {}}};
    const auto original = originals_.find(name(j));
    if (original == originals_.end()) return trials;
    const unsigned limit = loop_carry_limit(original->second.usage.registers, kernels_[j].resident);
    trials.push_back({{asked, limit}, {}});
    if (options_.loop_carry_iterations == 0) trials.push_back({{several_iterations, limit}, {}});
    return trials;
  }

  void try_all(std::vector<std::vector<LoopCarryTrial>>& trials) {
    std::size_t rounds = 0;
    for (const auto& of_kernel : trials)
      if (of_kernel.size() > 1) rounds = std::max(rounds, of_kernel.size());
    std::vector<AssemblyRequest> requests;
    for (std::size_t n = 0; n < rounds; ++n)
      requests.push_back(request(trials, n));
    if (requests.empty()) return;
    trials_ += static_cast<unsigned>(rounds);
    const auto assembled = assembler_.assemble(requests);
    for (std::size_t n = 0; n < rounds; ++n) {
      const MadeKernels made = oracle::kernels_made(assembled[n], profile_);
      for (std::size_t j = 0; j < kernels_.size(); ++j)
        if (const auto found = made.find(name(j)); n < trials[j].size() && found != made.end())
          trials[j][n].usage = found->second.usage;
    }
  }

  [[nodiscard]] AssemblyRequest request(const std::vector<std::vector<LoopCarryTrial>>& trials,
                                        std::size_t n) const {
    AssemblyRequest request{.purpose = Purpose::trial};
    std::vector<ptx::Edit> edits;
    for (std::size_t j = 0; j < kernels_.size(); ++j) {
      if (trials[j].size() < 2 || n >= trials[j].size()) continue;
      std::ranges::move(kernels_[j].emit(trials[j][n].way), std::back_inserter(edits));
      request.entries.push_back(name(j));
    }
    request.text = draft(module_, edits);
    return request;
  }

  const ptx::Module& module_;
  const Options& options_;
  const target::Profile& profile_;
  Assembler& assembler_;
  std::span<const LoopCarrySearched> kernels_;
  MadeKernels originals_;
  unsigned trials_ = 0;
};

} // namespace

void choose_loop_carry_candidates(const ptx::Module& module,
                                  std::span<const LoopCarrySearched> kernels,
                                  const Options& options, Assembler& assembler, Report& report) {
  const target::Profile* profile = target::find_profile(architecture_of(module, options));
  if (profile == nullptr || !assembler.takes_register_limits() || kernels.empty()) return;
  Search search(module, options, *profile, assembler, kernels);
  search.run();
  report.trials += search.trials();
}

} // namespace ptxasw::passes
