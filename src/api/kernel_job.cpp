// The order of the passes, and what each leaves in the report.
#include "api/kernel_job.hpp"

#include "api/access_pattern.hpp"
#include "api/coarsen_job.hpp"
#include "cost/access.hpp"
#include "cost/profile.hpp"
#include "cost/remap_choice.hpp"
#include "reuse/lane.hpp"
#include "rewrite/float_freedom.hpp"
#include "rewrite/remap.hpp"
#include "rewrite/shuffle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>

namespace ptxasw::api {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;
using reuse::Load;
using reuse::Stride;

namespace {

class Job {
public:
  Job(const ptx::Module& module, const ptx::Function& function, const Options& options)
      : module_(module), function_(function), options_(options) {}

  KernelResult run(bool rewrite) {
    KernelReport& report = result_.report;
    Kernel kernel = emulator::emulate(
        module_, function_, {.time = options_.kernel_budget, .memory = options_.memory_budget},
        block_shape(),
        options_.values ? emulator::Follow::stored_values : emulator::Follow::addresses);
    if (!kernel.trace.refused.empty()) {
      report.reason = kernel.trace.refused;
      return std::move(result_);
    }
    report.analyzed = true;
    const rewrite::Freedom freedom = rewrite::count_freedom(kernel.body);
    report.fusable = freedom.fusable;
    report.foldable = freedom.foldable;
    sym::Solver solver(*kernel.context, {.use_z3 = options_.use_z3,
                                         .paranoid = options_.paranoid,
                                         .total_budget = options_.kernel_budget,
                                         .dump_directory = options_.dump_queries});
    reuse::LanePlan plan = reuse::find_lane_reuse(kernel, solver,
                                                  {.max_delta = options_.shuffle_max_delta,
                                                   .shared = options_.shuffle_shared,
                                                   .no_index_wrap = assumed("no-index-wrap"),
                                                   .paranoid = options_.paranoid,
                                                   .block = block_shape()});
    choose(kernel, plan);
    const bool shuffled =
        options_.shuffle != ShuffleMode::none &&
        std::ranges::any_of(plan.loads, [](const Load& load) { return load.cover.has_value(); });
    std::vector<ptx::Edit> edits = coarsen(kernel, solver, shuffled);
    if (!edits.empty()) {
      for (Load& load : plan.loads)
        if (load.cover) drop(kernel, load, "its blocks are merged");
    }
    const std::vector<ptx::Edit> moved = remap(kernel, !edits.empty());
    if (!moved.empty() && reuse::moves_threads(remapped_.kind)) {
      for (Load& load : plan.loads)
        if (load.cover) drop(kernel, load, "its threads do each other's work");
    }
    if (edits.empty() && options_.shuffle != ShuffleMode::none)
      edits = rewrite::shuffle(kernel, plan, options_.emit);
    std::ranges::copy(moved, std::back_inserter(edits));
    describe(kernel, plan);
    report.solver_queries = solver.stats().queries;
    report.z3_queries = solver.stats().by_z3;
    if (!rewrite || (edits.empty() && !waits_)) return std::move(result_);
    if (!held_back().empty()) {
      report.reason = held_back();
      report.held_back = report.foldable == 0;
      return std::move(result_);
    }
    report.changed = true;
    result_.edits = std::move(edits);
    return std::move(result_);
  }

private:
  [[nodiscard]] std::array<std::uint32_t, 3> block_shape() const {
    std::array<std::uint32_t, 3> shape = options_.block.value_or(std::array<std::uint32_t, 3>{});
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (function_.reqntid[axis] != 0) shape[axis] = function_.reqntid[axis];
    }
    return shape;
  }

  [[nodiscard]] bool assumed(std::string_view what) const {
    return std::ranges::find(options_.assumptions, what) != options_.assumptions.end();
  }

  // Why the bits of results could change although each operation stays what it is; empty if they
  // cannot.
  [[nodiscard]] std::string held_back() const {
    const KernelReport& report = result_.report;
    if (options_.fp_contract != FpContract::exact) return {};
    if (report.foldable != 0)
      return fmt::format("ptxas chooses by itself whether it folds {} approximate functions whose "
                         "argument may be a constant, and rounds them otherwise than the hardware "
                         "does (--fp-contract=any rewrites all the same)",
                         report.foldable);
    if (report.fusable == 0) return {};
    return fmt::format("ptxas chooses by itself which products of {} additions it fuses, and the "
                       "last bit of results hangs on it; its choice is not known (opt and the "
                       "drop-in ask ptxas; --fp-contract=any rewrites all the same)",
                       report.fusable);
  }

  [[nodiscard]] std::string_view architecture() const {
    return options_.architecture.empty() ? module_.target : options_.architecture;
  }

  // Empty unless it was asked for and is sound. --coarsen=auto only says what there
  // is to choose from; who has a ptxas at hand chooses, and asks for that.
  std::vector<ptx::Edit> coarsen(Kernel& kernel, sym::Solver& solver, bool shuffled) {
    KernelReport& report = result_.report;
    if (!function_.is_entry) return {};
    Coarsening how{options_.coarsen, options_.coarsen_order, options_.coarsen_registers,
                   options_.coarsen_least_threads};
    const auto decided = options_.coarsen_kernels.find(function_.name);
    if (decided != options_.coarsen_kernels.end()) {
      how = decided->second;
    } else if (options_.coarsen_auto && how.copies() == 1) {
      list_candidates(kernel, solver, shuffled);
      return {};
    }
    if (how.copies() == 1) return {};
    Coarsened done = api::coarsen(kernel, solver, how, options_.coarsen_grid, options_.paranoid);
    report.grid_divided_by = done.grid_divided_by;
    report.coarsening = std::move(done.outcome);
    return std::move(done.edits);
  }

  void list_candidates(Kernel& kernel, sym::Solver& solver, bool shuffled) {
    KernelReport& report = result_.report;
    const cost::Profile* profile = cost::find_profile(architecture());
    if (profile == nullptr) {
      report.coarsening = fmt::format("not coarsened: nothing is known of {}", architecture());
    } else if (shuffled) {
      report.coarsening = "not coarsened: its loads are taken from other lanes";
    } else if (const RemapKind kind = remap_of(options_, function_.name).kind;
               kind != RemapKind::none && kind != RemapKind::automatic) {
      report.coarsening = "not coarsened: its work is to be remapped";
    } else if (!held_back().empty()) {
      waits_ = may_coarsen(kernel, solver);
    } else {
      CoarsenChoices choices = coarsen_choices(kernel, solver, *profile);
      report.original = choices.original;
      report.original.bounded = (function_.maxntid[0] | function_.reqntid[0]) != 0;
      report.original.tuned =
          report.original.bounded || function_.minnctapersm != 0 || function_.maxnreg != 0;
      report.original.threads = threads();
      report.candidates = std::move(choices.candidates);
      report.coarsening = report.candidates.empty() ? "not coarsened: " + choices.why
                                                    : "not coarsened: ptxas was not asked";
    }
  }

  // Of a block, as far as is known; a stated maximum is taken for what is launched.
  [[nodiscard]] unsigned threads() const {
    const auto count = [](const std::array<std::uint32_t, 3>& shape) {
      return std::max(shape[0], 1U) * std::max(shape[1], 1U) * std::max(shape[2], 1U);
    };
    if (const auto known = block_shape(); known[0] != 0) return count(known);
    return function_.maxntid[0] != 0 ? count(function_.maxntid) : 0;
  }

  // Empty unless it was asked for (or, with auto, is likely to pay) and is sound.
  std::vector<ptx::Edit> remap(Kernel& kernel, bool coarsened) {
    std::string& outcome = result_.report.remapping;
    const Remap asked = remap_of(options_, function_.name);
    if (asked.kind == RemapKind::none || !function_.is_entry) return {};
    reuse::RemapPlan plan{.refused = "its blocks are merged already", .remap = asked};
    if (!coarsened) {
      plan = asked.kind == RemapKind::automatic ? propose_remap(kernel)
                                                : reuse::plan_remap(kernel, asked);
    }
    if (!plan.refused.empty()) {
      outcome = fmt::format("not remapped ({}): {}", text_of(plan.remap), plan.refused);
      return {};
    }
    remapped_ = plan.remap;
    outcome = "remapped: " + text_of(remapped_) + outcome;
    return rewrite::remap(kernel, plan);
  }

  // The first that is proposed and sound.
  [[nodiscard]] reuse::RemapPlan propose_remap(Kernel& kernel) {
    reuse::RemapPlan none{.refused = "no order of blocks or threads is known to pay",
                          .remap = {.kind = RemapKind::automatic}};
    std::vector<cost::RemapProposal> proposals{cost::propose_thread_swap(kernel)};
    const auto& [x, y, z] = block_shape();
    if (const cost::Profile* profile = cost::find_profile(architecture()))
      proposals.push_back(cost::propose_linear_column(kernel, *profile, x * y * z));
    for (const cost::RemapProposal& proposal : proposals) {
      if (proposal.remap.kind == RemapKind::none) {
        if (!proposal.why.empty()) none.refused = proposal.why;
        continue;
      }
      reuse::RemapPlan plan = reuse::plan_remap(kernel, proposal.remap);
      plan.lane_stride = proposal.lane_stride;
      if (!plan.refused.empty()) {
        none = std::move(plan);
        continue;
      }
      result_.report.remapping = "; " + proposal.why;
      return plan;
    }
    return none;
  }

  // --- What pays -------------------------------------------------------------------------------

  // --shuffle=auto: first each load by itself, then the kernel as a whole.
  void choose(Kernel& kernel, reuse::LanePlan& plan) const {
    if (options_.shuffle != ShuffleMode::automatic) return; // none: the report shows what could be
    const cost::Profile* profile = cost::find_profile(architecture());
    double before = 0, saved = 0;
    for (Load& load : plan.loads) {
      const Event& event = kernel.trace.events[load.event];
      const cost::Pattern p = access_pattern(event, load.lane_stride, load.trip_stride);
      if (profile != nullptr) before += cost::access_cycles(*profile, candidate(p));
      if (!load.cover) continue;
      const cost::Verdict verdict =
          cost::shuffle_verdict(architecture(), candidate(p, load.cover->delta));
      if (verdict.pays) {
        saved += verdict.gain();
      } else {
        drop(kernel, load, verdict.reason);
      }
    }
    if (profile == nullptr) return;
    before += store_cycles(kernel, *profile);
    if (cost::kernel_pays(*profile, before, before - saved)) return;
    for (Load& load : plan.loads) {
      if (!load.cover) continue;
      drop(kernel, load,
           fmt::format("all accesses together would only go from {:.0f} to {:.0f} cycles a warp",
                       before, before - saved));
    }
  }

  [[nodiscard]] static double store_cycles(Kernel& kernel, const cost::Profile& profile) {
    reuse::Relaxed relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
    double cycles = 0;
    for (const Event& event : kernel.trace.events) {
      if (event.kind != EventKind::store) continue;
      const cost::Pattern p = access_pattern(event, relaxed.stride(event.address));
      cycles += cost::access_cycles(profile, candidate(p));
    }
    return cycles;
  }

  void drop(const Kernel& kernel, Load& load, std::string_view why) const {
    load.kept = fmt::format("lane {:+} of line {} has it, but {}", load.cover->delta,
                            line_of(kernel, kernel.trace.events[load.cover->source].inst), why);
    load.cover.reset();
  }

  // --- The report ------------------------------------------------------------------------------

  [[nodiscard]] static std::uint32_t line_of(const Kernel& kernel, ptx::InstId inst) {
    return ptx::line_of(kernel.body, kernel.body.insts[inst]);
  }

  void describe(Kernel& kernel, const reuse::LanePlan& plan) {
    KernelReport& report = result_.report;
    reuse::Relaxed relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
    auto load = plan.loads.begin();
    for (std::size_t e = 0; e < kernel.trace.events.size(); ++e) {
      const Event& event = kernel.trace.events[e];
      if (event.kind == EventKind::clobber) continue;
      if (event.kind == EventKind::store) {
        report.accesses.push_back(access(kernel, event, relaxed.stride(event.address), Stride{}));
        continue;
      }
      report.accesses.push_back(access(kernel, event, load->lane_stride, load->trip_stride));
      describe_load(kernel, *load, report.accesses.back());
      ++load;
    }
    std::ranges::stable_sort(report.accesses, {}, &AccessReport::ptx_line);
    if (report.shuffles != 0) report.mean_delta /= report.shuffles;
  }

  [[nodiscard]] AccessReport access(Kernel& kernel, const Event& event, const Stride& lane,
                                    const Stride& trip) const {
    const ptx::Inst& inst = kernel.body.insts[event.inst];
    AccessReport report;
    report.ptx_line = line_of(kernel, event.inst);
    report.source_line = inst.line;
    if (inst.line != 0 && inst.file < module_.files.size()) {
      report.source_file = module_.files[inst.file];
    }
    report.is_store = event.kind == EventKind::store;
    report.space = ptx::name(event.space);
    report.bytes = event.element_bytes * event.elements;
    report.qualifiers = qualifiers(inst);
    report.address = kernel.context->to_string(event.address);
    for (const sym::Term value : event.values)
      report.values.push_back(kernel.context->to_string(value));
    const cost::Pattern p = access_pattern(event, lane, trip);
    if (p.lane == cost::Lane::constant) report.lane_stride = p.stride;
    const cost::Range sectors = cost::sectors_of(p);
    report.sectors = {sectors.least, sectors.most};
    report.access = cost::classify(p);
    const std::uint32_t loop = kernel.loops.innermost[event.block];
    report.loop_depth = loop == ~0U ? 0 : kernel.loops.loops[loop].depth;
    return report;
  }

  // The modifiers that say more than space and type: ".nc", ".volatile", ".v4".
  [[nodiscard]] std::string qualifiers(const ptx::Inst& inst) const {
    const ptx::Instruction& syntax = module_.instructions[module_.statements[inst.statement].index];
    std::string text;
    for (const std::string_view modifier : module_.modifiers_of(syntax)) {
      if (modifier.substr(1) == ptx::name(inst.mods.space) ||
          modifier.substr(1) == ptx::name(inst.mods.type)) {
        continue;
      }
      text += modifier;
    }
    return text;
  }

  void describe_load(Kernel& kernel, const Load& load, AccessReport& access) {
    KernelReport& report = result_.report;
    ++report.loads;
    access.reason = load.kept;
    if (!load.cover) return;
    const reuse::Cover& cover = *load.cover;
    ++report.covered;
    access.outcome = cover.delta == 0 ? Outcome::moved : Outcome::shuffled;
    access.delta = cover.delta;
    access.source_ptx_line = line_of(kernel, kernel.trace.events[cover.source].inst);
    access.proof = sym::name(cover.proof);
    access.facts = facts(kernel, cover);
    if (cover.delta == 0) {
      ++report.moves;
    } else {
      ++report.shuffles;
      report.mean_delta += std::abs(cover.delta); // divided at the end
    }
  }

  [[nodiscard]] std::vector<Fact> facts(Kernel& kernel, const reuse::Cover& cover) const {
    std::vector<Fact> result;
    if (cover.delta != 0) {
      result.push_back({FactKind::checked, "all 32 lanes are active"});
      result.push_back({FactKind::checked, fmt::format("%laneid {:+} is in 0..31", cover.delta)});
      if (cover.row_check) {
        result.push_back(
            {FactKind::checked, fmt::format("0 <= %tid.x {:+} < %ntid.x", cover.delta)});
      } else {
        const bool required = function_.reqntid[0] != 0;
        result.push_back({required ? FactKind::architectural : FactKind::promised,
                          fmt::format("%ntid.x = {}, a multiple of 32", block_shape()[0])});
      }
    }
    for (const reuse::NoWrap& check : cover.checks) {
      result.push_back(fact(kernel, check.fact, FactKind::checked));
    }
    if (cover.space_check)
      result.push_back({FactKind::checked, "the generic address is in global memory"});
    for (const reuse::IndexFact& promised : cover.promised) {
      result.push_back(fact(kernel, promised, FactKind::promised));
    }
    return result;
  }

  static Fact fact(Kernel& kernel, const reuse::IndexFact& index, FactKind kind) {
    const sym::Context& c = *kernel.context;
    std::string sum = c.to_string(index.index), ranges;
    if (index.unit.valid()) {
      sum += fmt::format(" + n*({})", c.to_string(index.unit));
      ranges += fmt::format("n = {}..{}", index.units.lowest, index.units.highest);
    }
    if (index.constants.lowest != index.constants.highest) {
      sum += " + k";
      ranges += fmt::format("{}k = {}..{}", ranges.empty() ? "" : ", ", index.constants.lowest,
                            index.constants.highest);
    }
    return {kind, fmt::format("{} does not wrap as a {} 32-bit number for {}", sum,
                              index.is_signed ? "signed" : "unsigned", ranges)};
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const Options& options_;
  Remap remapped_;
  KernelResult result_;
  bool waits_ = false; // could be coarsened once its multiply-adds are pinned
};

} // namespace

KernelResult process(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, bool rewrite) {
  const auto start = std::chrono::steady_clock::now();
  KernelResult result;
  try {
    result = Job(module, function, options).run(rewrite);
  } catch (const std::exception& error) {
    result = {};
    result.report.reason = fmt::format("internal error: {}", error.what());
  }
  const std::uint32_t header = module.statements[function.statement].range.begin;
  result.report.name = function.name;
  result.report.ptx_line = module.lines.position(header).line;
  result.report.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

} // namespace ptxasw::api
