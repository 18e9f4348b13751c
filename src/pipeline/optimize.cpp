// The steps of optimize.hpp, one after another.
#include "pipeline/optimize.hpp"

#include "pipeline/coarsen_search.hpp"
#include "pipeline/contraction_search.hpp"
#include "pipeline/decisions.hpp"
#include "pipeline/judgement.hpp"
#include "pipeline/kernel_job.hpp"
#include "pipeline/register_guard.hpp"
#include "pipeline/variants.hpp"
#include "rewrite/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

namespace ptxasw::pipeline {
namespace {

class Timer {
public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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
void take_back(KernelReport& kernel, const std::string& why) {
  kernel.changed = false;
  kernel.reason = why;
  if (!kernel.coarsening.empty()) kernel.coarsening = "not coarsened: " + why;
  if (!kernel.remapping.empty()) kernel.remapping = "not remapped: " + why;
  if (!kernel.rotation.empty()) kernel.rotation = "not rotated: " + why;
  if (!kernel.rounds.empty()) kernel.rounds = "not in registers: " + why;
  kernel.grid_divided_by = {1, 1, 1};
}

// A module with the jobs of its functions.
class ModuleJob {
public:
  ModuleJob(std::string text, std::string file, const Options& options, bool rewrite)
      : options_(options) {
    const Timer parsing;
    module_ = ptx::parse(std::move(text), std::move(file));
    report_ = summary(module_);
    report_.parses = 1;
    report_.parse_ms = parsing.milliseconds();
    const Timer analysis;
    for (const ptx::Function& function : module_.functions) {
      if (function.is_declaration) continue;
      kernels_.push_back({static_cast<std::size_t>(&function - module_.functions.data()),
                          KernelJob(module_, function, options, rewrite),
                          {},
                          false});
      Kernel& kernel = kernels_.back();
      kernel.result = kernel.job->finish();
      kernel.launches = kernel.job->launches();
      const bool open = !kernel.result.edits.empty() || kernel.result.waits_for_contraction ||
                        !kernel.job->ways().candidates.empty();
      if (!open) kernel.job.reset(); // a large module has many, each with all its terms
    }
    report_.emulations = static_cast<unsigned>(kernels_.size());
    report_.analyze_ms = analysis.milliseconds();
  }
  ModuleJob(const ModuleJob&) = delete;
  ModuleJob& operator=(const ModuleJob&) = delete;

  void choose(Assembler& assembler) {
    std::vector<KernelJob*> open;
    for (Kernel& kernel : kernels_)
      if (kernel.job && !kernel.job->ways().candidates.empty()) open.push_back(&*kernel.job);
    if (open.empty()) return;
    const auto remembered = assembler.recall(*module_.text);
    is_new_ = !(remembered && take(*remembered, open)) &&
              choose_coarsenings(module_, open, options_, assembler, report_);
    for (Kernel& kernel : kernels_)
      if (kernel.job && kernel.job->ways().decided) kernel.result = kernel.job->finish();
  }

  // What was chosen, and has not been taken back, for the next call with the same text.
  void remember(Assembler& assembler) {
    if (!is_new_) return;
    std::vector<KernelJob*> decided;
    for (Kernel& kernel : kernels_)
      if (kernel.job && kernel.job->ways().decided) decided.push_back(&*kernel.job);
    assembler.remember(*module_.text, written(decided));
  }

  void leave(const std::vector<TakenBack>& taken_back) {
    for (const TakenBack& back : taken_back)
      for (Kernel& kernel : kernels_)
        if (kernel.job && kernel.job->name() == back.kernel) {
          kernel.result = kernel.job->finish(reason_to_leave(back));
          for (CoarsenCandidate& way : kernel.job->ways().candidates)
            way.chosen = false;
        }
  }

  // Kernels that would not compute with the same operations stay as they are.
  void judge(Assembler& assembler) {
    std::vector<std::string> changed;
    for (const Kernel& kernel : kernels_)
      if (!kernel.result.edits.empty()) changed.push_back(kernel.result.report.name);
    if (changed.empty()) return;
    for (const auto& [name, why] : pipeline::judge(module_, print().text, changed, assembler))
      for (Kernel& kernel : kernels_)
        if (kernel.job && kernel.job->name() == name) kernel.result = kernel.job->finish(why);
  }

  // Says what came of asking which products are fused.
  void describe(const Pinning& pinning) {
    for (Kernel& kernel : kernels_) {
      const auto found = pinning.kernels.find(kernel.result.report.name);
      if (found == pinning.kernels.end() || !kernel.job) continue;
      kernel.job->describe(found->second);
      kernel.result = kernel.job->finish();
    }
  }

  // The module with the edits of all its kernels.
  [[nodiscard]] Optimized print() const {
    Optimized result;
    result.report = report_;
    const Timer printing;
    std::vector<rewrite::FunctionEdits> changes; // by kernel of the report
    for (const Kernel& kernel : kernels_) {
      changes.push_back({kernel.function, kernel.result.edits, {}});
      result.report.kernels.push_back(kernel.result.report);
    }
    result.text = rewrite::apply(module_, changes);
    for (std::size_t n = 0; n < changes.size(); ++n)
      if (!changes[n].refused.empty()) take_back(result.report.kernels[n], changes[n].refused);
    result.changed = std::ranges::any_of(result.report.kernels,
                                         [](const auto& kernel) { return kernel.changed; });
    result.report.print_ms += printing.milliseconds();
    return result;
  }

  // Kernels that would be rewritten, were it known what ptxas fuses.
  [[nodiscard]] std::vector<std::string> waiting() const {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels_)
      if (kernel.result.waits_for_contraction) names.push_back(kernel.result.report.name);
    return names;
  }
  [[nodiscard]] Launches launches(std::string_view name) const {
    const auto kernel = std::ranges::find_if(
        kernels_, [&](const Kernel& k) { return k.result.report.name == name; });
    return kernel != kernels_.end() ? kernel->launches : Launches{};
  }

  [[nodiscard]] const Report& report() const { return report_; }
  // Counts what was done for an earlier version of the text, which is the input.
  void add(const Report& earlier) {
    report_.bytes = earlier.bytes; // of the input
    report_.opaque_bytes = earlier.opaque_bytes;
    report_.statements = earlier.statements;
    report_.opaque_statements = earlier.opaque_statements;
    report_.parses += earlier.parses;
    report_.emulations += earlier.emulations;
    report_.parse_ms += earlier.parse_ms;
    report_.analyze_ms += earlier.analyze_ms;
  }

private:
  struct Kernel {
    std::size_t function = 0;     // index into Module::functions
    std::optional<KernelJob> job; // none: nothing about it is open
    KernelResult result;
    Launches launches;
  };

  static std::string reason_to_leave(const TakenBack& back) {
    if (!back.after) return "taken back: what it needs when rewritten is not known";
    return fmt::format(
        "taken back: rewritten it needs {} registers, {} bytes of stack and {} of "
        "spills, and might not launch, or not in as many blocks at a time, or run more slowly",
        back.after->registers, back.after->stack,
        back.after->spill_stores + back.after->spill_loads);
  }

  const Options& options_;
  ptx::Module module_;
  std::vector<Kernel> kernels_;
  bool is_new_ = false; // what was chosen has not been remembered yet, and may be
  Report report_;       // of the module, without its kernels
};

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

} // namespace

namespace {

Optimized run_standard(const std::string& text, const std::string& file, const Options& options,
                       bool rewrite, Assembler* assembler) {
  if (text.size() > options.size_limit) return too_large(text, file, options.size_limit);
  std::optional<ModuleJob> job;
  job.emplace(text, file, options, rewrite);
  if (!rewrite || assembler == nullptr) return job->print();

  if (const auto waiting = job->waiting(); !waiting.empty()) {
    const Pinning pinning = pin_contractions(text, file, waiting, *assembler);
    if (pinning.text != text) {
      const Report earlier = job->report();
      job.emplace(pinning.text, file, options, rewrite);
      job->add(earlier);
    }
    job->describe(pinning);
  }
  job->choose(*assembler);
  if (options.fp_contract == FpContract::exact) job->judge(*assembler);
  const auto made = [&] {
    Optimized result = job->print();
    if (!result.changed) result.text = text; // pinned or not
    return result;
  };
  Optimized result = settle(
      made(), text, *assembler, [&](std::string_view kernel) { return job->launches(kernel); },
      [&](const std::vector<TakenBack>& taken_back) {
        job->leave(taken_back);
        return made();
      });
  job->remember(*assembler);
  return result;
}

} // namespace

Optimized run(std::string text, std::string file, const Options& options, bool rewrite,
              Assembler* assembler) {
  Optimized standard = run_standard(text, file, options, rewrite, assembler);
  if (!further_entries(options) || assembler == nullptr) return standard;
  return with_variants(std::move(standard), text, file, options, *assembler);
}

} // namespace ptxasw::pipeline
