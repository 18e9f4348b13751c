// The steps of optimize.hpp, one after another.
#include "manager/optimize.hpp"

#include "contract/contract.hpp"
#include "manager/decisions.hpp"
#include "manager/module_job.hpp"
#include "manager/versions.hpp"
#include "oracle/memoized.hpp"
#include "oracle/register_guard.hpp"
#include "passes/pin_fma/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ptxasw::manager {
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

  oracle::Printed run() {
    std::optional<Remembered> remembered;
    const auto recalled = assembler_.recall(text_);
    if (recalled) remembered = read_decisions(recalled->decisions);
    if (remembered && !options_.details && remembered->kept == contract::hash(text_)) {
      if (!recalled->trusted) assembler_.remember(text_, recalled->decisions);
      oracle::Printed unchanged{.made = {.text = text_, .changed = false, .report = {}}};
      unchanged.made.report.file = file_;
      return unchanged;
    }
    begin();
    if (remembered) {
      if (auto result = repeat(*remembered, recalled->trusted)) {
        if (!recalled->trusted) assembler_.remember(text_, recalled->decisions);
        return std::move(*result);
      }
      begin();
    }
    return decide();
  }

private:
  void begin() {
    job_ = std::make_unique<ModuleJob>(text_, file_, options_, Purpose::rewrite_judged, rounds_in_);
  }

  // Nothing is asked, and the same text comes of it; or nothing does, and all is to be decided.
  // What anybody could have written is judged as if it had been decided here; only other candidates
  // are not tried.
  std::optional<oracle::Printed> repeat(const Remembered& remembered, bool trusted) {
    if (!job_->take(remembered)) return std::nullopt;
    if (!job_->waiting().empty()) {
      auto pinning =
          trusted ? passes::pin_as_remembered(job_->module(), remembered.pins)
                  : std::optional(passes::verify_pins(job_->module(), remembered.pins, assembler_));
      if (!pinning) return std::nullopt;
      go_on_with(std::move(*pinning));
    }
    oracle::Printed result = trusted ? made() : sound().printed;
    if (contract::hash(result.made.text) != remembered.kept) return std::nullopt;
    if (trusted && result.made.changed && !assembler_.keep(result.made.text)) return std::nullopt;
    return result;
  }

  oracle::Printed decide() {
    job_->choose(assembler_);
    if (const auto waiting = job_->waiting(); !waiting.empty())
      go_on_with(passes::pin_contractions(job_->module(), waiting, assembler_, job_->to_judge()));
    oracle::Settled result = sound();
    std::vector<TakenBack> back = job_->choose_again(result.taken_back);
    if (back.size() < result.taken_back.size()) {
      result = sound();
      back.insert(back.end(), result.taken_back.begin(), result.taken_back.end());
    }
    Optimized& made = result.printed.made;
    made.report.taken_back = std::move(back);
    made.report.calls = assembler_.calls();
    const bool took_long = assembler_.calls() != 0 || text_.size() >= least_remembered;
    if (assembler_.answered_all() && took_long)
      assembler_.remember(
          text_, written({job_->ways(), job_->rotations(), pins_, contract::hash(made.text)}));
    return std::move(result.printed);
  }

  // What computes as before, and may be launched as before.
  oracle::Settled sound() {
    if (options_.fp_contract == FpContract::exact) job_->validate(assembler_);
    return oracle::settle(
        made(), text_, assembler_, [&](std::string_view kernel) { return job_->launches(kernel); },
        [&](const std::vector<TakenBack>& taken_back) {
          job_->leave(taken_back);
          return made();
        });
  }

  void go_on_with(passes::Pinning pinning) {
    if (!pinning.module) {
      job_->describe(pinning);
    } else {
      auto pinned = std::make_unique<ModuleJob>(pinning, *job_);
      job_ = std::move(pinned);
    }
    std::erase_if(pinning.kernels, [](const auto& k) { return !k.second.refused.empty(); });
    pins_ = std::move(pinning.kernels);
  }

  oracle::Printed made() {
    oracle::Printed result = job_->print();
    if (!result.made.changed) result.made.text = text_; // pinned or not
    return result;
  }

  const std::string& text_;
  const std::string& file_;
  const Options& options_;
  const std::vector<std::string>& rounds_in_;
  oracle::MemoizedAssembler assembler_;
  std::unique_ptr<ModuleJob> job_;
  std::map<std::string, passes::Pinning::Kernel, std::less<>> pins_;
};

struct Standard {
  oracle::Printed printed;
  std::vector<std::string> waiting_for_rounds;
};

Standard run_standard(const std::string& text, const std::string& file, const Options& options,
                      bool rewrite, Assembler* assembler,
                      const std::vector<std::string>& rounds_in = {}) {
  if (text.size() > options.size_limit) return {{too_large(text, file, options.size_limit)}, {}};
  if (rewrite && assembler != nullptr) {
    Run run(text, file, options, rounds_in, *assembler);
    oracle::Printed printed = run.run();
    return {std::move(printed), run.waiting_for_rounds()};
  }
  ModuleJob job(text, file, options, rewrite ? Purpose::rewrite : Purpose::analyze, rounds_in);
  oracle::Printed printed = job.print();
  if (rewrite) printed.made.report.unasked = job.questions();
  return {std::move(printed), job.waiting_for_rounds()};
}

// Trees of kernels whose blocks were merged are looked for once more, in the text that came of
// that: each of the two steps computes what it was given computes.
oracle::Printed with_rounds(Standard standard, const std::string& file, const Options& options,
                            Assembler* assembler) {
  Optimized& merged = standard.printed.made;
  if (standard.waiting_for_rounds.empty()) return std::move(standard.printed);
  Options rounds = options;
  rounds.shuffle = ShuffleMode::none;
  rounds.rotate = RotateMode::none;
  rounds.coarsen = {1, 1, 1};
  rounds.coarsen_auto = false;
  rounds.remaps.clear();
  rounds.details = false;
  Optimized result =
      run_standard(merged.text, file, rounds, true, assembler, standard.waiting_for_rounds)
          .printed.made;
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
  merged.report.emulations += result.report.emulations;
  merged.text = std::move(result.text);
  return std::move(standard.printed);
}

} // namespace

Optimized run(std::string text, std::string file, const Options& options, bool rewrite,
              Assembler* assembler, OwnEntries own) {
  Standard first = run_standard(text, file, options, rewrite, assembler);
  oracle::Printed standard = with_rounds(std::move(first), file, options, assembler);
  if (!further_entries(options) || assembler == nullptr) return std::move(standard.made);
  return with_variants(std::move(standard), text, file, options, *assembler, own);
}

} // namespace ptxasw::manager
