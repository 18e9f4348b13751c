// Loads are taken in program order, copy by copy. A load whose address is the very term of an
// earlier one takes its value; only when there is none does one with the same relaxed address do,
// which rests on the bound that the kernel then checks on entry.
#include "passes/coarsen/find/block.hpp"

#include "passes/coarsen/find/block_uniform.hpp"
#include "passes/coarsen/find/region_loads.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/between.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/shared/pair.hpp"
#include "passes/shared/remap_rules.hpp"
#include "passes/shared/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using sym::Term;

namespace {

constexpr unsigned most_copies = 64;
constexpr std::size_t most_instructions = std::size_t{1} << 17; // of the lockstep form

std::string axis_name(unsigned axis) {
  return std::string(1, "xyz"[axis]);
}

class BlockReuse {
public:
  BlockReuse(emulator::Kernel& kernel, sym::Solver& solver, const BlockOptions& options,
             BlockPlan& plan)
      : k_(kernel), c_(*kernel.context), solver_(solver), options_(options), plan_(plan),
        shift_(kernel, plan.axes, plan.replica_divergence), relaxed_(c_, {}), between_(kernel),
        definitions_(analysis::definitions(kernel.body)), regions_(kernel, plan.regions),
        bounds_(kernel, relaxed_, [this](Term atom) { return known_at_entry(atom); }) {}

  void run() {
    for (unsigned axis = 0; axis < 3; ++axis)
      plan_.rows[axis] = shift_.row(axis);
    list_loads();
    for (const Step& step : plan_.schedule.steps) {
      const auto load = load_of_.find(step.inst);
      if (load == load_of_.end() || step.copy >= plan_.loads[load->second].copies.size()) continue;
      const Event& e = event(plan_.loads[load->second]);
      if (!takes_part(e)) continue;
      const bool apart = plan_.replica_divergence.is_apart(k_.body, inst(e));
      if (!apart)
        find_reuse_source(load->second, step.copy);
      else if (options_.regions && step.copy > 0)
        find_source_in_region(load->second, step.copy);
    }
  }

private:
  // A load of one copy whose value stands in a register.
  struct Holder {
    Source source;
    Term address; // in the terms of copy 0 (of its own copy, if it cannot be carried over)
  };
  // A term, and the copy that it is about where it cannot be carried over to others.
  using Key = std::pair<std::uint32_t, unsigned>;
  static constexpr unsigned any_copy = ~0U;

  [[nodiscard]] const Event& event(const BlockLoad& load) const {
    return k_.trace.events[load.event];
  }
  [[nodiscard]] const ptx::Inst& inst(const Event& e) const { return k_.body.insts[e.inst]; }

  std::optional<Term> in_copy(Term t, unsigned copy) {
    const auto& offsets = plan_.copies[copy];
    return shift_.moved(t, {offsets[0], offsets[1], offsets[2]});
  }

  void list_loads() {
    const auto& events = k_.trace.events;
    for (std::size_t e = 0; e < events.size(); ++e) {
      if (events[e].kind != EventKind::load) continue;
      const bool differs = plan_.replica_divergence.differs(k_.body, inst(events[e]));
      load_of_.emplace(events[e].inst, plan_.loads.size());
      plan_.loads.push_back({e, std::vector<CopyLoad>(differs ? plan_.count() : 1)});
    }
  }

  [[nodiscard]] bool takes_part(const Event& load) const {
    if (load.ordered || !load.plain_cache || inst(load).opaque ||
        ptx::loads_some_bytes_only(k_.body, inst(load))) {
      return false;
    }
    using enum ptx::Space;
    if (load.space != global && load.space != generic && load.space != const_) return false;
    return whole_registers(k_.body, load);
  }

  void find_reuse_source(std::size_t load, unsigned copy) {
    const Event& d = event(plan_.loads[load]);
    const auto moved = in_copy(d.address, copy);
    const Term address = moved.value_or(d.address);
    const unsigned about = moved ? any_copy : copy;
    std::vector<Holder>& same = exact_[{address.id, about}];
    for (const Holder& holder : same) {
      if (try_cover(holder, load, copy, address)) return;
    }
    same.push_back({{load, copy}, address});
    if (!moved) return;        // the bound is checked with the values of copy 0
    if (plan_.uniform) return; // and by each thread for itself
    std::vector<Holder>& near = relaxed_same_[relaxed_.of(address).id];
    for (const Holder& holder : near) {
      if (holder.address != address && try_cover(holder, load, copy, address)) {
        same.pop_back();
        return;
      }
    }
    near.push_back({{load, copy}, address});
  }

  // Not all copies may be there. The copy that ran the region just before has what it has loaded.
  void find_source_in_region(std::size_t load, unsigned copy) {
    const Event& d = event(plan_.loads[load]);
    const auto here = in_copy(d.address, copy);
    if (!here) return;
    for (const ptx::InstId source : regions_.beside(d.inst)) {
      const auto found = load_of_.find(source);
      if (found == load_of_.end() || !takes_part(event(plan_.loads[found->second]))) continue;
      const Event& s = event(plan_.loads[found->second]);
      c_.spend(4);
      if (may_be_older(s, d) || !same_shape(k_.body, s, d) || !regions_.may_supply(s, d)) continue;
      CopyLoad cover{.from = Source{found->second, copy - 1}, .if_entered = true};
      const auto there = in_copy(s.address, copy - 1);
      if (!there || *there != *here || !match(*there, *here, cover)) continue;
      plan_.loads[load].copies[copy] = cover;
      return;
    }
  }

  // --- Conditions ------------------------------------------------------------------------------

  bool try_cover(const Holder& holder, std::size_t load, unsigned copy, Term address) {
    c_.spend(4);
    const Event& s = event(plan_.loads[holder.source.load]);
    const Event& d = event(plan_.loads[load]);
    if (!precedes(s, d) || may_be_older(s, d) || !same_shape(k_.body, s, d) ||
        !source_executed(s, holder.source.copy, d, copy) || !undisturbed(s, d)) {
      return false;
    }
    CopyLoad cover{.from = holder.source, .needs_copy = !keeps_value(s, d)};
    if (!match(holder.address, address, cover)) return false;
    plan_.loads[load].copies[copy] = cover;
    return true;
  }

  [[nodiscard]] bool same_segment(const Event& s, const Event& d) const {
    return plan_.schedule.segment[s.inst] == plan_.schedule.segment[d.inst];
  }

  // S is run before D whenever D is, in the same trip of every loop around S. (Holders of D's own
  // segment are run before it.)
  [[nodiscard]] bool precedes(const Event& s, const Event& d) const {
    if (same_segment(s, d)) return true;
    if (!k_.cfg.dominates_inst(s.inst, d.inst)) return false;
    const std::uint32_t loop = k_.loops.innermost[s.block];
    return loop == ~0U || k_.loops.contains(loop, d.block);
  }

  // All copies took the same branches, so the facts of D's block hold in copy c' too.
  bool source_executed(const Event& s, unsigned from, const Event& d, unsigned copy) {
    if (took_effect(k_, s, d.block)) return true;
    const auto there = in_copy(s.guard, from), here = in_copy(d.guard, copy);
    return there && here && *there == *here;
  }

  // Copy c itself has not changed the bytes. Stores of other copies come from other blocks of the
  // original, which might as well have come later.
  bool undisturbed(const Event& s, const Event& d) {
    const auto harmless = [&](const Event& e) {
      if (e.kind == EventKind::load) return true;
      return e.kind == EventKind::store && leaves_alone(e, d);
    };
    // Segments have no store but at their end.
    return same_segment(s, d) || between_.all_events(s.inst, d.inst, harmless);
  }

  bool leaves_alone(const Event& store, const Event& load) {
    if (load.read_only) return true;
    const auto bytes = c_.difference(store.address, load.address);
    return bytes && (*bytes >= size_of(load) || *bytes <= -size_of(store));
  }

  // Copy c' may have been run to the end of D's segment.
  bool keeps_value(const Event& s, const Event& d) {
    return std::ranges::none_of(k_.body.dst(inst(s)), [&](const ptx::Arg& reg) {
      return written_again_beside(s, d, reg.id) ||
             (!same_segment(s, d) && between_.overwritten(s.inst, d.inst, reg.id));
    });
  }

  [[nodiscard]] bool written_again_beside(const Event& s, const Event& d, ptx::RegId reg) const {
    return std::ranges::any_of(definitions_[reg], [&](ptx::InstId definition) {
      return definition != s.inst &&
             plan_.schedule.segment[definition] == plan_.schedule.segment[d.inst];
    });
  }

  // Equal terms, or equal relaxed terms with a bound under which nothing wraps.
  bool match(Term there, Term here, CopyLoad& cover) {
    cover.bounded = there != here;
    cover.proof = sym::ProofKind::normal_form;
    if (cover.bounded && (!bounds_.of(there) || !bounds_.of(here))) return false;
    if (options_.paranoid) {
      const auto meant = [&](Term t) { return cover.bounded ? relaxed_.of(t) : t; };
      const sym::Answer answer = solver_.prove_equal({}, meant(there), meant(here));
      if (answer.verdict != sym::Verdict::proved) return false;
      cover.proof = answer.by;
    }
    if (cover.bounded) {
      plan_.bound.include(bounds_.of(there)->products);
      plan_.bound.include(bounds_.of(here)->products);
    }
    return true;
  }

  // Values that a kernel can read before its first instruction.
  [[nodiscard]] bool known_at_entry(Term atom) const {
    const sym::Atom& info = c_.atom_info(atom);
    return info.kind == static_cast<std::uint32_t>(emulator::AtomKind::special) ||
           info.kind == static_cast<std::uint32_t>(emulator::AtomKind::parameter) ||
           shift_.is_row(atom);
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  BlockOptions options_;
  BlockPlan& plan_;
  BlockShift shift_;
  AxisPolynomial relaxed_;
  Between between_;
  std::vector<std::vector<ptx::InstId>> definitions_;
  RegionLoads regions_;
  Bounds bounds_;
  std::unordered_map<ptx::InstId, std::size_t> load_of_;
  std::map<Key, std::vector<Holder>> exact_;
  std::unordered_map<std::uint32_t, std::vector<Holder>> relaxed_same_;
};

void enumerate_copies(BlockPlan& plan) {
  for (unsigned z = 0; z < plan.axes[2].factor; ++z) {
    for (unsigned y = 0; y < plan.axes[1].factor; ++y) {
      for (unsigned x = 0; x < plan.axes[0].factor; ++x)
        plan.copies.push_back({x, y, z});
    }
  }
}

void set_axes(emulator::Kernel& kernel, const BlockOptions& options, BlockPlan& plan,
              std::vector<ptx::Special>& seeds) {
  unsigned count = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    plan.axes[axis].factor = std::max(options.factors[axis], 1U);
    if (plan.axes[axis].factor == 1) continue;
    plan.refused = why_not_replaced(kernel, std::array{ptx::along(ptx::Special::ctaid_x, axis),
                                                       ptx::along(ptx::Special::tid_x, axis),
                                                       ptx::along(ptx::Special::nctaid_x, axis)});
    if (!plan.refused.empty()) return;
    count *= std::min(plan.axes[axis].factor, most_copies + 1);
    if (!ptx::reads_special(kernel.body, ptx::along(ptx::Special::ctaid_x, axis))) {
      plan.refused = {Reason::axis_unread,
                      fmt::format("it does not read %ctaid.{}", axis_name(axis))};
      return;
    }
    // Rows along x would take the lanes of a warp apart.
    plan.axes[axis].rows =
        axis != 0 && options.rows && !plan.uniform && uses_rows_only(kernel, axis);
    seeds.push_back(
        ptx::along(plan.axes[axis].rows ? ptx::Special::tid_x : ptx::Special::ctaid_x, axis));
  }
  if (count == 1) plan.refused = {Reason::not_asked, "no axis to coarsen"};
  if (count > most_copies || count * kernel.body.insts.size() > most_instructions)
    plan.refused = {Reason::too_large, "too many replicas"};
  if (!plan.refused.empty()) return;
  kernel.context->spend(std::uint64_t{4} * count * kernel.body.insts.size());
  enumerate_copies(plan);
}

// A plan in which each thread decides for itself whether its copies stay together.
BlockPlan plan_lone_threads(emulator::Kernel& kernel, const BlockOptions& options) {
  BlockPlan plan;
  plan.refused = why_not_coarsened(kernel);
  if (!plan.refused.empty()) return plan;
  std::vector<ptx::Special> seeds;
  set_axes(kernel, options, plan, seeds);
  if (!plan.refused.empty()) return plan;
  plan.replica_divergence = analysis::find_replica_divergence(kernel.body, seeds);
  plan.schedule = make_schedule(kernel.body, plan.replica_divergence, plan.count(), options.order);
  plan.refused = why_replicas_diverge(kernel, plan.replica_divergence);
  return plan;
}

// Copies part in regions where they cannot start over or, of lone threads, as a rule would have to.
BlockPlan plan_with_regions(emulator::Kernel& kernel, const BlockOptions& options, bool uniform) {
  BlockPlan plan;
  plan.uniform = uniform;
  std::vector<ptx::Special> seeds;
  set_axes(kernel, options, plan, seeds);
  if (!plan.refused.empty()) return plan;
  find_regions(kernel, seeds, options.regions, plan);
  if (plan.refused.empty())
    plan.schedule = make_schedule(kernel.body, plan.replica_divergence, plan.count(), options.order,
                                  plan.regions);
  return plan;
}

bool wants_regions(const emulator::Kernel& kernel, const BlockPlan& plan) {
  if (!plan.refused.empty()) return plan.refused.reason == Reason::replicas_diverge;
  return !why_data_diverges_replicas(kernel, plan.replica_divergence,
                                     analysis::is_data_dependent(kernel.body))
              .empty();
}

// A plan for kernels whose threads meet, or whose copies part where memory has been written.
BlockPlan plan_uniform_copies(emulator::Kernel& kernel, const BlockOptions& options) {
  if (const Why why = why_not_uniform(kernel); !why.empty()) {
    BlockPlan plan;
    plan.uniform = true;
    plan.refused = why;
    return plan;
  }
  return plan_with_regions(kernel, options, true);
}

} // namespace

BlockPlan plan_copies(emulator::Kernel& kernel, const BlockOptions& options) {
  BlockPlan plan = plan_lone_threads(kernel, options);
  if (plan.refused.empty() && !options.regions) return plan;
  const bool concerns_text = !why_not_coarsened(kernel).empty();
  if (options.regions && !concerns_text && wants_regions(kernel, plan)) {
    BlockPlan apart = plan_with_regions(kernel, options, false);
    if (apart.refused.empty()) return apart;
  }
  if (plan.refused.empty() || !options.meet) return plan;
  BlockPlan uniform = plan_uniform_copies(kernel, options);
  return uniform.refused.empty() || concerns_text ? std::move(uniform) : std::move(plan);
}

BlockPlan find_block_reuse(emulator::Kernel& kernel, sym::Solver& solver,
                           const BlockOptions& options) {
  BlockPlan plan = plan_copies(kernel, options);
  if (plan.refused.empty()) BlockReuse(kernel, solver, options, plan).run();
  return plan;
}

} // namespace ptxasw::passes
