// The steps of optimize.hpp, one after another.
#include "manager/optimize.hpp"

#include "manager/decisions.hpp"
#include "manager/module_job.hpp"
#include "manager/profile_of.hpp"
#include "manager/versions.hpp"
#include "oracle/memoized.hpp"
#include "oracle/register_guard.hpp"
#include "passes/pin_fma/search.hpp"
#include "passes/shared/stopwatch.hpp"
#include "words/hash.hpp"

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

// A text, with its module where that is known.
struct Text {
  const std::string& text;
  const std::string& file;
  std::optional<Input> known;

  // Once.
  const Input& read() {
    if (known) return *known;
    const passes::Stopwatch parsing;
    known = Input{std::make_shared<const ptx::Module>(ptx::parse(text, file)), 1};
    known->milliseconds = parsing.milliseconds();
    return *known;
  }
};

// What came of a sequence of passes over one text.
struct Stage {
  oracle::Printed printed;
  std::vector<Deferred> deferred;
  std::optional<ptx::Module> made; // of the printed text, where it is known
  bool is_remembered = false;      // what was decided would be decided again
};

// Where nobody reads a report the text that came of another in the end is remembered, beside the
// decisions that it came of. From those who may be trusted it is taken as it is: the other one need
// not be looked at.
class MadeText {
public:
  // Null: there is none to ask.
  MadeText(const std::string& text, Assembler* assembler)
      : key_(assembler == nullptr ? "" : "what was made of\n" + text), assembler_(assembler) {}

  std::optional<std::string> recall() {
    if (assembler_ == nullptr) return std::nullopt;
    auto made = assembler_->recall(key_);
    if (!made || !made->trusted || !assembler_->keep(made->decisions)) return std::nullopt;
    assembler_ = nullptr; // it need not be told again
    return std::move(made->decisions);
  }
  void remember(const Stage& stage) {
    if (assembler_ != nullptr && stage.is_remembered && stage.printed.made.changed)
      assembler_->remember(key_, stage.printed.made.text);
  }

private:
  const std::string key_;
  Assembler* assembler_;
};

// One module, with an assembler to ask.
class Run {
public:
  Run(Text& text, const Options& options, const Sequence& sequence, Assembler& assembler,
      emulator::Emulations* kept, const KnownKernels* known, MadeText* final_text)
      : input_(text), text_(text.text), file_(text.file), options_(options), sequence_(sequence),
        kept_(kept), known_(known), key_(known == nullptr ? "" : text_ + known->relevant()),
        assembler_(assembler), final_text_(final_text) {}

  Stage run() {
    oracle::Printed printed = decided();
    if (!job_) return {std::move(printed), {}, {}, is_remembered_};
    std::vector<Deferred> deferred = job_->deferred();
    return {std::move(printed), std::move(deferred), job_->take_made(), is_remembered_};
  }

private:
  oracle::Printed decided() {
    std::optional<Remembered> remembered;
    const auto recalled = assembler_.recall(key());
    if (recalled) remembered = read_decisions(recalled->decisions);
    if (remembered && !options_.details && remembered->kept == words::hash(text_)) {
      if (!recalled->trusted) assembler_.remember(key(), recalled->decisions);
      is_remembered_ = true;
      oracle::Printed unchanged{.made = {.text = text_, .changed = false, .report = {}}};
      unchanged.made.report.file = file_;
      return unchanged;
    }
    if (remembered && final_text_ != nullptr)
      if (auto text = final_text_->recall()) {
        oracle::Printed known{.made = {.text = std::move(*text), .changed = true, .report = {}}};
        known.made.report.file = file_;
        return known;
      }
    begin();
    if (remembered) {
      if (auto result = repeat(*remembered, recalled->trusted)) {
        if (!recalled->trusted) assembler_.remember(key(), recalled->decisions);
        is_remembered_ = true;
        return std::move(*result);
      }
      begin();
    }
    return decide();
  }

  void begin() {
    job_ = nullptr; // it gives back what it has
    job_ = std::make_unique<ModuleJob>(input_.read(), options_, sequence_,
                                       Purpose::rewrite_validated, kept_, known_);
  }

  // Of what is decided.
  [[nodiscard]] const std::string& key() const { return known_ == nullptr ? text_ : key_; }

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
    if (words::hash(result.made.text) != remembered.kept) return std::nullopt;
    if (trusted && result.made.changed && !assembler_.keep(result.made.text)) return std::nullopt;
    return result;
  }

  oracle::Printed decide() {
    job_->choose(assembler_);
    if (const auto waiting = job_->waiting(); !waiting.empty())
      go_on_with(
          passes::pin_contractions(job_->module(), waiting, assembler_, job_->to_validate()));
    oracle::Committed result = sound();
    std::vector<Reverted> back = job_->choose_again(result.reverted);
    if (back.size() < result.reverted.size()) {
      result = sound();
      back.insert(back.end(), result.reverted.begin(), result.reverted.end());
    }
    Optimized& made = result.printed.made;
    made.report.reverted = std::move(back);
    made.report.calls = assembler_.calls();
    const bool took_long = assembler_.calls() != 0 || text_.size() >= least_remembered;
    is_remembered_ = assembler_.answered_all() && took_long;
    if (is_remembered_)
      assembler_.remember(
          key(), written({job_->ways(), job_->rotations(), pins_, words::hash(made.text)}));
    return std::move(result.printed);
  }

  // What computes as before, and may be launched as before.
  oracle::Committed sound() {
    if (options_.fp_contract == FpContract::exact) job_->validate(assembler_);
    return oracle::commit_rewrites(
        made(), text_, assembler_, [&](std::string_view kernel) { return job_->launches(kernel); },
        [&](const std::vector<Reverted>& reverted) {
          job_->leave(reverted);
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

  Text& input_;
  const std::string& text_;
  const std::string& file_;
  const Options& options_;
  const Sequence& sequence_;
  emulator::Emulations* const kept_;
  const KnownKernels* const known_; // null: there is no profile
  const std::string key_;           // where there is one
  oracle::MemoizedAssembler assembler_;
  std::unique_ptr<ModuleJob> job_;
  std::map<std::string, passes::Pinning::Kernel, std::less<>> pins_;
  MadeText* const final_text_; // null: more is to come
  bool is_remembered_ = false;
};

Stage run_stage(Text text, const Options& options, const Sequence& sequence, bool rewrite,
                Assembler* assembler, emulator::Emulations* kept = nullptr,
                const KnownKernels* known = nullptr, MadeText* final_text = nullptr) {
  if (text.text.size() > options.size_limit)
    return {{too_large(text.text, text.file, options.size_limit)}, {}, {}};
  if (rewrite && assembler != nullptr)
    return Run(text, options, sequence, *assembler, kept, known, final_text).run();
  ModuleJob job(text.read(), options, sequence, rewrite ? Purpose::rewrite : Purpose::analyze,
                nullptr, known);
  Stage result{job.print(), {}, {}};
  if (rewrite) result.printed.made.report.unmemoized = job.questions();
  result.deferred = job.deferred();
  result.made = job.take_made();
  return result;
}

// What passes found once more says what came of them.
void take_decisions(const Report& again, const std::vector<Deferred>& deferred, Report& report) {
  for (const Deferred& one : deferred) {
    const auto kernel = std::ranges::find(report.kernels, one.kernel, &KernelReport::name);
    const auto now = std::ranges::find(again.kernels, one.kernel, &KernelReport::name);
    if (kernel == report.kernels.end() || now == again.kernels.end()) continue;
    for (const passes::PassRow* row : one.passes) {
      Decision& decision = (*kernel).*row->decision;
      decision = (*now).*row->decision;
      if (!now->changed && !now->left_alone.empty())
        decision = {Status::refused, now->left_alone.reason,
                    fmt::format("{}: {}", row->undone, now->left_alone.text)};
    }
  }
  report.calls += again.calls;
  report.emulations += again.emulations;
  report.parses += again.parses;
  add(report.passes, again.passes);
}

// Passes that yielded run over what came of the others, in the kernels that these changed: each of
// the two steps computes what it was given computes.
Stage run_deferred(Stage first, const std::string& file, const Options& options,
                   Assembler* assembler) {
  if (first.deferred.empty()) return first;
  Sequence sequence;
  for (const Deferred& one : first.deferred) {
    sequence.kernels.push_back(one.kernel);
    for (const passes::PassRow* row : one.passes)
      if (std::ranges::count(sequence.passes, row) == 0) sequence.passes.push_back(row);
  }
  Options quiet = options;
  quiet.details = false; // they are the input's
  Optimized& made = first.printed.made;
  const bool known = first.made && *first.made->text == made.text;
  Stage again = run_stage({made.text, file,
                           known ? std::optional(Input{std::make_shared<const ptx::Module>(
                                       *std::exchange(first.made, {}))})
                                 : std::nullopt},
                          quiet, sequence, true, assembler);
  take_decisions(again.printed.made.report, first.deferred, made.report);
  first.is_remembered &= again.is_remembered || !again.printed.made.changed;
  if (again.printed.made.changed) first.made = std::move(again.made);
  made.text = std::move(again.printed.made.text);
  return first;
}

} // namespace

Optimized run(const std::string& text, const std::string& file, const Options& options,
              bool rewrite, Assembler* assembler, OwnEntries own) {
  const bool is_text_alone =
      !options.details && !further_entries(options) && options.profile.empty();
  MadeText made(text, is_text_alone ? assembler : nullptr);
  Text input{text, file, {}};
  std::shared_ptr<const ptx::Module> original; // versions are made of it, too
  std::optional<emulator::Emulations> kept;
  if (further_entries(options) && assembler != nullptr && text.size() <= options.size_limit) {
    original = input.read().module;
    kept.emplace(original,
                 emulator::Budget{.time = options.kernel_budget, .memory = options.memory_budget});
  }
  // With further entries the launcher chooses.
  std::optional<KnownKernels> known;
  if (!options.profile.empty() && rewrite && !options.variants && text.size() <= options.size_limit)
    known.emplace(*input.read().module, options);
  Stage first = run_stage(std::move(input), options, {all_passes(), {}}, rewrite, assembler,
                          kept ? &*kept : nullptr, known ? &*known : nullptr, &made);
  if (known) first.printed.made.report.warnings = known->warnings();
  Stage done = run_deferred(std::move(first), file, options, assembler);
  if (!original) {
    made.remember(done);
    return std::move(done.printed.made);
  }
  return with_versions(std::move(done.printed), std::move(done.made), original, options, *assembler,
                       *kept, own);
}

Report tried(const std::shared_ptr<const ptx::Module>& module,
             const std::vector<std::string>& kernels, const Options& options, Assembler* assembler,
             const PassList& passes) {
  const std::string& text = *module->text;
  return run_stage({text, module->file, Input{module}}, options, {passes, kernels},
                   assembler != nullptr, assembler)
      .printed.made.report;
}

} // namespace ptxasw::manager
