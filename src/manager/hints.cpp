// Each attempt is a set of options, the kernels to which these may matter, and what to say where
// they did. The kernels are decided anew under these options as they would be if they were given.
#include "manager/hints.hpp"

#include "manager/optimize.hpp"
#include "manager/version_candidates.hpp"
#include "manager/versions.hpp"
#include "passes/remap/pass.hpp"
#include "passes/shared/function_facts.hpp"
#include "ptx/parse.hpp"
#include "report/reason.hpp"
#include "target/numbers.hpp"
#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::manager {
namespace {

// So that what is tried is not taken for what the caller wants kept or remembered.
class Trying final : public Assembler {
public:
  using Assembler::assemble;
  explicit Trying(Assembler& real) : real_(real) {}
  [[nodiscard]] bool takes_register_limits() const override {
    return real_.takes_register_limits();
  }
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override {
    return real_.assemble(requests);
  }
  [[nodiscard]] std::string refusal() const override { return real_.refusal(); }

private:
  Assembler& real_;
};

bool refused_for(const KernelReport& kernel, std::initializer_list<Reason> reasons) {
  return kernel.coarsening.status == Status::refused &&
         std::ranges::count(reasons, kernel.coarsening.reason) != 0;
}

// Merged blocks are sound, and it is launches or the fallback body that speak against them.
bool hangs_on_launches(const KernelReport& kernel) {
  return refused_for(kernel, {Reason::may_lose, Reason::gains_too_little, Reason::uneven_work,
                              Reason::body_changed, Reason::registers});
}

bool has_reason(const KernelReport& kernel, std::initializer_list<Reason> reasons) {
  const std::vector<report::WhyNot> all = report::why_unchanged(kernel);
  return std::ranges::any_of(
      all, [&](const report::WhyNot& why) { return std::ranges::count(reasons, why.reason) != 0; });
}

std::string as_fast(double gain) {
  return fmt::format("predicted to run {:.2f} times as fast", gain);
}

// What came of a kernel that a trial has changed.
std::optional<Hint> changed(std::string what, std::string_view when, const KernelReport& tried) {
  if (!tried.changed) return std::nullopt;
  Hint hint{.what = std::move(what), .text = std::string(when)};
  const CoarsenCandidate* way = report::best_way(tried);
  std::string outcome;
  if (tried.coarsening.status == Status::done && way != nullptr && way->chosen) {
    hint.gain = way->gain;
    outcome = as_fast(way->gain);
  } else {
    for (const auto& [rewrite, decision] : report::decisions(tried))
      if (outcome.empty() && decision->status == Status::done) outcome = decision->text;
    constexpr std::string_view done = "remapped: ";
    if (outcome.starts_with(done)) outcome.erase(0, done.size());
  }
  if (outcome.empty()) outcome = report::verdict(tried);
  hint.text += (hint.text.empty() ? "" : ": ") + outcome;
  return hint;
}

struct Attempt {
  std::function<bool(const KernelReport&)> may_matter;
  Options options;
  std::function<std::optional<Hint>(const KernelReport& tried)> says;
  PassList passes = all_passes();
};

class Search {
public:
  Search(const std::string& text, const Options& options, Report& report)
      : options_(options), report_(report),
        module_(std::make_shared<const ptx::Module>(ptx::parse(text, report.file))),
        profile_(target::find_profile(passes::architecture_of(*module_, options))),
        brief_(options) {
    brief_.details = false; // every access is in the report by now
  }

  void run(Assembler* assembler) {
    if (assembler == nullptr) return miss_assembler();
    Trying trying(*assembler);
    for (const Attempt& attempt : attempts())
      try_out(attempt, trying);
    for (KernelReport& kernel : report_.kernels) {
      kernel.hints_sought = true;
      if (kernel.changed || !has_reason(kernel, {Reason::search_budget})) continue;
      kernel.hints.push_back(
          {.what = fmt::format("--coarsen-budget={}", 10 * options_.coarsen_budget),
           .text = "not tried here, since ptxas takes longer"});
    }
  }

  // Of all kernels: launches of what was rewritten may be merged, too.
  void tell_steps() {
    if (options_.steps != 0 || options_.steps_auto) return;
    const Report analyzed = tried(module_, {}, brief_, nullptr, {}); // of its own, without a pass
    for (KernelReport& kernel : report_.kernels) {
      const KernelReport* found = find(analyzed, kernel.name);
      if (found == nullptr || found->step_tile.count == 0) continue;
      kernel.hints.push_back(
          {.what = "ptxasw launch",
           .text =
               fmt::format("if the program exchanges its arrays between launches (a time step): "
                           "{} launches become one",
                           found->step_tile.count)});
    }
  }

private:
  static const KernelReport* find(const Report& report, std::string_view name) {
    const auto found = std::ranges::find(report.kernels, name, &KernelReport::name);
    return found == report.kernels.end() ? nullptr : &*found;
  }

  void miss_assembler() {
    for (KernelReport& kernel : report_.kernels)
      if (!kernel.changed && (hangs_on_launches(kernel) ||
                              has_reason(kernel, {Reason::ptxas_not_asked, Reason::not_assembled,
                                                  Reason::fusing_unknown})))
        kernel.hints.push_back({.what = "a ptxas to ask",
                                .text = "in PATH, in CUDA_HOME, or PTXASW_PTXAS=FILE; without one "
                                        "nothing is tried"});
  }

  void try_out(const Attempt& attempt, Assembler& assembler) {
    std::vector<std::string> names;
    for (const KernelReport& kernel : report_.kernels)
      if (!kernel.changed && attempt.may_matter(kernel)) names.push_back(kernel.name);
    if (names.empty()) return;
    const Report tried =
        manager::tried(module_, names, attempt.options, &assembler, attempt.passes);
    for (KernelReport& kernel : report_.kernels) {
      const KernelReport* came = find(tried, kernel.name);
      if (kernel.changed || came == nullptr) continue;
      if (std::optional<Hint> hint = attempt.says(*came)) kernel.hints.push_back(std::move(*hint));
    }
  }

  [[nodiscard]] std::vector<Attempt> attempts() const {
    std::vector<Attempt> all;
    if (options_.coarsen_auto && options_.coarsen == std::array{1U, 1U, 1U} &&
        options_.coarsen_grid == CoarsenGrid::kernel)
      add_coarsenings(all);
    if (options_.remaps.empty()) all.push_back(remapping());
    if (options_.fp_contract == FpContract::exact) {
      Attempt any{[](const KernelReport& kernel) {
                    return has_reason(kernel, {Reason::fusing_unknown, Reason::folding_unknown});
                  },
                  brief_, changed_by("--fp-contract=any", "if results may differ in the last bit")};
      any.options.fp_contract = FpContract::any;
      all.push_back(std::move(any));
    }
    Attempt longer{[](const KernelReport& kernel) {
                     return has_reason(kernel, {Reason::budget_time, Reason::budget_clock});
                   },
                   brief_,
                   {}};
    longer.options.kernel_budget *= 4;
    longer.says =
        changed_by(fmt::format("--kernel-budget={}", longer.options.kernel_budget.count()), "");
    all.push_back(std::move(longer));
    return all;
  }

  void add_coarsenings(std::vector<Attempt>& all) const {
    if (!options_.coarsen_large) {
      Attempt large{hangs_on_launches, brief_,
                    changed_by("--coarsen=large", "if most launches fill the GPU")};
      large.options.coarsen_large = true;
      all.push_back(std::move(large));
    }
    if (!options_.fewer_blocks) {
      Attempt fewer{
          [](const KernelReport& kernel) { return refused_for(kernel, {Reason::registers}); },
          brief_, changed_by("--fewer-blocks", "if no launch is cooperative")};
      fewer.options.fewer_blocks = true;
      all.push_back(std::move(fewer));
    }
    Attempt launched{hangs_on_launches, for_launcher(options_),
                     [this](const KernelReport& tried) { return version(tried); }};
    launched.options.effort = options_.effort;
    all.push_back(std::move(launched));
  }

  // Alone: of these kernels nothing else was changed.
  [[nodiscard]] Attempt remapping() const {
    Attempt result{[](const KernelReport& kernel) {
                     return kernel.analyzed && kernel.left_alone.empty() && kernel.loads != 0;
                   },
                   brief_,
                   changed_by("--remap=auto or ptxasw launch", ""),
                   {&passes::remap_row}};
    result.options.shuffle = ShuffleMode::none;
    result.options.loop_carry = LoopCarryMode::none;
    result.options.warp_reduce = WarpReduceMode::none;
    result.options.coarsen_auto = false;
    result.options.coarsen = {1, 1, 1};
    result.options.remaps = {{.kind = RemapKind::automatic}};
    return result;
  }

  static std::function<std::optional<Hint>(const KernelReport&)> changed_by(std::string what,
                                                                            std::string when) {
    return [what = std::move(what), when = std::move(when)](const KernelReport& tried) {
      return changed(what, when, tried);
    };
  }

  // What a launcher would have to choose from, as versions.cpp finds it.
  [[nodiscard]] std::optional<Hint> version(const KernelReport& tried) const {
    if (profile_ == nullptr || (!tried.changed && !hangs_on_launches(tried))) return std::nullopt;
    const bool in_order = std::ranges::any_of(tried.accesses, [](const AccessReport& access) {
      return access.kept.reason == Reason::ordered;
    });
    const std::vector<VersionCandidate> all =
        best_candidates(*profile_, {.original = tried.weighed.as_it_is,
                                    .candidates = tried.weighed.ways,
                                    .in_order = in_order});
    if (all.empty()) return std::nullopt;
    const auto [usual, best] = gains_of(all);
    return Hint{.what = "ptxasw launch",
                .text =
                    fmt::format("which picks a version for each launch: {} on average over "
                                "launches that fill the GPU {:.0f} times and more, {:.2f} at best",
                                as_fast(usual), numbers::variants::usual_waves, best),
                .gain = usual};
  }

  struct Gains {
    double usual = 0, best = 0; // on average over larger launches; of the launch that gains most
  };
  // The launcher takes for each launch what gains most, the kernel as it is among them.
  static Gains gains_of(const std::vector<VersionCandidate>& all) {
    using numbers::variants::usual_threads;
    using numbers::variants::usual_waves;
    Gains result;
    unsigned launches = 0;
    for (std::size_t block = 0; block < all.front().gains.size(); ++block)
      for (std::size_t n = 0; n < contract::waves.size(); ++n) {
        double most = 1;
        for (const VersionCandidate& one : all)
          most = std::max(most, one.gains.at(block).by_waves.at(n));
        result.best = std::max(result.best, most);
        if (all.front().gains.at(block).threads < usual_threads ||
            contract::waves.at(n) < usual_waves)
          continue;
        result.usual += most;
        ++launches;
      }
    result.usual = launches == 0 ? 1 : result.usual / launches;
    return result;
  }

  const Options& options_;
  Report& report_;
  std::shared_ptr<const ptx::Module> module_;
  const target::Profile* profile_;
  Options brief_; // of attempts of which nobody reads the accesses
};

} // namespace

void find_hints(const std::string& text, const Options& options, Assembler* assembler,
                Report& report) {
  if (text.size() > options.size_limit || report.kernels.empty()) return;
  Search search(text, options, report);
  search.run(assembler);
  search.tell_steps();
}

} // namespace ptxasw::manager
