// The emulated kernel, the proofs' solver and the passes with their plans are kept, so that a
// decision can be made later, and made again.
#include "manager/kernel_job.hpp"

#include "emulator/carry_over.hpp"
#include "manager/describe.hpp"
#include "passes/coarsen/pass.hpp"
#include "passes/loop_carry/pass.hpp"
#include "passes/remap/pass.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shared/stopwatch.hpp"
#include "passes/shuffle/pass.hpp"
#include "passes/time_tile/emit/shapes.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/entries.hpp"
#include "passes/time_tile/other_kernel/untile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace ptxasw::manager {

using emulator::Kernel;

namespace {

Why why_given_up(const std::exception& error) {
  if (const auto* spent = dynamic_cast<const sym::BudgetSpent*>(&error))
    return {emulator::reason_of(*spent), spent->what()};
  return {Reason::internal_error, fmt::format("internal error: {}", error.what())};
}

} // namespace

struct KernelJob::Impl {
  Impl(const ptx::Module& module, const ptx::Function& function, const Options& options,
       const PassList& passes, Purpose purpose, emulator::Emulations* kept,
       const profile::Kernel* run = nullptr)
      : module_(module), function_(function), options_(options), list_(passes),
        facts_(module, function, options), purpose_(purpose), kept_(kept), run_(run) {
    report_.name = name_ = function.name;
    const std::uint32_t header = module.statements[function.statement].range.begin;
    report_.ptx_line = module.lines.position(header).line;
    const bool is_special =
        options.values || facts_.block_shape() != std::array<std::uint32_t, 3>{};
    if (is_special) kept_ = nullptr;
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (kept_ == nullptr || !kernel_) return;
    passes_ = {};
    analysed_.reset();
    solver_.reset();
    kept_->give(std::move(*kernel_));
  }

  // --- What is known ---------------------------------------------------------------------------

  // With an earlier job's emulation, if there is one that fits. It has the terms of that job's
  // trials, too: should they leave too little memory for the rest, all is done anew.
  void start(Impl* earlier) {
    const passes::Stopwatch all;
    try {
      if (earlier == nullptr || !take_emulation(*earlier) || !analyze_kept()) {
        emulate();
        analyze();
      }
    } catch (const std::exception& error) {
      is_analyzed_ = false;
      report_.left_alone = why_given_up(error);
      passes_ = {};
    }
    report_.milliseconds = all.milliseconds();
  }

  [[nodiscard]] bool analyze_kept() {
    try {
      analyze();
      return true;
    } catch (const sym::BudgetSpent&) {
      passes_ = {};
      analysed_.reset();
      solver_.reset();
      return false;
    }
  }

  // After a while in which others had the thread: kernels, and whoever asks an assembler.
  void go_on() {
    if (kernel_ && kernel_->context) kernel_->context->restart_clock();
  }

  [[nodiscard]] emulator::Budget budget() const {
    return {.time = options_.kernel_budget, .memory = options_.memory_budget};
  }
  [[nodiscard]] emulator::Follow followed() const {
    return options_.values ? emulator::Follow::stored_values : emulator::Follow::addresses;
  }

  // What another text of the function told, if this one tells the same.
  [[nodiscard]] bool take_emulation(Impl& earlier) {
    if (!earlier.kernel_) return false;
    kernel_ = emulator::carried_over(*earlier.kernel_, module_, function_, followed());
    emulation_steps_ = earlier.emulation_steps_;
    return kernel_.has_value();
  }

  void emulate() {
    const unsigned made = kept_ == nullptr ? 0 : kept_->made();
    kernel_ = kept_ != nullptr ? kept_->take(module_, function_)
                               : emulator::emulate(module_, function_, budget(),
                                                   facts_.block_shape(), followed());
    is_emulated_ = kept_ == nullptr || kept_->made() != made;
    if (is_emulated_ && kernel_->trace.refused.empty())
      emulation_steps_ = kernel_->context->spent();
  }

  void analyze() {
    if (!kernel_->trace.refused.empty()) {
      report_.left_alone = kernel_->trace.refused;
      return;
    }
    sym::Allowance rest = budget().allowance();
    rest.steps -= std::min(rest.steps, emulation_steps_);
    kernel_->context->allow(rest);
    solver_.emplace(*kernel_->context, sym::SolverOptions{.use_z3 = options_.use_z3,
                                                          .paranoid = options_.paranoid,
                                                          .total_budget = options_.kernel_budget,
                                                          .dump_directory = options_.dump_queries});
    analysed_ = std::make_unique<passes::Analysed>(
        passes::Analysed{.kernel = *kernel_,
                         .solver = *solver_,
                         .function = function_,
                         .options = options_,
                         .facts = facts_,
                         .run = run_,
                         .is_validated = purpose_ == Purpose::rewrite_validated});
    passes_ = KernelPasses(list_, options_, function_);
    passes_.find(*analysed_);
    is_analyzed_ = true;
    if (nothing_will_come()) return;
    is_weighed_ = true;
    const passes::Latitude& latitude = analysed_->latitude();
    report_.fusable = latitude.fusable;
    report_.foldable = latitude.foldable;
    const bool asked = purpose_ == Purpose::analyze || options_.steps != 0 || options_.steps_auto;
    if (asked && function_.is_entry) describe_time_step();
    kernel_->context->allow(
        budget().allowance()); // for all edits together, those of trials included
  }

  void describe_time_step() {
    passes::StepKernel seen(*kernel_);
    const passes::StepPlan step = seen.find();
    if (!step.refused.empty()) return;
    if (step.copy) {
      report_.steps = {Status::not_asked, Reason::none, passes::describe_step(step)};
      return;
    }
    const passes::StepPlan rotated = seen.find(passes::Motion::rotated);
    report_.steps = {Status::not_asked, Reason::none,
                     passes::describe_step(step) + passes::or_describe(rotated)};
    const auto count = options_.steps == 0 ? std::nullopt : std::optional(options_.steps);
    for (const passes::StepShape& shape : passes::step_shapes(step, count))
      if (report_.step_tile.count == 0 &&
          passes::write_steps(seen.kernel(), step, shape, "steps").refused.empty())
        report_.step_tile = passes::tile_of(step, shape);
  }

  // Nothing was found that could be done, and nobody reads what else there is to say.
  [[nodiscard]] bool nothing_will_come() const {
    return !options_.details && purpose_ != Purpose::analyze && !passes_.any_plan() &&
           !further_entries(options_);
  }

  // --- What is done ----------------------------------------------------------------------------

  KernelResult finish(const Why& leave) {
    KernelResult result{.report = report_};
    if (!is_analyzed_) return result;
    KernelReport& report = result.report;
    report.analyzed = true;
    result.edits = passes_.emit(*analysed_);
    passes_.describe(*analysed_, report);
    result.emitted = passes_.emitted();
    result.deferred = passes_.deferred();
    describe_rewrites(result);
    report.solver_queries = solver_->stats().queries;
    report.z3_queries = solver_->stats().by_z3;
    if (purpose_ == Purpose::analyze || !leave.empty()) {
      report.left_alone = leave;
      result.edits.clear();
    } else if (is_weighed_ && (!result.edits.empty() || is_open())) {
      leave_if_bits_could_change(result);
    }
    report.changed = !result.edits.empty();
    if (!report.changed) report.keep_grid();
    return result;
  }

  // What others have to know of them, and every access where somebody reads that.
  void describe_rewrites(KernelResult& result) const {
    const auto* coarsen = passes_.get<passes::CoarsenPass>();
    const auto* rotate = passes_.get<passes::LoopCarryPass>();
    if (coarsen != nullptr) {
      if (result.emitted.size() == 1) result.merged_from = coarsen->merged_from();
      result.keeps_body = coarsen->keeps_body();
    }
    if (rotate != nullptr) result.rotated = rotate->is_emitted();
    if (const auto* remap = passes_.get<passes::RemapPass>()) result.remapped = remap->emitted();
    const auto* shuffle = passes_.get<passes::ShufflePass>();
    if (options_.details && shuffle != nullptr)
      describe_accesses(analysed_->kernel, shuffle->emitted(),
                        rotate != nullptr ? rotate->emitted() : passes::LoopCarryPlan(),
                        facts_.block_shape(), result.report);
  }

  // Somebody has to choose among its candidates yet, or it could have some.
  [[nodiscard]] bool is_open() const {
    const auto* coarsen = passes_.get<passes::CoarsenPass>();
    return coarsen != nullptr && (coarsen->is_open() || coarsen->is_barred());
  }

  void leave_if_bits_could_change(KernelResult& result) {
    const Why why = analysed_->why_bits_could_change();
    if (why.empty()) return;
    result.report.left_alone = why;
    result.waits_for_contraction = analysed_->barring() == 0 && !result.edits.empty();
    result.edits.clear();
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const Options& options_;
  const PassList list_;
  passes::FunctionFacts facts_;
  Purpose purpose_;
  emulator::Emulations* kept_; // null: there are none, or they are others
  const profile::Kernel* run_; // what a run measured of it; null: nothing
  std::optional<Kernel> kernel_;
  std::optional<sym::Solver> solver_;
  std::unique_ptr<passes::Analysed> analysed_; // of these two
  KernelPasses passes_;
  passes::CoarsenChoices no_candidates_; // of a kernel that is not coarsened
  std::string name_;
  std::uint64_t emulation_steps_ = 0;
  bool is_emulated_ = false, is_analyzed_ = false;
  bool is_weighed_ = false; // and something may come of it
  KernelReport report_;     // as far as it does not hang on decisions
};

KernelJob::KernelJob(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, const PassList& passes, Purpose purpose,
                     emulator::Emulations* kept, const profile::Kernel* run)
    : impl_(std::make_unique<Impl>(module, function, options, passes, purpose, kept, run)) {
  impl_->start(nullptr);
}

KernelJob::KernelJob(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, const PassList& passes, Purpose purpose,
                     KernelJob& earlier)
    : impl_(std::make_unique<Impl>(module, function, options, passes, purpose,
                                   earlier.impl_->kept_)) {
  impl_->start(earlier.impl_.get());
}

KernelJob::~KernelJob() = default;
KernelJob::KernelJob(KernelJob&& other) noexcept = default;
KernelJob& KernelJob::operator=(KernelJob&& other) noexcept = default;

const std::string& KernelJob::name() const {
  return impl_->name_;
}

bool KernelJob::is_emulated() const {
  return impl_->is_emulated_;
}

passes::Launches KernelJob::launches() const {
  return impl_->facts_.launches();
}

passes::CoarsenChoices& KernelJob::candidates() {
  auto* coarsen = impl_->passes_.get<passes::CoarsenPass>();
  return coarsen != nullptr ? coarsen->choices() : impl_->no_candidates_;
}

passes::Coarsened KernelJob::coarsened(const Coarsening& how) {
  if (!impl_->analysed_) return {};
  impl_->go_on();
  try {
    auto* coarsen = impl_->passes_.get<passes::CoarsenPass>();
    return coarsen == nullptr ? passes::Coarsened() : coarsen->emit_as(*impl_->analysed_, how);
  } catch (const std::exception&) {
    return {}; // and the assembler will find it no different from the original
  }
}

passes::CoarsenSearched KernelJob::coarsen_searched() {
  return {name(), &candidates(), [this](const Coarsening& how) { return coarsened(how).edits; }};
}

passes::LoopCarryCandidate KernelJob::rotation() const {
  auto* rotate = impl_->passes_.get<passes::LoopCarryPass>();
  return rotate != nullptr ? rotate->way() : passes::LoopCarryCandidate();
}

void KernelJob::rotate(const passes::LoopCarryCandidate& way) {
  if (auto* rotate = impl_->passes_.get<passes::LoopCarryPass>()) rotate->way() = way;
}

bool KernelJob::may_limit_loop_carry() const {
  return impl_->function_.is_entry && !impl_->facts_.is_tuned();
}

passes::LoopCarrySearched KernelJob::rotation_searched() {
  auto* rotate = impl_->passes_.get<passes::LoopCarryPass>();
  return {name(), launches().resident, &rotate->way(),
          [this, rotate](const passes::LoopCarryCandidate& way) -> std::vector<ptx::Edit> {
            impl_->go_on();
            try {
              return rotate->emit_as(*impl_->analysed_, way);
            } catch (const std::exception&) {
              return {}; // as above
            }
          }};
}

void KernelJob::describe(const passes::Pinning::Kernel& pinning) {
  if (impl_->analysed_) impl_->analysed_->unpinned = pinning.refused.text;
  if (!pinning.refused.empty()) return;
  impl_->report_.pinned = pinning.sites;
  impl_->report_.pinned_bytes = pinning.identical;
}

KernelResult KernelJob::finish(const Why& leave) {
  const passes::Stopwatch finishing;
  KernelResult result;
  impl_->go_on();
  try {
    result = impl_->finish(leave);
  } catch (const std::exception& error) {
    result.report = {.name = name(), .ptx_line = impl_->report_.ptx_line};
    result.report.left_alone = why_given_up(error);
  }
  result.statistics = impl_->passes_.take_statistics();
  result.report.milliseconds = impl_->report_.milliseconds += finishing.milliseconds();
  return result;
}

} // namespace ptxasw::manager
