// The steps of optimize.hpp, one after another.
#include "pipeline/optimize.hpp"

#include "contract/contract.hpp"
#include "pipeline/asked.hpp"
#include "pipeline/contraction_search.hpp"
#include "pipeline/decisions.hpp"
#include "pipeline/module_job.hpp"
#include "pipeline/register_guard.hpp"
#include "pipeline/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ptxasw::pipeline {
namespace {

Optimized too_large(std::string text, std::string file, std::size_t limit) {
  Optimized result;
  result.report.file = file;
  result.report.bytes = text.size();
  result.report.messages.push_back(
      {0, 0,
       fmt::format("{}: {} bytes, more than the size limit of {}; left alone", file, text.size(),
                   limit)});
  result.text = std::move(text);
  return result;
}

// What is decided without a question of a smaller text is decided again as fast as it is looked up
// (0.5 ms for 11 KB).
constexpr std::size_t least_remembered = std::size_t{16} << 10;

// One module, with an assembler to ask.
class Run {
public:
  Run(const std::string& text, const std::string& file, const Options& options,
      const std::vector<std::string>& rounds_in, Assembler& assembler)
      : text_(text), file_(file), options_(options), rounds_in_(rounds_in), assembler_(assembler) {}

  // Nothing to be looked for in what came of it.
  [[nodiscard]] std::vector<std::string> waiting_for_rounds() {
    return job_ ? job_->waiting_for_rounds() : std::vector<std::string>{};
  }

  Optimized run() {
    std::optional<Remembered> remembered;
    if (const auto recalled = assembler_.recall(text_)) remembered = read_decisions(*recalled);
    if (remembered && !options_.details && remembered->kept == contract::hash(text_)) {
      Optimized unchanged{.text = text_, .changed = false, .report = {}};
      unchanged.report.file = file_;
      return unchanged;
    }
    begin();
    if (remembered) {
      if (auto result = repeat(*remembered)) return std::move(*result);
      begin();
    }
    return decide();
  }

private:
  void begin() {
    job_ = std::make_unique<ModuleJob>(text_, file_, options_, Purpose::rewrite_judged, rounds_in_);
  }

  // Nothing is asked, and the same text comes of it; or nothing does, and all is to be decided.
  std::optional<Optimized> repeat(const Remembered& remembered) {
    if (!job_->take(remembered)) return std::nullopt;
    if (!job_->waiting().empty()) {
      auto pinning = pin_as_remembered(text_, file_, remembered.pins);
      if (!pinning) return std::nullopt;
      go_on_with(std::move(*pinning));
    }
    Optimized result = made();
    if (contract::hash(result.text) != remembered.kept) return std::nullopt;
    if (result.changed && !assembler_.keep(result.text)) return std::nullopt;
    return result;
  }

  Optimized decide() {
    job_->choose(assembler_);
    if (const auto waiting = job_->waiting(); !waiting.empty())
      go_on_with(pin_contractions(text_, file_, waiting, assembler_));
    Optimized result = sound();
    const std::vector<TakenBack> first = std::exchange(result.report.taken_back, {});
    std::vector<TakenBack> left = job_->choose_again(first);
    if (left.size() < first.size()) result = sound();
    result.report.taken_back.insert(result.report.taken_back.begin(), left.begin(), left.end());
    result.report.calls = assembler_.calls();
    const bool took_long = assembler_.calls() != 0 || text_.size() >= least_remembered;
    if (assembler_.answered_all() && took_long)
      assembler_.remember(
          text_, written({job_->ways(), job_->rotations(), pins_, contract::hash(result.text)}));
    return result;
  }

  // What computes as before, and may be launched as before.
  Optimized sound() {
    if (options_.fp_contract == FpContract::exact) job_->judge(assembler_);
    return settle(
        made(), text_, assembler_, [&](std::string_view kernel) { return job_->launches(kernel); },
        [&](const std::vector<TakenBack>& taken_back) {
          job_->leave(taken_back);
          return made();
        });
  }

  void go_on_with(Pinning pinning) {
    if (pinning.text == text_) {
      job_->describe(pinning);
    } else {
      auto pinned = std::make_unique<ModuleJob>(pinning, *job_);
      job_ = std::move(pinned);
    }
    std::erase_if(pinning.kernels, [](const auto& k) { return !k.second.refused.empty(); });
    pins_ = std::move(pinning.kernels);
  }

  Optimized made() {
    Optimized result = job_->print();
    if (!result.changed) result.text = text_; // pinned or not
    return result;
  }

  const std::string& text_;
  const std::string& file_;
  const Options& options_;
  const std::vector<std::string>& rounds_in_;
  AskedOnce assembler_;
  std::unique_ptr<ModuleJob> job_;
  std::map<std::string, Pinning::Kernel, std::less<>> pins_;
};

struct Standard {
  Optimized made;
  std::vector<std::string> waiting_for_rounds;
};

Standard run_standard(const std::string& text, const std::string& file, const Options& options,
                      bool rewrite, Assembler* assembler,
                      const std::vector<std::string>& rounds_in = {}) {
  if (text.size() > options.size_limit) return {too_large(text, file, options.size_limit), {}};
  if (rewrite && assembler != nullptr) {
    Run run(text, file, options, rounds_in, *assembler);
    Optimized made = run.run();
    return {std::move(made), run.waiting_for_rounds()};
  }
  ModuleJob job(text, file, options, rewrite ? Purpose::rewrite : Purpose::analyze, rounds_in);
  Optimized made = job.print();
  if (rewrite) made.report.unasked = job.questions();
  return {std::move(made), job.waiting_for_rounds()};
}

// Trees of kernels whose blocks were merged are looked for once more, in the text that came of
// that: each of the two steps computes what it was given computes.
Optimized with_rounds(Standard standard, const std::string& file, const Options& options,
                      Assembler* assembler) {
  Optimized& merged = standard.made;
  if (standard.waiting_for_rounds.empty()) return std::move(merged);
  Options rounds = options;
  rounds.shuffle = ShuffleMode::none;
  rounds.rotate = RotateMode::none;
  rounds.coarsen = {1, 1, 1};
  rounds.coarsen_auto = false;
  rounds.remaps.clear();
  rounds.details = false;
  Optimized result =
      run_standard(merged.text, file, rounds, true, assembler, standard.waiting_for_rounds).made;
  for (const std::string& name : standard.waiting_for_rounds) {
    const auto kernel = std::ranges::find(merged.report.kernels, name, &KernelReport::name);
    const auto now = std::ranges::find(result.report.kernels, name, &KernelReport::name);
    if (kernel == merged.report.kernels.end() || now == result.report.kernels.end()) continue;
    kernel->rounds = now->rounds;
    if (!now->changed && !now->left_alone.empty())
      kernel->rounds = {Status::refused, now->left_alone.reason,
                        "not in registers: " + now->left_alone.text};
  }
  merged.report.calls += result.report.calls;
  merged.text = std::move(result.text);
  return std::move(merged);
}

} // namespace

Optimized run(std::string text, std::string file, const Options& options, bool rewrite,
              Assembler* assembler) {
  Standard first = run_standard(text, file, options, rewrite, assembler);
  Optimized standard = with_rounds(std::move(first), file, options, assembler);
  if (!further_entries(options) || assembler == nullptr) return standard;
  return with_variants(std::move(standard), text, file, options, *assembler);
}

} // namespace ptxasw::pipeline
