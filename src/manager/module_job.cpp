// Jobs of all functions of a text; what they decide is printed together, and reverted one by one.
#include "manager/module_job.hpp"

#include "oracle/validation.hpp"
#include "passes/coarsen/search/search.hpp"
#include "passes/loop_carry/search.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shared/stopwatch.hpp"
#include "target/chips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ptxasw::manager {
namespace {

Report summary(const ptx::Module& module) {
  Report report;
  report.file = module.file;
  for (const ptx::Diagnostic& diagnostic : module.diagnostics) {
    const ptx::Position at = module.lines.position(diagnostic.where.begin);
    report.messages.push_back(
        {at.line, at.column, ptx::render(diagnostic, *module.text, module.lines, module.file)});
  }
  const ptx::Coverage coverage = ptx::coverage(module);
  report.statements = coverage.statements;
  report.opaque_statements = coverage.opaque_statements;
  report.bytes = coverage.bytes;
  report.opaque_bytes = coverage.opaque_bytes;
  return report;
}

// The kernel stays as it was, whatever was planned for it.
void take_back(KernelReport& kernel, const Why& why) {
  const auto undo = [&](Decision& decision, std::string_view what) {
    if (decision.status != Status::not_asked)
      decision = {Status::refused, why.reason, fmt::format("{}: {}", what, why.text)};
  };
  kernel.changed = false;
  kernel.left_alone = why;
  for (const passes::PassRow* row : all_passes())
    if (!row->undone.empty()) undo(kernel.*row->decision, row->undone);
  kernel.keep_grid();
}

// A rotated kernel that was told how many registers it has may do without that.
bool without_limit(KernelJob& job, const Options& options) {
  if (job.rotation().registers == 0) return false;
  job.rotate(passes::rotation_without_limit(options));
  return true;
}

Why reason_to_leave(const Reverted& back) {
  if (!back.refusal.empty())
    return {Reason::ptxas_refused,
            "reverted: ptxas did not take the rewritten kernel: " + back.refusal};
  if (!back.after)
    return {Reason::not_assembled, "reverted: what it needs when rewritten is not known"};
  if (!back.body_changed.empty())
    return {Reason::body_changed,
            "reverted: launches that are not merged would run other machine code: " +
                back.body_changed};
  const bool more = back.before && back.after->shared > back.before->shared;
  return {Reason::registers,
          fmt::format("reverted: rewritten it needs {} registers, {} bytes of stack and {} of "
                      "spills{}, and might not launch, or not in as many blocks at a time, or run "
                      "more slowly",
                      back.after->registers, back.after->stack,
                      back.after->spill_stores + back.after->spill_loads,
                      more ? fmt::format(", {} bytes of shared memory", back.after->shared) : "")};
}

} // namespace

void ModuleJob::parsed(std::shared_ptr<const ptx::Module> module) {
  module_ = std::move(module);
  report_ = summary(*module_);
  const std::string_view chip = passes::architecture_of(*module_, options_);
  const bool any_kernel = std::ranges::any_of(module_->functions, &ptx::Function::is_entry);
  if (std::string whose = numbers::whose_numbers(chip); any_kernel && !whose.empty())
    report_.messages.push_back({0, 0, fmt::format("{}: {}", module_->file, whose)});
}

ModuleJob::ModuleJob(Input input, const Options& options, const Sequence& sequence, Purpose purpose,
                     emulator::Emulations* kept, const KnownKernels* known)
    : options_(options), passes_(sequence.passes), purpose_(purpose) {
  parsed(std::move(input.module));
  report_.parses = input.parses;
  report_.parse_ms = input.milliseconds;
  const passes::Stopwatch analysis;
  const std::unordered_set<std::string_view> only(sequence.kernels.begin(), sequence.kernels.end());
  for (const ptx::Function& function : module_->functions) {
    if (function.is_declaration) continue;
    if (!only.empty() && !only.contains(function.name)) continue;
    Kernel& kernel = kernels_.emplace_back();
    kernel.function = static_cast<std::size_t>(&function - module_->functions.data());
    const profile::Answer answer =
        known == nullptr ? profile::Answer{} : known->answer(kernel.function);
    kernel.refused = why_untouched(answer);
    if (known != nullptr) kernel.options = known->options_for(kernel.function, options_);
    kernel.job.emplace(*module_, function, kernel.options ? *kernel.options : options_,
                       kernel.refused.empty() ? passes_ : PassList(), purpose, kept, answer.kernel);
    finish(kernel);
    kernel.launches = kernel.job->launches();
    kernel.had_candidates = !kernel.job->candidates().candidates.empty();
    const bool open = !kernel.result.edits.empty() || kernel.result.waits_for_contraction ||
                      kernel.had_candidates;
    if (!open) kernel.job.reset(); // a large module has many, each with all its terms
  }
  report_.emulations = static_cast<unsigned>(kernels_.size());
  report_.analyze_ms = analysis.milliseconds();
}

ModuleJob::ModuleJob(passes::Pinning& pinning, ModuleJob& earlier)
    : options_(earlier.options_), passes_(earlier.passes_), purpose_(earlier.purpose_) {
  const Report& before = earlier.report_;
  parsed(std::make_shared<const ptx::Module>(std::move(*pinning.module)));
  const passes::Stopwatch analysis;
  options_.coarsen_auto = false; // the ways are known, and not listed again
  for (Kernel& known : earlier.kernels_) {
    Kernel& kernel = kernels_.emplace_back();
    kernel.function = known.function;
    kernel.launches = known.launches;
    kernel.options = std::move(known.options);
    if (kernel.options) kernel.options->coarsen_auto = false;
    kernel.refused = std::move(known.refused);
    kernel.had_candidates = known.had_candidates;
    const bool is_final = known.result.edits.empty() && !known.result.waits_for_contraction;
    if (is_final || !known.job) {
      kernel.result = std::move(known.result);
      continue;
    }
    kernel.job.emplace(*module_, module_->functions.at(known.function),
                       kernel.options ? *kernel.options : options_, passes_, purpose_, *known.job);
    kernel.job->candidates() = std::move(known.job->candidates());
    kernel.job->rotate(known.job->rotation());
    if (const auto found = pinning.kernels.find(kernel.job->name()); found != pinning.kernels.end())
      kernel.job->describe(found->second);
    finish(kernel);
    if (kernel.job->is_emulated()) ++report_.emulations;
  }
  report_.bytes = before.bytes; // of the input
  report_.opaque_bytes = before.opaque_bytes;
  report_.statements = before.statements;
  report_.opaque_statements = before.opaque_statements;
  report_.parses = before.parses + pinning.reads;
  report_.emulations += before.emulations;
  report_.trials = before.trials;
  report_.search_ms = before.search_ms;
  manager::add(report_.passes, before.passes);
  report_.parse_ms = before.parse_ms;
  report_.analyze_ms = before.analyze_ms + analysis.milliseconds();
}

std::vector<KernelJob*> ModuleJob::open_jobs() {
  std::vector<KernelJob*> open;
  for (Kernel& kernel : kernels_)
    if (kernel.job && !kernel.job->candidates().candidates.empty()) open.push_back(&*kernel.job);
  return open;
}

void ModuleJob::finish(Kernel& kernel, const Why& leave) {
  Why why = kernel.refused.empty() ? leave : kernel.refused;
  if (why.empty()) why = kernel.left;
  kernel.result = kernel.job->finish(why);
  manager::add(report_.passes, kernel.result.statistics);
  applied_.reset();
}

void ModuleJob::finish_decided() {
  for (Kernel& kernel : kernels_)
    if (kernel.job && kernel.job->candidates().decided) finish(kernel);
}

void ModuleJob::choose(Assembler& assembler) {
  if (const std::vector<KernelJob*> open = open_jobs(); !open.empty()) {
    std::vector<passes::CoarsenSearched> searched, timed; // by a run, which knows small launches
    for (KernelJob* job : open)
      (job->candidates().run == nullptr ? searched : timed).push_back(job->coarsen_searched());
    if (!searched.empty())
      passes::choose_coarsenings(*module_, searched, options_, assembler, report_);
    if (!timed.empty()) {
      Options all = options_;
      all.coarsen_large = true;
      all.effort = Effort::thorough;
      passes::choose_coarsenings(*module_, timed, all, assembler, report_);
    }
    finish_decided();
  }
  std::vector<passes::LoopCarrySearched> rotated;
  for (Kernel& kernel : kernels_)
    if (kernel.job && kernel.result.rotated && kernel.job->may_limit_loop_carry())
      rotated.push_back(kernel.job->rotation_searched());
  passes::choose_loop_carry_candidates(*module_, rotated, options_, assembler, report_);
  for (Kernel& kernel : kernels_)
    if (kernel.job && kernel.result.rotated) finish(kernel);
}

bool ModuleJob::take(const Remembered& remembered) {
  if (!manager::take(remembered, open_jobs())) return false;
  finish_decided();
  for (Kernel& kernel : kernels_) {
    if (!kernel.job || !kernel.result.rotated) continue;
    const auto found = remembered.rotations.find(kernel.job->name());
    if (found == remembered.rotations.end()) continue;
    kernel.job->rotate(found->second);
    finish(kernel);
  }
  return true;
}

std::map<std::string, passes::LoopCarryCandidate, std::less<>> ModuleJob::rotations() const {
  std::map<std::string, passes::LoopCarryCandidate, std::less<>> result;
  for (const Kernel& kernel : kernels_)
    if (kernel.job && kernel.result.rotated && kernel.job->rotation().registers != 0)
      result[kernel.job->name()] = kernel.job->rotation();
  return result;
}

std::vector<Remembered::KernelDecision> ModuleJob::ways() {
  std::vector<Remembered::KernelDecision> result;
  for (Kernel& kernel : kernels_) {
    if (!kernel.had_candidates) continue;
    Remembered::KernelDecision way{std::string(name(kernel)), {}};
    if (kernel.job && !kernel.result.edits.empty())
      for (const CoarsenCandidate& candidate : kernel.job->candidates().candidates)
        if (candidate.chosen) way.chosen = {candidate.how, candidate.gain};
    if (const Reason why = kernel.result.report.coarsening.reason; why != Reason::none)
      way.refused = why;
    result.push_back(std::move(way));
  }
  return result;
}

std::vector<std::string> ModuleJob::waiting() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_)
    if (kernel.result.waits_for_contraction) names.emplace_back(name(kernel));
  return names;
}

std::vector<Deferred> ModuleJob::deferred() {
  std::vector<Deferred> result;
  const Applied& now = applied();
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    const KernelResult& kernel = kernels_[n].result;
    if (!kernel.deferred.empty() && !kernel.edits.empty() && now.changes[n].refused.empty())
      result.push_back({std::string(name(kernels_[n])), kernel.deferred});
  }
  return result;
}

std::optional<ptx::Module> ModuleJob::take_made() {
  applied();
  return std::move(applied_->made.module);
}

std::vector<std::string> ModuleJob::questions() {
  std::vector<std::string> result;
  for (Kernel& kernel : kernels_) {
    if (kernel.had_candidates && kernel.job)
      result.push_back(fmt::format("which of {} candidates for coarsening {} pays",
                                   kernel.job->candidates().candidates.size(), name(kernel)));
    if (kernel.result.waits_for_contraction)
      result.push_back(fmt::format("which products of {} it fuses", name(kernel)));
    if (!kernel.result.edits.empty())
      result.push_back(fmt::format("whether {} becomes the same operations, and may launch as "
                                   "before",
                                   name(kernel)));
  }
  return result;
}

void ModuleJob::describe(const passes::Pinning& pinning) {
  for (Kernel& kernel : kernels_) {
    const auto found = pinning.kernels.find(name(kernel));
    if (found == pinning.kernels.end() || !kernel.job) continue;
    kernel.job->describe(found->second);
    finish(kernel);
  }
}

std::vector<std::string> ModuleJob::edited() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_)
    if (!kernel.result.edits.empty()) names.emplace_back(name(kernel));
  return names;
}

std::vector<std::string> ModuleJob::to_validate() const {
  return oracle::kernels_with_choice(*module_, {}, edited());
}

void ModuleJob::validate(Assembler& assembler) {
  const auto changed = oracle::kernels_with_choice(*module_, applied().made, edited());
  if (changed.empty()) return;
  for (const auto& [name, why] : oracle::validate(*module_, applied().made, changed, assembler))
    for (Kernel& kernel : kernels_)
      if (kernel.job && kernel.job->name() == name) {
        kernel.refused = why;
        finish(kernel);
      }
}

void ModuleJob::leave(const std::vector<Reverted>& reverted) {
  for (Kernel& kernel : kernels_) {
    if (!kernel.job) continue;
    const auto back = std::ranges::find(reverted, kernel.job->name(), &Reverted::kernel);
    finish(kernel, back == reverted.end() ? Why{} : reason_to_leave(*back));
  }
}

std::vector<Reverted> ModuleJob::choose_again(const std::vector<Reverted>& reverted) {
  std::vector<Reverted> left;
  for (const Reverted& back : reverted) {
    const auto kernel = std::ranges::find_if(
        kernels_, [&](const Kernel& k) { return k.job && k.job->name() == back.kernel; });
    if (kernel != kernels_.end() && back.after &&
        (passes::choose_another(*module_, kernel->job->candidates(), back, options_) ||
         without_limit(*kernel->job, options_))) {
      finish(*kernel);
      continue;
    }
    if (kernel != kernels_.end()) kernel->left = reason_to_leave(back);
    left.push_back(back);
  }
  return left;
}

const ModuleJob::Applied& ModuleJob::applied() {
  if (applied_) return *applied_;
  applied_.emplace();
  for (const Kernel& kernel : kernels_)
    applied_->changes.push_back({kernel.function, kernel.result.edits, {}});
  applied_->made = passes::apply(*module_, applied_->changes);
  return *applied_;
}

oracle::Printed ModuleJob::print() {
  const passes::Stopwatch printing;
  const Applied& now = applied();
  report_.print_ms += printing.milliseconds();
  oracle::Printed result{.made = {.text = now.made.text, .changed = false, .report = report_}};
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    const KernelResult& kernel = kernels_[n].result;
    std::vector<KernelReport>& reports = result.made.report.kernels;
    reports.push_back(kernel.report);
    if (const Why& why = now.changes[n].refused; !why.empty())
      take_back(reports.back(), why);
    else if (!kernel.edits.empty())
      result.changed.push_back(
          {std::string(name(kernels_[n])), kernel.merged_from, kernel.keeps_body});
    if (reports.back().changed)
      for (const passes::PassRow* row : kernel.emitted)
        std::ranges::find(result.made.report.passes, row->name, &PassStatistics::pass)->changed++;
  }
  result.made.changed = !result.changed.empty();
  return result;
}

passes::Launches ModuleJob::launches(std::string_view name) const {
  const auto kernel =
      std::ranges::find_if(kernels_, [&](const Kernel& k) { return this->name(k) == name; });
  return kernel != kernels_.end() ? kernel->launches : passes::Launches{};
}

} // namespace ptxasw::manager
