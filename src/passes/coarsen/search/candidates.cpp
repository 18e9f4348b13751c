// The work of a candidate is counted on its plan (passes/coarsen/cost/guard_cost.hpp); nothing is
// emitted for it.
#include "passes/coarsen/search/candidates.hpp"

#include "passes/coarsen/cost/active_blocks.hpp"
#include "passes/coarsen/cost/block_uniform_cost.hpp"
#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/cost/guard_cost.hpp"
#include "passes/coarsen/cost/usage_estimate.hpp"
#include "passes/coarsen/emit/coarsen.hpp"
#include "passes/coarsen/find/block.hpp"
#include "passes/coarsen/find/serialized_blocks.hpp"
#include "passes/coarsen/find/shared_symbols.hpp"
#include "passes/shared/access_pattern.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/block_rules.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;

namespace {

// What is tried, and of how many instructions at most (two copies are always tried).
constexpr std::array<std::array<unsigned, 3>, 8> kernel_candidates{
    {{1, 2, 1}, {1, 4, 1}, {1, 8, 1}, {1, 1, 2}, {1, 1, 4}, {2, 1, 1}, {4, 1, 1}, {2, 4, 1}}};
// And where the launcher divides the grid: no block returns at once, and what a launch is too small
// for is not chosen for it.
constexpr std::array<std::array<unsigned, 3>, 9> launcher_candidates{{{2, 1, 1},
                                                                      {4, 1, 1},
                                                                      {8, 1, 1},
                                                                      {1, 2, 1},
                                                                      {1, 4, 1},
                                                                      {1, 8, 1},
                                                                      {1, 1, 2},
                                                                      {1, 1, 4},
                                                                      {2, 4, 1}}};
constexpr std::size_t most_merged_instructions = 4096;
constexpr unsigned most_copies_in_columns = 4; // measured: Accesses::why_columns
constexpr int most_diverging_trip_counts = 4;
constexpr std::size_t most_streams = 8; // of an array that are told apart
constexpr std::uint64_t line_bytes = 128;

std::span<const std::array<unsigned, 3>> candidates_for_kernel(CoarsenGrid grid) {
  if (grid == CoarsenGrid::launcher) return launcher_candidates;
  return kernel_candidates;
}

// Loads from memory stand in a loop.
bool walks_memory(const Kernel& kernel) {
  return std::ranges::any_of(kernel.trace.events, [&](const Event& event) {
    return event.kind == EventKind::load && event.space != ptx::Space::shared &&
           kernel.loops.innermost[event.block] != ~0U;
  });
}

bool saves_far_loads(const CoarsenCost& cost) {
  return cost.after.far_loads <= numbers::coarsen::worth_fewer_blocks * cost.before.far_loads;
}

// Kernels that save no load may still gain: each thread has the loads of all copies under way at
// the same time, and C blocks wait at their barriers once. Few candidates are tried for that, and
// none where blocks walk through memory in loops: along x fewer of them are there to run while
// others wait, and rows of several blocks drive each other out of the L1 cache (rows of 4096
// elements that a block reads three times: 0.82 of the speed). There a tenth of the loads from
// memory has to go: with packed weights, of which each block has its own, half of the loads are
// saved, all of a table in shared memory, and y:2 ran at 0.90, y:8 in a divided grid at 0.95.
bool may_gain(const Kernel& kernel, const BlockPlan& plan, const Coarsening& how,
              const CoarsenCost& cost, CoarsenGrid grid) {
  const bool fewer = cost.after.loads < cost.before.loads;
  if ((plan.uniform || !plan.regions.empty()) && walks_memory(kernel)) return saves_far_loads(cost);
  const bool along_x = how.factors[0] == how.copies(), along_y = how.factors[1] == how.copies();
  const bool few =
      how.order == CoarsenOrder::copies && (how.copies() <= 4 || grid == CoarsenGrid::launcher);
  return fewer || (few && (along_y || (along_x && !walks_memory(kernel))));
}

// A text without loops tells, before any plan is made, that none will be taken of a kernel that
// asks for the size of its launch (passes/coarsen/cost/cost.hpp): by a guess of how short it is,
// whose logarithm is off by 0.18 (passes/coarsen/cost/usage_estimate.hpp).
Why never_pays(const Kernel& kernel, const target::Profile& profile, CoarsenGrid grid,
               double code_growth, bool asks_all) {
  if (grid != CoarsenGrid::kernel) return {};
  const auto is_loop = [](std::uint32_t loop) { return loop != ~0U; };
  if (std::ranges::any_of(kernel.loops.innermost, is_loop)) return {};
  CoarsenBaseline original;
  original.work.instructions = static_cast<double>(kernel.body.insts.size());
  original.work.loads =
      static_cast<double>(std::ranges::count(kernel.trace.events, EventKind::load, &Event::kind));
  original.usage = estimated_usage(original);
  return too_short(profile, original,
                   asks_all ? numbers::trial::surely_too_short
                            : numbers::trial::too_short / code_growth);
}

// What copies gain that run code one after the other, launchers measure.
bool may_have_regions(CoarsenGrid grid) {
  return grid == CoarsenGrid::launcher;
}

// Copies wait for each other's loads.
bool has_order(const emulator::Trace& trace) {
  return std::ranges::any_of(trace.events, [](const Event& event) {
    return event.kind == EventKind::load && event.ordered;
  });
}

// Copies along x alone are for grids that have no other axis.
bool is_flat(const Kernel& kernel) {
  return !ptx::reads_special(kernel.body, ptx::Special::ctaid_y) &&
         !ptx::reads_special(kernel.body, ptx::Special::ctaid_z);
}

// Beside others, copies along x are worth it only for what no copies along y would share (a matrix
// product).
bool leaves_fewer_loads(const CoarsenCandidate& candidate,
                        const std::vector<CoarsenCandidate>& others) {
  return std::ranges::all_of(others, [&](const CoarsenCandidate& other) {
    return candidate.work.loads < other.work.loads || other.how.factors == candidate.how.factors;
  });
}

CopyOrder order_of(const Coarsening& how) {
  return how.order == CoarsenOrder::copies ? CopyOrder::copies : CopyOrder::instructions;
}

BlockPlan plan_of(Kernel& kernel, sym::Solver& solver, const Coarsening& how, CoarsenGrid grid,
                  bool paranoid = false) {
  return find_block_reuse(kernel, solver,
                          {.factors = how.factors,
                           .regions = may_have_regions(grid),
                           .order = order_of(how),
                           .paranoid = paranoid});
}

// What the accesses of a kernel ask of the memory system.
class Accesses {
public:
  Accesses(Kernel& kernel, const target::Profile& profile)
      : k_(kernel), relaxed_(*kernel.context, kernel.trace.special(ptx::Special::tid_x)) {
    for (const Event& event : kernel.trace.events) {
      if (event.kind == EventKind::clobber) {
        cycles_.push_back(0);
        continue;
      }
      const target::ShuffleCandidate what =
          candidate(access_pattern(event, relaxed_.stride(event.address)));
      cycles_.push_back(target::access_cycles(profile, what));
      note_array(event, what);
      if (column_ == nullptr && event.kind == EventKind::load &&
          cycles_.back() > numbers::coarsen::most_lines)
        column_ = &event;
    }
  }

  [[nodiscard]] const std::vector<double>& cycles() const { return cycles_; }
  // Measured for heat_t, whose lanes walk down columns: 1.16, 1.16, 0.81 for 2, 4, 8 copies. So two
  // and four are left to launchers, which measure, if they save loads. How far apart lanes are is
  // often a parameter, too (the stride of a convolution): then it may be little.
  [[nodiscard]] Why why_columns() const {
    if (column_ == nullptr) return {};
    const std::uint32_t line = ptx::line_of(k_.body, k_.body.insts[column_->inst]);
    if (column_->space == ptx::Space::shared)
      return {Reason::vertical_access,
              fmt::format("each lane of the load at PTX line {} reads a row of its own in shared "
                          "memory, and what merged blocks make of that is not known",
                          line)};
    return {Reason::vertical_access,
            fmt::format("each lane of the load at PTX line {} reads a line of its own, and the "
                        "lines of several rows do not stay in the L1 cache",
                        line)};
  }
  [[nodiscard]] bool may_be_measured(CoarsenGrid grid) const {
    return grid == CoarsenGrid::launcher && column_->space != ptx::Space::shared;
  }
  void describe(CoarsenBaseline& original) const {
    for (const auto& [array, bytes] : arrays_)
      original.memory_bytes += bytes;
    for (const auto& [array, bytes] : stored_)
      original.stored_bytes += bytes;
    for (const auto& [array, bytes] : gathered_)
      original.gathered_bytes += bytes;
  }

private:
  // An array is what one pointer parameter leads to. One whose address leaves out a block index
  // that the kernel reads is read again by other blocks, from the L2 cache.
  void note_array(const Event& event, const target::ShuffleCandidate& what) {
    sym::Context& c = *k_.context;
    if (what.lane_stride == 0) return;
    for (const ptx::Special axis :
         {ptx::Special::ctaid_x, ptx::Special::ctaid_y, ptx::Special::ctaid_z}) {
      const sym::Term index = k_.trace.special(axis);
      if (index.valid() && !c.depends_on(event.address, index)) return;
    }
    const double once = std::min(what.sectors.least, target::warp_lanes) * target::sector_bytes;
    for (const sym::Term atom : c.atoms(event.address)) {
      const sym::Atom& info = c.atom_info(atom);
      if (info.kind != static_cast<std::uint32_t>(emulator::AtomKind::parameter) ||
          info.width != 64)
        continue;
      const double bytes = streamed(event, info.tag, once);
      double& most = arrays_[info.tag];
      most = std::max(most, bytes);
      if (event.kind == EventKind::store) stored_[info.tag] = bytes;
      if (is_gathered(event, what)) {
        const unsigned sectors = std::min(what.sectors.most, target::warp_lanes);
        gathered_[info.tag] = sectors * target::sector_bytes - once;
      }
      return;
    }
  }

  // Bytes of an array that a warp reads or writes in a loop that walks through it, as packed
  // weights are read: those of a trip as often as it makes one. Accesses that are whole trips
  // apart, or next to each other, meet the same bytes.
  double streamed(const Event& event, std::uint32_t array, double bytes) {
    const std::uint32_t loop = k_.loops.innermost[event.block];
    if (loop == ~0U) return bytes;
    sym::Context& c = *k_.context;
    const Stride step = relaxed_.stride(event.address, k_.trace.iterations[loop]);
    if (step.kind == Stride::Kind::unknown || c.value(step.term) == sym::Bits{0}) return bytes;
    if (step.kind == Stride::Kind::constant)
      bytes = std::min(bytes, std::abs(static_cast<double>(step.bytes)));
    std::vector<sym::Term>& streams = streams_[{array, loop}];
    const sym::Term address = relaxed_.of(event.address);
    const auto is_met = [&](sym::Term other) {
      const sym::Term apart = c.sub(address, other);
      for (int iterations = -most_diverging_trip_counts; iterations <= most_diverging_trip_counts;
           ++iterations) {
        const sym::Term steps =
            c.mul(step.term, c.constant(64, static_cast<std::uint64_t>(std::int64_t{iterations})));
        const auto rest = c.value(c.sub(apart, steps));
        // either way
        if (rest && static_cast<std::uint64_t>(*rest) + line_bytes - 1 < 2 * line_bytes - 1)
          return true;
      }
      return false;
    };
    if (streams.size() < most_streams && std::ranges::none_of(streams, is_met))
      streams.push_back(address);
    return bytes * static_cast<double>(streams.size()) * numbers::model::iterations;
  }

  // The lanes go where data says, and farther than an L1 cache reaches.
  [[nodiscard]] bool is_gathered(const Event& event, const target::ShuffleCandidate& what) const {
    if (what.lane != target::Lane::unknown || event.kind != EventKind::load) return false;
    sym::Context& c = *k_.context;
    sym::Term offset = event.address;
    for (const sym::Monomial& term : c.poly(event.address).terms)
      if (term.coefficient == 1 && term.factors.size() == 1 && is_pointer(term.factors[0]))
        offset = c.sub(offset, term.factors[0]);
    std::set<std::uint32_t> seen;
    return is_data(offset, seen) && c.range(offset).hi >= numbers::model::gathered;
  }

  [[nodiscard]] bool is_pointer(sym::Term term) const {
    const sym::Context& c = *k_.context;
    return c.kind(term) == sym::Kind::atom && c.width(term) == 64 &&
           c.atom_info(term).kind == static_cast<std::uint32_t>(emulator::AtomKind::parameter);
  }

  // Hangs on what some load gave: of memory that may change an atom, else a function of its
  // address.
  bool is_data(sym::Term term, std::set<std::uint32_t>& seen) const {
    const sym::Context& c = *k_.context;
    if (!seen.insert(term.id).second) return false;
    if (c.kind(term) == sym::Kind::apply && c.function_name(term).starts_with("ld")) return true;
    if (c.kind(term) == sym::Kind::atom)
      return c.atom_info(term).kind == static_cast<std::uint32_t>(emulator::AtomKind::loaded);
    return std::ranges::any_of(c.args(term), [&](sym::Term arg) { return is_data(arg, seen); });
  }

  Kernel& k_;
  AxisPolynomial relaxed_;
  std::vector<double> cycles_;
  const Event* column_ = nullptr; // the first load whose lanes walk down one
  std::map<std::uint32_t, double> arrays_, stored_, gathered_; // by offset of the parameter
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<sym::Term>> streams_; // and loop
};

// Of several candidates that are not tried, the reason that says most: that one would gain nothing,
// that it is not sound, and last that its axis is not there. Of each kind the first.
class DiagnosticSelection {
public:
  void of_no_use(const Why& why) { note(of_no_use_, why); }
  void not_sound(const Why& why) {
    note(why.reason == Reason::axis_unread ? absent_ : not_sound_, why);
  }
  [[nodiscard]] const Why& most() const {
    if (!of_no_use_.empty()) return of_no_use_;
    return not_sound_.empty() ? absent_ : not_sound_;
  }

private:
  static void note(Why& place, const Why& why) {
    if (place.empty()) place = why;
  }
  Why of_no_use_, not_sound_, absent_;
};

// What ptxas expands: rough weights, guessed rather than fitted.
double code_growth(const ptx::Inst& inst) {
  using enum ptx::Op;
  if (inst.mods.wide_approx) return 1;
  const bool wide = ptx::bit_width(inst.mods.type) == 64;
  switch (inst.op) {
  case div: return wide ? 40 : 12;
  case rem: return wide ? 40 : 12;
  case sqrt:
  case rcp: return wide ? 20 : 8;
  default: return 1;
  }
}

double code_growth(const ptx::Body& body) {
  double sum = 0;
  for (const ptx::Inst& inst : body.insts)
    sum += code_growth(inst);
  return body.insts.empty() ? 1 : sum / static_cast<double>(body.insts.size());
}

CoarsenWork per_copy(const CopyWork& work, unsigned copies) {
  const double instructions = work.loads + work.stores + work.other;
  return {.wavefronts = work.cycles / copies,
          .loads = work.loads / copies,
          .instructions = instructions / copies,
          .repeats = work.once > 0 ? std::max(1.0, instructions / work.once) : 1,
          .barriers = work.barriers / copies};
}

// Bytes of shared memory, with `copies` of what each has of its own.
unsigned shared_bytes(const Kernel& kernel, const BlockPlan& plan, unsigned copies) {
  if (!plan.uniform) return 0;
  return static_cast<unsigned>(SharedSymbols(kernel.body).bytes(plan.own, copies));
}

// From how many threads on a launch is merged, if all of them have something to do or only some.
std::uint64_t least_threads(const target::Profile& profile, const CoarsenBaseline& original,
                            const CoarsenCandidate& candidate, CoarsenGrid grid) {
  std::uint64_t busy = 0;
  if (candidate.work.barriers > 0)
    busy = least_threads_that_synchronize(profile, candidate.how);
  else if (grid == CoarsenGrid::kernel)
    busy = passes::least_threads(profile, candidate.how);
  return static_cast<std::uint64_t>(static_cast<double>(busy) / original.at_work);
}

} // namespace

Coarsened coarsen(Kernel& kernel, sym::Solver& solver, const Coarsening& how, CoarsenGrid grid,
                  bool paranoid) {
  const BlockPlan plan = plan_of(kernel, solver, how, grid, paranoid);
  const auto refused = [](Reason reason, const std::string& why) -> Coarsened {
    return {{}, {Status::refused, reason, "not coarsened: " + why}};
  };
  if (!plan.refused.empty()) return refused(plan.refused.reason, plan.refused);
  if (!can_divide(grid, plan))
    return refused(Reason::barrier,
                   "its threads synchronize, and the launcher would divide two axes");
  CoarsenReport done;
  Coarsened result;
  result.edits = passes::coarsen(
      kernel, plan, {.grid = grid, .registers = how.registers, .least_threads = how.least_threads},
      done);
  result.outcome = {
      Status::done, Reason::none,
      fmt::format("{} replicas in one block: {} loads become {}, {} of {} instructions shared",
                  done.copies, done.loads, done.loads_left, done.shared, done.instructions)};
  if (grid != CoarsenGrid::kernel) result.grid_divided_by = how.factors;
  result.rest_by_itself = grid == CoarsenGrid::launcher && plan.uniform;
  return result;
}

bool may_coarsen(Kernel& kernel, sym::Solver& solver, CoarsenGrid grid) {
  return std::ranges::any_of(
      candidates_for_kernel(grid), [&](const std::array<unsigned, 3>& factors) {
        if (factors[0] * factors[1] * factors[2] > 4)
          return false; // what eight share, two or four share
        const Coarsening how{.factors = factors};
        const BlockPlan plan = plan_of(kernel, solver, how, grid);
        if (!plan.refused.empty()) return false;
        return may_gain(kernel, plan, how, coarsen_cost(kernel, plan), grid) &&
               can_divide(grid, plan);
      });
}

CoarsenChoices coarsen_choices(Kernel& kernel, sym::Solver& solver, const target::Profile& profile,
                               CoarsenGrid grid, bool asks_all) {
  CoarsenChoices choices{.code_growth = code_growth(kernel.body),
                         .in_order = has_order(kernel.trace)};
  const Accesses accesses(kernel, profile);
  accesses.describe(choices.original);
  choices.original.at_work = share_at_work(kernel.body);
  const Why columns = accesses.why_columns();
  choices.why = columns;
  if (!columns.empty() && !accesses.may_be_measured(grid)) return choices;
  const bool launcher = grid == CoarsenGrid::launcher;
  choices.why = never_pays(kernel, profile, grid, choices.code_growth, asks_all);
  if (!choices.why.empty()) return choices;
  const analysis::ReplicaDivergence data = analysis::is_data_dependent(kernel.body);
  DiagnosticSelection why;
  for (const std::array<unsigned, 3>& factors : candidates_for_kernel(grid)) {
    const unsigned copies = factors[0] * factors[1] * factors[2];
    if (grid == CoarsenGrid::kernel && copies > most_copies(profile)) continue;
    if (copies > 2 && kernel.body.insts.size() * copies > most_merged_instructions) {
      why.not_sound({Reason::too_large, "too large"});
      continue;
    }
    for (const CoarsenOrder order : {CoarsenOrder::copies, CoarsenOrder::instructions}) {
      CoarsenCandidate candidate{.how = {.factors = factors, .order = order}};
      const BlockPlan plan = plan_of(kernel, solver, candidate.how, grid);
      if (!plan.refused.empty()) {
        why.not_sound(plan.refused);
        continue;
      }
      Why parts = why_data_diverges_replicas(kernel, plan.replica_divergence, data);
      if (parts.empty() && plan.uniform)
        parts = why_every_group_parts(kernel, plan.replica_divergence);
      if (!parts.empty()) {
        why.of_no_use(parts);
        continue;
      }
      const CoarsenCost cost = coarsen_cost(kernel, plan, accesses.cycles());
      choices.original.work = per_copy(cost.before, plan.count());
      choices.original.work.shared = shared_bytes(kernel, plan, 1);
      candidate.work = per_copy(cost.after, plan.count());
      candidate.work.shared = shared_bytes(kernel, plan, plan.count());
      candidate.how.least_threads = least_threads(profile, choices.original, candidate, grid);
      const bool worth_x = factors[0] == 1 || launcher || is_flat(kernel) ||
                           (factors[1] > 1 && leaves_fewer_loads(candidate, choices.candidates));
      Why left = {Reason::gains_too_little,
                  "no candidate that is sound saves loads, or has more of them under way"};
      if (!columns.empty() && (copies > most_copies_in_columns || !saves_far_loads(cost)))
        left = columns;
      else if (may_gain(kernel, plan, candidate.how, cost, grid) && worth_x &&
               can_divide(grid, plan))
        left = why_work_is_uneven(kernel, plan.replica_divergence, data);
      if (left.empty())
        choices.candidates.push_back(candidate);
      else
        why.of_no_use(left);
    }
  }
  if (choices.candidates.empty()) choices.why = columns.empty() ? why.most() : columns;
  return choices;
}

Decision decided(const CoarsenChoices& choices, const Decision& outcome) {
  const auto refused = [](Reason reason, const std::string& why) -> Decision {
    return {Status::refused, reason, "not coarsened: " + why};
  };
  if (choices.candidates.empty()) return refused(choices.why.reason, choices.why);
  const std::size_t considered = choices.candidates.size();
  const CoarsenCandidate& best = choices.candidates.front();
  if (best.chosen && choices.run != nullptr)
    return {outcome.status, outcome.reason,
            fmt::format("{}: {}; the launches of the profile take {:.2f} times less, best of {} {}",
                        to_string(best.how), outcome.text, best.gain, considered, choices.basis)};
  if (best.chosen)
    return {outcome.status, outcome.reason,
            fmt::format("{}: {}; predicted to run {:.2f} times as fast, best of {} {}",
                        to_string(best.how), outcome.text, best.gain, considered, choices.basis)};
  if (best.gain == 0) {
    const Why why = choices.refusal.empty()
                        ? best.verdict
                        : Why{Reason::ptxas_refused, "ptxas says: " + choices.refusal};
    return refused(why.reason, fmt::format("of {} {}, {} came nearest, and {}", considered,
                                           choices.basis, to_string(best.how), why.text));
  }
  if (choices.run != nullptr)
    return refused(best.verdict.reason,
                   fmt::format("the best of {} {} that the run has timed, {}, {}", considered,
                               choices.basis, to_string(best.how), best.verdict.text));
  return refused(
      best.verdict.reason,
      fmt::format("the best of {} {}, {}, is predicted to run {:.2f} times as fast and {}",
                  considered, choices.basis, to_string(best.how), best.gain, best.verdict.text));
}

} // namespace ptxasw::passes
