// The order of the passes. The emulated kernel, the proofs' solver and the plan for lanes are kept,
// so that a decision can be made later, and made again.
#include "manager/kernel_job.hpp"

#include "emulator/carry_over.hpp"
#include "manager/arbitrate.hpp"
#include "manager/describe.hpp"
#include "passes/coarsen/cost.hpp"
#include "passes/loop_carry/choose.hpp"
#include "passes/remap/choose.hpp"
#include "passes/shared/float_freedom.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shuffle/choose.hpp"
#include "passes/shuffle/lane.hpp"
#include "passes/shuffle/shuffle.hpp"
#include "passes/time_tile/entries.hpp"
#include "passes/time_tile/shapes.hpp"
#include "passes/warp_reduce/choose.hpp"
#include "passes/warp_reduce/emit.hpp"
#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>

namespace ptxasw::manager {

using emulator::Kernel;
using passes::Load;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr const char* merged_claim = "its blocks are merged";

Why why_given_up(const std::exception& error) {
  if (const auto* spent = dynamic_cast<const sym::BudgetSpent*>(&error))
    return {emulator::reason_of(*spent), spent->what()};
  return {Reason::internal_error, fmt::format("internal error: {}", error.what())};
}

Decision refusal(Reason reason, const std::string& text) {
  return {Status::refused, reason, text};
}

} // namespace

struct KernelJob::Impl {
  Impl(const ptx::Module& module, const ptx::Function& function, const Options& options,
       Purpose purpose)
      : module_(module), function_(function), options_(options), facts_(module, function, options),
        purpose_(purpose) {
    report_.name = name_ = function.name;
    const std::uint32_t header = module.statements[function.statement].range.begin;
    report_.ptx_line = module.lines.position(header).line;
  }

  // --- What is known ---------------------------------------------------------------------------

  // With an earlier job's emulation, if there is one that fits. It has the terms of that job's
  // trials, too: should they leave too little memory for the rest, all is done anew.
  void start(Impl* earlier) {
    const auto begin = Clock::now();
    try {
      if (earlier == nullptr || !take_emulation(*earlier) || !analyze_kept()) {
        emulate();
        analyze();
      }
    } catch (const std::exception& error) {
      is_analyzed_ = false;
      report_.left_alone = why_given_up(error);
      ways_ = {};
    }
    report_.milliseconds = milliseconds_since(begin);
  }

  [[nodiscard]] bool analyze_kept() {
    try {
      analyze();
      return true;
    } catch (const sym::BudgetSpent&) {
      solver_.reset();
      return false;
    }
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
    is_emulated_ = true;
    kernel_ = emulator::emulate(module_, function_, budget(), facts_.block_shape(), followed());
    if (kernel_->trace.refused.empty()) emulation_steps_ = kernel_->context->spent();
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
    passes::LaneOptions lanes{.max_delta = options_.shuffle_max_delta,
                              .shared = options_.shuffle_shared,
                              .no_index_wrap = facts_.assumed("no-index-wrap"),
                              .paranoid = options_.paranoid,
                              .block = facts_.block_shape(),
                              .could_pay = {}};
    if (!options_.details && options_.shuffle != ShuffleMode::all)
      lanes.could_pay = [&](const Load& load, int delta) {
        return passes::shuffle_could_pay(*kernel_, load, delta, options_.shuffle,
                                         facts_.architecture());
      };
    plan_ = passes::find_lane_reuse(*kernel_, *solver_, lanes);
    passes::choose_shuffles(*kernel_, plan_, options_.shuffle, facts_.architecture());
    rotation_ = passes::choose_rotations(
        *kernel_, *solver_, options_.rotate, facts_.architecture(),
        {.no_index_wrap = facts_.assumed("no-index-wrap"), .paranoid = options_.paranoid});
    rounds_ = passes::choose_rounds(*kernel_, *solver_, options_.rounds, facts_.architecture(),
                                    facts_.block_shape());
    if (nothing_will_come()) {
      is_analyzed_ = true;
      return;
    }
    freedom_ = passes::count_freedom(kernel_->body);
    list_ways();
    const bool asked = purpose_ == Purpose::analyze || options_.steps != 0 || options_.steps_auto;
    if (asked && function_.is_entry)
      if (const passes::StepPlan step = passes::find_step(*kernel_); step.refused.empty()) {
        const passes::StepPlan rotated = passes::find_step(*kernel_, passes::Motion::rotated);
        report_.steps = {Status::not_asked, Reason::none,
                         passes::describe_step(step) + passes::or_describe(rotated)};
        const auto count = options_.steps == 0 ? std::nullopt : std::optional(options_.steps);
        for (const passes::StepShape& shape : passes::step_shapes(step, count)) {
          if (report_.step_tile.count == 0 &&
              passes::write_steps(*kernel_, step, shape, "steps").refused.empty())
            report_.step_tile = passes::tile_of(step, shape);
        }
      }
    is_analyzed_ = true;
    kernel_->context->allow(
        budget().allowance()); // for all edits together, those of trials included
  }

  // Nothing was found that could be done, and nobody reads what else there is to say.
  [[nodiscard]] bool nothing_will_come() const {
    return !options_.details && purpose_ != Purpose::analyze && rotation_.plan.loops.empty() &&
           rounds_.plan.stretches.empty() && !passes::covers_any(plan_) && asked().copies() == 1 &&
           !options_.coarsen_auto && options_.remaps.empty() && !further_entries(options_);
  }

  [[nodiscard]] bool shuffles() const {
    return options_.shuffle != ShuffleMode::none && passes::covers_any(plan_);
  }

  // Why the bits of results could change although each operation stays what it is; empty if they
  // cannot.
  [[nodiscard]] Why why_bits_could_change() const {
    if (options_.fp_contract != FpContract::exact) return {};
    if (freedom_.halves != 0)
      return {Reason::machine_code,
              fmt::format("ptxas 13.0 may lose one of two halves where it packs half-precision "
                          "operations, and {} selections choose between halves "
                          "(--fp-contract=any rewrites all the same)",
                          freedom_.halves)};
    if (barring() != 0)
      return {Reason::folding_unknown,
              fmt::format("ptxas chooses by itself whether it folds {} approximate functions whose "
                          "argument may be a constant, and rounds them otherwise than the hardware "
                          "does{} (--fp-contract=any rewrites all the same)",
                          freedom_.foldable,
                          freedom_.scalable == 0
                              ? ""
                              : fmt::format(", and whether it rounds {} products by a "
                                            "power of two at all",
                                            freedom_.scalable))};
    if (freedom_.fusable == 0) return {};
    const std::string known = unpinned_.empty()
                                  ? "its choice is not known (opt and the drop-in ask ptxas"
                                  : fmt::format("its choice could not be pinned ({}", unpinned_);
    return {Reason::fusing_unknown,
            fmt::format("ptxas chooses by itself which products of {} additions it fuses, and the "
                        "last bit of results hangs on it; {}; --fp-contract=any rewrites all the "
                        "same)",
                        freedom_.fusable, known)};
  }

  // Approximate functions that may be folded in one place and not in another, and products that may
  // be made one with another; of those that fold alike, machine code shows whether they are.
  [[nodiscard]] unsigned barring() const {
    if (options_.fp_contract != FpContract::exact) return 0;
    return freedom_.halves + freedom_.foldable + freedom_.scalable -
           (purpose_ == Purpose::rewrite_judged ? freedom_.alike : 0);
  }

  // There are ways to coarsen it, and nobody has chosen one.
  [[nodiscard]] bool is_open() const { return !ways_.candidates.empty() && !ways_.decided; }

  [[nodiscard]] Coarsening asked() const {
    return {options_.coarsen, options_.coarsen_order, options_.coarsen_registers,
            options_.coarsen_least_threads};
  }

  // --coarsen=auto: what there is to choose from, or in words why there is nothing.
  void list_ways() {
    if (!options_.coarsen_auto || asked().copies() != 1) return;
    if (options_.variants) return; // a launcher chooses, and knows how large a launch is
    if (!function_.is_entry) {
      report_.coarsening =
          refusal(Reason::not_a_kernel, "not coarsened: nothing launches it by itself");
      return;
    }
    const target::Profile* profile = target::find_profile(facts_.architecture());
    if (profile == nullptr) {
      report_.coarsening =
          refusal(Reason::chip_unknown,
                  fmt::format("not coarsened: nothing is known of {}", facts_.architecture()));
    } else if (shuffles()) {
      report_.coarsening =
          refusal(Reason::other_rewrite, "not coarsened: its loads are taken from other lanes");
    } else if (const RemapKind kind = remap_of(options_, function_.name).kind;
               kind != RemapKind::none && kind != RemapKind::automatic) {
      report_.coarsening =
          refusal(Reason::other_rewrite, "not coarsened: its work is to be remapped");
    } else if (barring() != 0) {
      const Why why = why_bits_could_change();
      report_.coarsening = refusal(why.reason, "not coarsened: " + why.text);
      waits_ = passes::may_coarsen(*kernel_, *solver_, options_.coarsen_grid);
    } else {
      ways_ = passes::coarsen_choices(*kernel_, *solver_,
                                      options_.coarsen_large ? passes::for_large_launches(*profile)
                                                             : *profile,
                                      options_.coarsen_grid, options_.effort == Effort::thorough);
      for (CoarsenCandidate& way : ways_.candidates)
        if (way.how.least_threads != 0 && options_.coarsen_least_threads != 0)
          way.how.least_threads = options_.coarsen_least_threads;
      ways_.original.bounded = facts_.is_bounded();
      ways_.original.resident = facts_.launches().resident;
      ways_.original.shared_per_sm = profile->shared_per_sm;
      ways_.original.tuned = facts_.is_tuned();
      ways_.original.threads = facts_.threads();
      report_.coarsening =
          ways_.candidates.empty()
              ? refusal(ways_.why.reason, "not coarsened: " + ways_.why.text)
              : refusal(Reason::ptxas_not_asked, "not coarsened: ptxas was not asked");
    }
  }

  // --- What is done ----------------------------------------------------------------------------

  KernelResult finish(const Why& leave) {
    KernelResult result{.report = report_};
    if (!is_analyzed_) return result;
    KernelReport& report = result.report;
    report.analyzed = true;
    report.fusable = freedom_.fusable;
    report.foldable = freedom_.foldable;
    passes::LanePlan plan = plan_;
    passes::RotationChoice rotation = rotation_;
    passes::RoundsChoice rounds = rounds_;
    result.edits = arbitrate(proposals(result, plan, rotation, rounds));
    report.rotation = rotation.outcome;
    report.rounds = rounds.outcome;
    if (ways_.decided) report.coarsening = passes::decided(ways_, report.coarsening);
    report.shuffling = shuffling(plan);
    if (options_.details)
      describe_accesses(*kernel_, plan, rotation.plan, facts_.block_shape(), report);
    report.weighed = {ways_.original, ways_.candidates};
    report.solver_queries = solver_->stats().queries;
    report.z3_queries = solver_->stats().by_z3;
    if (purpose_ == Purpose::analyze || !leave.empty()) {
      report.left_alone = leave;
      result.edits.clear();
    } else if (const Why why = why_bits_could_change();
               !why.empty() && (!result.edits.empty() || waits_ || is_open())) {
      report.left_alone = why;
      result.waits_for_contraction = barring() == 0 && !result.edits.empty();
      result.edits.clear();
    }
    report.changed = !result.edits.empty();
    return result;
  }

  // What comes of --shuffle, as far as that does not hang on the machine code.
  [[nodiscard]] Decision shuffling(const passes::LanePlan& plan) const {
    if (options_.shuffle == ShuffleMode::none) return {};
    std::map<Reason, unsigned> counts;
    Reason most = Reason::no_loads;
    for (const Load& load : plan.loads) {
      if (load.cover) return {Status::done, Reason::none, {}};
      if (++counts[load.kept.reason] > counts[most]) most = load.kept.reason;
    }
    return refusal(most, {});
  }

  // In the order in which they are served. With --coarsen=auto a kernel that is shuffled or was to
  // be remapped has no ways to coarsen it.
  [[nodiscard]] std::vector<Proposal> proposals(KernelResult& result, passes::LanePlan& plan,
                                                passes::RotationChoice& rotation,
                                                passes::RoundsChoice& rounds) {
    KernelReport& report = result.report;
    return {
        {.needs = touches_blocks | touches_loads,
         .make = [&] { return coarsen(result); },
         .refuse = [](const std::string&) {}},
        {.needs = touches_blocks,
         .make = [&] { return remap(result); },
         .refuse =
             [&](const std::string& claim) {
               const Remap wanted = remap_of(options_, function_.name);
               if (wanted.kind != RemapKind::none && function_.is_entry)
                 report.remapping =
                     refusal(Reason::other_rewrite,
                             fmt::format("not remapped ({}): {} already", text_of(wanted), claim));
             }},
        {.needs = touches_loads,
         .make = [&] { return rotate(result, rotation); },
         .refuse =
             [&](const std::string& claim) {
               if (rotation.plan.loops.empty()) return;
               rotation.plan = passes::RotationPlan();
               rotation.outcome =
                   refusal(Reason::other_rewrite, "not rotated: " + claim + " already");
             }},
        {.needs = touches_loads,
         .make =
             [&] {
               return Made{passes::rounds_in_registers(*kernel_, rounds.plan, facts_.block_shape()),
                           touches_loads, "its trees are in registers"};
             },
         .refuse =
             [&](const std::string& claim) {
               if (rounds.plan.stretches.empty()) return;
               result.rounds_wait = claim == merged_claim;
               rounds = {.plan = {},
                         .outcome = refusal(Reason::other_rewrite,
                                            "not in registers: " + claim + " already")};
             }},
        {.needs = touches_loads,
         .make =
             [&] {
               if (options_.shuffle == ShuffleMode::none) return Made{};
               return Made{passes::shuffle(*kernel_, plan, options_.emit), touches_loads, ""};
             },
         .refuse =
             [&](const std::string& claim) {
               for (Load& load : plan.loads)
                 if (load.cover)
                   passes::drop_shuffle(*kernel_, load, {Reason::other_rewrite, claim});
             }}};
  }

  [[nodiscard]] Made coarsen(KernelResult& result) {
    KernelReport& report = result.report;
    Coarsening how = asked();
    if (!ways_.candidates.empty()) {
      if (!ways_.candidates.front().chosen) return {};
      how = ways_.candidates.front().how;
    }
    if (!function_.is_entry || how.copies() == 1) return {};
    passes::Coarsened done =
        passes::coarsen(*kernel_, *solver_, how, options_.coarsen_grid, options_.paranoid);
    if (!ways_.candidates.empty() && !done.edits.empty()) {
      result.merged_from = how.least_threads;
      result.keeps_body = how.least_threads != 0 && !options_.coarsen_large;
    }
    report.grid_divided_by = done.grid_divided_by;
    report.grid_rest_by_itself = done.rest_by_itself;
    report.coarsening = std::move(done.outcome);
    return {std::move(done.edits), touches_blocks | touches_loads, merged_claim};
  }

  [[nodiscard]] Made rotate(KernelResult& result, passes::RotationChoice& rotation) const {
    Made made{passes::rotated(*kernel_, rotation.plan, rotation_way_), touches_loads,
              "its loads are carried from trip to trip"};
    result.rotated = !made.edits.empty();
    if (!result.rotated) return made;
    if (rotation_way_.trips > 1)
      rotation.outcome.text += fmt::format("; {} trips at a time", rotation_way_.trips);
    if (rotation_way_.registers != 0)
      rotation.outcome.text += fmt::format("; in at most {} registers", rotation_way_.registers);
    return made;
  }

  // Empty unless it was asked for.
  [[nodiscard]] Made remap(KernelResult& result) {
    const Remap wanted = remap_of(options_, function_.name);
    if (wanted.kind == RemapKind::none || !function_.is_entry) return {};
    passes::Remapped done = passes::remap(*kernel_, wanted, facts_);
    result.report.remapping = std::move(done.outcome);
    result.remapped = done.remap;
    if (!done.remap) return {};
    const bool moves = passes::moves_threads(done.remap->kind);
    return {std::move(done.edits), moves ? touches_blocks | touches_loads : touches_blocks,
            moves ? "its threads do each other's work" : "its blocks are remapped"};
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const Options& options_;
  passes::FunctionFacts facts_;
  Purpose purpose_;
  std::optional<Kernel> kernel_;
  std::optional<sym::Solver> solver_;
  passes::LanePlan plan_;
  passes::RotationChoice rotation_;
  passes::RotationWay rotation_way_{.trips = std::max(options_.rotate_trips, 1U)};
  passes::RoundsChoice rounds_;
  passes::CoarsenChoices ways_;
  std::string name_;
  passes::Freedom freedom_; // of ptxas, to compute otherwise
  std::uint64_t emulation_steps_ = 0;
  bool is_emulated_ = false, is_analyzed_ = false;
  bool waits_ = false;   // could be coarsened, were it known what ptxas folds
  std::string unpinned_; // why they could not be
  KernelReport report_;  // as far as it does not hang on decisions
};

KernelJob::KernelJob(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, Purpose purpose)
    : impl_(std::make_unique<Impl>(module, function, options, purpose)) {
  impl_->start(nullptr);
}

KernelJob::KernelJob(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, Purpose purpose, KernelJob& earlier)
    : impl_(std::make_unique<Impl>(module, function, options, purpose)) {
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

passes::CoarsenChoices& KernelJob::ways() {
  return impl_->ways_;
}

passes::Coarsened KernelJob::coarsened(const Coarsening& how) {
  try {
    return passes::coarsen(*impl_->kernel_, *impl_->solver_, how, impl_->options_.coarsen_grid,
                           impl_->options_.paranoid);
  } catch (const std::exception&) {
    return {}; // and the assembler will find it no different from the original
  }
}

passes::CoarsenSearched KernelJob::coarsen_searched() {
  return {name(), &ways(), [this](const Coarsening& how) { return coarsened(how).edits; }};
}

passes::RotationSearched KernelJob::rotation_searched() {
  return {name(), launches().resident, &impl_->rotation_way_,
          [this](const passes::RotationWay& way) { return rotated(way); }};
}

passes::RotationWay KernelJob::rotation() const {
  return impl_->rotation_way_;
}

void KernelJob::rotate(const passes::RotationWay& way) {
  impl_->rotation_way_ = way;
}

bool KernelJob::may_limit_rotation() const {
  return impl_->function_.is_entry && !impl_->facts_.is_tuned();
}

std::vector<ptx::Edit> KernelJob::rotated(const passes::RotationWay& way) {
  try {
    passes::RotationPlan plan = impl_->rotation_.plan;
    return passes::rotated(*impl_->kernel_, plan, way);
  } catch (const std::exception&) {
    return {}; // as above
  }
}

void KernelJob::describe(const passes::Pinning::Kernel& pinning) {
  impl_->unpinned_ = pinning.refused.text;
  if (!pinning.refused.empty()) return;
  impl_->report_.pinned = pinning.sites;
  impl_->report_.pinned_bytes = pinning.identical;
}

KernelResult KernelJob::finish(const Why& leave) {
  const auto start = Clock::now();
  KernelResult result;
  try {
    result = impl_->finish(leave);
  } catch (const std::exception& error) {
    result.report = {.name = name(), .ptx_line = impl_->report_.ptx_line};
    result.report.left_alone = why_given_up(error);
  }
  result.report.milliseconds = impl_->report_.milliseconds += milliseconds_since(start);
  return result;
}

} // namespace ptxasw::manager
