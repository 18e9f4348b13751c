// Finds loops that walk over places.
#include "passes/time_tile/step/step_loops.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "passes/time_tile/step/step_rows.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Definition;
using ptx::Special;
using sym::Term;

Term read_special(const emulator::Kernel& kernel, Special special) {
  const Term t = kernel.trace.special(special);
  return t.valid() && !kernel.context->value(t) ? t : Term{};
}

Term threads_along(emulator::Kernel& kernel, unsigned axis) {
  const Term blocks = kernel.trace.special(ptx::along(Special::nctaid_x, axis)),
             size = kernel.trace.special(ptx::along(Special::ntid_x, axis));
  const bool has_block = read_special(kernel, ptx::along(Special::ctaid_x, axis)).valid();
  if (!read_special(kernel, ptx::along(Special::tid_x, axis)).valid())
    return has_block ? blocks : Term{};
  if (!has_block) return size;
  return blocks.valid() && size.valid() ? kernel.context->mul(blocks, size) : Term{};
}

const StepLoop* StepLoops::along(unsigned axis) const {
  const auto found = std::ranges::find(loops, axis, &StepLoop::axis);
  return found == loops.end() ? nullptr : &*found;
}

namespace {

// All threads of the launch along the axis, in any way that programs write it: also as the number
// of blocks, of one thread each, or of the threads of one block, where nothing else is read of
// them.
std::vector<Term> all_threads(emulator::Kernel& kernel, unsigned axis) {
  sym::Context& c = *kernel.context;
  const Term count = threads_along(kernel, axis);
  if (!count.valid()) return {};
  std::vector<Term> all{count, c.sext(count, 64), c.zext(count, 64)};
  const Term blocks = kernel.trace.special(ptx::along(Special::nctaid_x, axis)),
             size = kernel.trace.special(ptx::along(Special::ntid_x, axis));
  if (count != blocks && count != size) all.push_back(c.mul(c.zext(blocks, 64), c.zext(size, 64)));
  return all;
}

// By how much a value grows from iteration to iteration, if that is the same for all.
Term growth(sym::Context& c, Term value, Term iteration) {
  const auto in = [&](std::uint64_t n) {
    return c.substitute(value, {{iteration.id, c.constant(64, n)}});
  };
  return c.sub(in(1), in(0));
}

} // namespace

StepLoops find_step_loops(emulator::Kernel& kernel) {
  StepLoops made;
  sym::Context& c = *kernel.context;
  const auto& loops = kernel.loops.loops;
  for (std::uint32_t number = 0; number < loops.size(); ++number) {
    const analysis::Loop& loop = loops[number];
    const Term iteration = kernel.trace.iterations[number];
    const bool has_one_end = loop.latches.size() == 1 && loop.exits.size() == 1 &&
                             loop.exits[0].first == loop.latches[0];
    for (const Definition& definition : kernel.trace.definitions) {
      if (!iteration.valid() || !has_one_end || !definition.at_entry ||
          definition.inst != kernel.cfg.blocks[loop.header].first)
        continue;
      const Term by = growth(c, definition.value, iteration);
      for (unsigned axis = 0; axis < 3; ++axis)
        if (std::ranges::count(all_threads(kernel, axis), by) != 0 && made.along(axis) == nullptr &&
            std::ranges::find(made.loops, number, &StepLoop::number) == made.loops.end())
          made.loops.push_back({number, axis, iteration});
    }
    if (made.loops.size() == number + 1) continue;
    made.refused = {Reason::step_loop, has_loops};
    return made;
  }
  return made;
}

Term StepPlaces::at(Term t, BlockId block) const {
  const Term moved = c_.substitute(t, as_place_);
  sym::Context::Substitution first;
  for (const StepLoop& loop : loops_)
    if (!k_.loops.contains(loop.number, block))
      first.emplace(loop.iteration.id, c_.constant(64, 0));
  return first.empty() ? moved : c_.substitute(moved, first);
}

// As the iteration before decides.
Term StepPlaces::goes_on(const StepLoop& loop) const {
  const analysis::Loop& found = k_.loops.loops[loop.number];
  const Term condition = passes::goes_on(k_, found);
  if (!condition.valid()) return {};
  return at(
      c_.substitute(condition, {{loop.iteration.id, c_.sub(loop.iteration, c_.constant(64, 1))}}),
      found.latches[0]);
}

bool StepPlaces::mentions(Term t, unsigned axis) const {
  const std::vector<Term> atoms = c_.atoms(t);
  return std::ranges::find(atoms, place_[axis]) != atoms.end();
}

// --- Where loops end -----------------------------------------------------------------------------

namespace {

class WalkFinder {
public:
  WalkFinder(const emulator::Kernel& kernel, const StepRegion& region,
             const IntegerPolynomialReader& reader, const StepPlaces& places,
             const std::optional<StepRows>& rows)
      : k_(kernel), c_(*kernel.context), region_(region), reader_(reader), places_(places),
        rows_(rows) {}

  FoundWalks run() {
    for (const StepLoop& loop : places_.loops())
      if (found_.refused.empty()) add(loop);
    return std::move(found_);
  }

private:
  void refuse(std::string why) { found_.refused = {Reason::step_loop, std::move(why)}; }

  // A loop goes on while a place is below a bound, and it is begun on the same terms: then all
  // places below it are places of some thread.
  void add(const StepLoop& loop) {
    const Term goes_on = places_.goes_on(loop);
    const auto bound = goes_on.valid() ? bound_of(goes_on, loop) : std::nullopt;
    if (!bound) return refuse("how far a loop goes is not known");
    StepPlan::Walk walk{.end = bound->bounds[0].at, .ranges = bound->ranges};
    bool begins = false;
    for (std::size_t n = 0; n < region_.guards.size(); ++n) {
      const StepRegion::Guard& guard = region_.guards[n];
      if (k_.loops.contains(loop.number, guard.from)) continue;
      const Term fact = k_.trace.entry_fact[guard.to];
      const Term first = fact.valid() ? places_.at(fact, guard.from) : fact;
      if (fact.valid() && !places_.mentions(first, loop.axis)) continue;
      const auto begin = fact.valid() ? bound_of(first, loop) : std::nullopt;
      if (!begin || begin->bounds != bound->bounds)
        return refuse("a loop does not begin at the first place");
      walk.ranges.insert(walk.ranges.end(), begin->ranges.begin(), begin->ranges.end());
      found_.guards.insert(n);
      begins = true;
    }
    if (!begins) return refuse("a loop has a first iteration in any case");
    if (rows_) {
      if (walk.end != rows_->count || !hold_for_all(reader_, walk.ranges))
        return refuse("a loop does not go to the end of the last row");
      walk.end = walk.end * rows_->length;
    }
    found_.walks.at(loop.axis) = std::move(walk);
  }

  // That the place along the loop's axis, or its row, is less than something, and nothing else.
  std::optional<Bounded> bound_of(Term condition, const StepLoop& loop) {
    auto ways = split(reader_, c_, condition, true);
    if (!ways || ways->size() != 1) return std::nullopt;
    Bounded& way = (*ways)[0];
    const unsigned axis = rows_ ? 1 : loop.axis;
    if (way.bounds.size() != 1 || !way.edges.empty() || way.bounds[0].axis != axis ||
        !way.bounds[0].below || way.of_places)
      return std::nullopt;
    return std::move(way);
  }

  const emulator::Kernel& k_;
  sym::Context& c_;
  const StepRegion& region_;
  const IntegerPolynomialReader& reader_;
  const StepPlaces& places_;
  const std::optional<StepRows>& rows_;
  FoundWalks found_;
};

} // namespace

FoundWalks find_walks(const emulator::Kernel& kernel, const StepRegion& region,
                      const IntegerPolynomialReader& reader, const StepPlaces& places,
                      const std::optional<StepRows>& rows) {
  return WalkFinder(kernel, region, reader, places, rows).run();
}

// --- From iteration to iteration
// ---------------------------------------------------------------------------

namespace {

class IterationChecker {
public:
  IterationChecker(const emulator::Kernel& kernel, const StepPlan& plan, const StepPlaces& places,
                   const std::set<ptx::RegId>& walking)
      : k_(kernel), body_(kernel.body), plan_(plan), places_(places), walking_(walking),
        written_(analysis::definitions(body_)) {}

  Why run() {
    for (const InstId id : copied()) {
      const ptx::Inst& inst = body_.insts[id];
      Why why;
      analysis::for_each_use(body_, inst, [&](ptx::RegId reg) {
        const bool is_address = ptx::group(inst.op) == ptx::Group::store && !is_stored(inst, reg);
        if (!is_address && comes_from_before(reg, id))
          why = at_line(body_, inst, Reason::step_loop, "a value goes from iteration to iteration");
      });
      if (!why.empty()) return why;
    }
    return {};
  }

private:
  using InstId = ptx::InstId;

  // What is on chip has no address in a copy.
  [[nodiscard]] std::set<InstId> copied() const {
    std::set<InstId> all(plan_.guard_slice.begin(), plan_.guard_slice.end());
    all.insert(plan_.value_slice.begin(), plan_.value_slice.end());
    std::erase_if(all, [&](InstId id) { return plan_.is_load(id); });
    for (const StepArray& array : plan_.arrays)
      for (const StepArray::Store& store : array.stores)
        all.insert(store.inst);
    for (const auto& [fork, side] : plan_.forks)
      all.insert(k_.cfg.blocks[fork].end - 1);
    for (const StepGuard& guard : plan_.guards)
      all.insert(k_.cfg.blocks[guard.block].end - 1);
    return all;
  }

  [[nodiscard]] bool is_stored(const ptx::Inst& store, ptx::RegId reg) const {
    return std::ranges::any_of(body_.src(store), [&](const ptx::Arg& value) {
      return value.kind == ptx::Arg::Kind::reg && value.id == reg;
    });
  }

  // What the register holds there is not of this iteration. The place is, up to where it is moved
  // on.
  [[nodiscard]] bool comes_from_before(ptx::RegId reg, InstId use) const {
    const auto order = [&](InstId id) {
      return std::pair(k_.cfg.rpo_index[k_.cfg.block_of[id]], id);
    };
    bool is_of_this_iteration = !walking_.contains(reg);
    for (const StepLoop& loop : places_.loops()) {
      std::vector<InstId> written = written_[reg];
      std::erase_if(
          written, [&](InstId id) { return !k_.loops.contains(loop.number, k_.cfg.block_of[id]); });
      if (written.empty() || !k_.liveness->live_in(k_.loops.loops[loop.number].header, reg))
        continue;
      const bool is_behind =
          std::ranges::any_of(written, [&](InstId id) { return order(id) <= order(use); });
      if (is_behind || !walking_.contains(reg) ||
          !k_.loops.contains(loop.number, k_.cfg.block_of[use]))
        return true;
      is_of_this_iteration = true;
    }
    return !is_of_this_iteration;
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const StepPlan& plan_;
  const StepPlaces& places_;
  const std::set<ptx::RegId>& walking_;
  const std::vector<std::vector<InstId>> written_; // by register
};

} // namespace

Why why_iterations_meet(const emulator::Kernel& kernel, const StepPlan& plan,
                        const StepPlaces& places, const std::set<ptx::RegId>& walking) {
  return IterationChecker(kernel, plan, places, walking).run();
}

} // namespace ptxasw::passes
