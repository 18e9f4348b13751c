// The search for a time step. The conditions about sizes are in step_conditions.cpp.
#include "passes/time_tile/step/step.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/polynomial/equal_fields.hpp"
#include "passes/time_tile/step/step_axes.hpp"
#include "passes/time_tile/step/step_conditions.hpp"
#include "passes/time_tile/step/step_copy.hpp"
#include "passes/time_tile/step/step_extents.hpp"
#include "passes/time_tile/step/step_forks.hpp"
#include "passes/time_tile/step/step_loads.hpp"
#include "passes/time_tile/step/step_pairs.hpp"
#include "passes/time_tile/step/step_pins.hpp"
#include "passes/time_tile/step/step_reads.hpp"
#include "passes/time_tile/step/step_region.hpp"
#include "passes/time_tile/step/step_rows.hpp"
#include "passes/time_tile/step/step_slice.hpp"
#include "passes/time_tile/step/step_stores.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace ptxasw::passes {

using ptx::Group;
using ptx::Inst;
using ptx::RegId;
using sym::Term;

namespace {

// What is asked of a launch so that the kernel is a step.
struct Assumed {
  EqualFields equal{};
  WrittenExtents written{};
  bool by_block = false;
  bool in_line = false;
};

class Finder {
public:
  // What is asked for, but for whether threads have places row by row.
  struct Question {
    Motion motion = Motion::exchanged;
    unsigned choice = 0;
    const std::optional<Sweep>& sweep;
    const StageQuestion* stage = nullptr; // of one of several launches
  };

  Finder(emulator::Kernel& kernel, const Question& asked, bool with_rows, const Assumed& assumed)
      : k_(kernel), c_(*kernel.context), body_(kernel.body), asked_(asked), with_rows_(with_rows),
        assumed_(assumed), places_(kernel) {}

  StepPlan run() {
    plan_.refused = passes::why_not_a_plain_kernel(k_);
    using Part = void (Finder::*)();
    const auto all = [this](std::initializer_list<Part> parts) {
      for (const Part part : parts)
        if (plan_.refused.empty()) (this->*part)();
    };
    all({&Finder::check_instructions, &Finder::find_way, &Finder::find_places, &Finder::find_guards,
         &Finder::find_stores});
    if (asked_.stage == nullptr || !asked_.stage->only_stores)
      all({&Finder::find_reads, &Finder::choose_arrays, &Finder::find_forks, &Finder::find_slice,
           &Finder::find_conditions, &Finder::find_copied});
    return std::move(plan_);
  }

private:
  void refuse(Why why) {
    if (plan_.refused.empty()) plan_.refused = std::move(why);
  }
  void refuse(Reason reason, std::string why) { refuse({reason, std::move(why)}); }
  void refuse(Reason reason, const Inst& inst, std::string_view why) {
    refuse(reason, passes::at_line(body_, inst, why));
  }

  // --- Instructions ------------------------------------------------------------------------------

  void check_instructions() {
    if (k_.loops.irreducible) return refuse(Reason::step_loop, has_loops);
    for (const Inst& inst : body_.insts) {
      if (const Why why = passes::why_threads_synchronize(body_, inst); !why.empty()) {
        const bool shared = why.reason == Reason::barrier || why.reason == Reason::shared_memory ||
                            why.reason == Reason::dynamic_shared_memory;
        return refuse(shared ? Reason::step_shared : why.reason, why.text);
      }
      const Group group = ptx::group(inst.op);
      if (passes::uses_local_memory(inst))
        return refuse(Reason::local_memory, inst, "local memory");
      if (inst.op == ptx::Op::trap || inst.op == ptx::Op::brkpt)
        return refuse(Reason::step_form, inst, "an effect");
      if (group == Group::texture) return refuse(Reason::step_form, inst, "a texture");
      if (group == Group::load && inst.mods.space == ptx::Space::generic)
        return refuse(Reason::memory_kind, inst, "its state space is not known");
    }
  }

  void find_way() {
    region_ = find_region(k_);
    if (!region_.refused.empty()) {
      plan_.refused = region_.refused;
      return;
    }
    for (const StepRegion::Guard& guard : region_.guards) {
      const analysis::Block& from = k_.cfg.blocks[guard.from];
      const Inst& branch = body_.insts[from.end - 1];
      plan_.guards.push_back(
          {branch.guard, branch.guard_negated == (from.succs[0] == guard.to), guard.from});
    }
    plan_.blocks = region_.blocks;
    plan_.head = region_.head;
  }

  // --- Places ------------------------------------------------------------------------------------

  void find_places() {
    meaning_.equal = assumed_.equal.first;
    loops_ = find_step_loops(k_);
    plan_.refused = loops_.refused;
    if (!plan_.refused.empty()) return;
    const auto find = assumed_.by_block  ? find_rows_of_blocks
                      : assumed_.in_line ? find_line_of_threads
                                         : find_axes;
    FoundAxes axes = find(k_, loops_, meaning_, places_);
    if (!axes.refused.empty()) return refuse(std::move(axes.refused));
    plan_.places = axes.places;
    shape_ = std::move(axes.shape);
    for (const StepLoop& loop : loops_.loops) {
      meaning_.loops.emplace(loop.axis, loop.number);
      if (plan_.places[loop.axis] == Place::none || !k_.loops.contains(loop.number, plan_.head))
        return refuse(Reason::step_loop, has_loops);
    }
    places_.set_loops(loops_.loops);
    plan_.by_block = assumed_.by_block;
    plan_.in_line = axes.in_line;
    if (with_rows_ && plan_.places == std::array{Place::threads, Place::none, Place::none})
      take_rows();
    const bool may_ask = asked_.stage != nullptr
                             ? asked_.stage->written.has_value()
                             : !asked_.sweep && !counts_otherwise() && !plan_.rows;
    if (may_ask)
      meaning_.extents = find_extents(k_, loops_, plan_.places, assumed_.written, shape_);
    if (!plan_.rows) reader_.emplace(k_, meaning_);
    find_walks();
    leave_out_guards();
    find_coordinates();
  }

  // The launch counts as one that has other threads along its axes.
  [[nodiscard]] bool counts_otherwise() const { return plan_.by_block || plan_.in_line.any(); }

  void take_rows() {
    auto found = find_rows(k_, region_, meaning_, places_);
    if (!found) return;
    reader_.emplace(k_, meaning_, found->rows.length);
    plan_.rows = std::move(found->rows);
    plan_.places[1] = Place::threads;
    // That a place is in a row is asked of all places.
    if (found->guard) left_out_.insert(*found->guard);
    of_rows_.ranges = std::move(found->ranges);
  }

  void find_walks() {
    FoundWalks found = passes::find_walks(k_, region_, *reader_, places_, plan_.rows);
    plan_.refused = std::move(found.refused);
    plan_.walks = std::move(found.walks);
    if (asked_.sweep) plan_.walks.at(asked_.sweep->axis) = asked_.sweep->walk;
    left_out_.merge(found.guards);
  }

  // What they say is asked of all places.
  void leave_out_guards() {
    for (auto n = left_out_.rbegin(); n != left_out_.rend(); ++n)
      plan_.guards.erase(plan_.guards.begin() + static_cast<std::ptrdiff_t>(*n));
  }

  // Registers that hold a coordinate, or the number of the thread.
  void find_coordinates() {
    std::map<RegId, unsigned> written;
    std::set<RegId> numbers;
    for (const emulator::Definition& definition : k_.trace.definitions) {
      if (definition.at_entry ? !goes_round(definition) : !is_read(definition)) continue;
      if (!definition.at_entry) ++written[definition.reg];
      const Term value = at_place(definition.value);
      if (c_.width(value) != 32 && c_.width(value) != 64) continue;
      Reading reading;
      const auto whole = reader_->read(value, reading);
      if (!whole || !reading.ranges.empty()) continue;
      for (unsigned axis = 0; axis < 3; ++axis)
        if (*whole == IntegerPolynomial::coordinate(axis))
          plan_.coordinates.emplace(definition.reg, axis);
      if (is_sized(value, *whole)) plan_.sized.emplace(definition.reg, *whole);
      if (plan_.rows && *whole == reader_->thread(0)) numbers.insert(definition.reg);
      if (definition.at_entry &&
          (plan_.coordinates.contains(definition.reg) || numbers.contains(definition.reg)))
        walking_.insert(definition.reg);
    }
    const auto changes = [&](RegId reg) { return written[reg] != 1 && !walking_.contains(reg); };
    std::erase_if(plan_.coordinates, [&](const auto& entry) { return changes(entry.first); });
    std::erase_if(plan_.sized, [&](const auto& entry) { return changes(entry.first); });
    std::erase_if(numbers, changes);
    if (plan_.rows) plan_.rows->numbers = std::move(numbers);
  }

  [[nodiscard]] bool is_read(const emulator::Definition& definition) const {
    return analysis::is_read(body_, k_.cfg, *k_.liveness, definition.inst);
  }

  // Sizes of the launch that are numbers of places are part of it.
  [[nodiscard]] bool is_sized(Term value, const IntegerPolynomial& whole) const {
    const auto is_special = [&](Term atom) {
      return c_.atom_info(atom).kind == static_cast<std::uint32_t>(emulator::AtomKind::special);
    };
    return !meaning_.extents.empty() && whole.is_linear() &&
           std::ranges::any_of(c_.atoms(value), is_special);
  }

  // A value at the begin of each iteration of a loop.
  [[nodiscard]] bool goes_round(const emulator::Definition& definition) const {
    return std::ranges::any_of(places_.loops(), [&](const StepLoop& loop) {
      return definition.inst == k_.cfg.blocks[k_.loops.loops[loop.number].header].first;
    });
  }

  void find_guards() {
    sizes_.emplace(k_, plan_, *reader_);
    sizes_->add_bounded(of_rows_);
    for (const StepRegion::Guard& guard : region_.guards) {
      const Term fact = k_.trace.entry_fact[guard.to];
      if (fact.valid())
        sizes_->add_guard(places_.at(fact, guard.from));
      else
        plan_.convex = false;
    }
    sizes_->close_guards();
    if (asked_.stage != nullptr) find_pins();
  }

  void find_pins() {
    Bounded all;
    std::vector<Colour> colours;
    for (const StepRegion::Guard& guard : region_.guards) {
      const Term fact = k_.trace.entry_fact[guard.to];
      if (fact.valid()) add_colours(c_, places_.at(fact, guard.from), meaning_.axes, colours);
      const auto ways =
          fact.valid() ? split(*reader_, c_, places_.at(fact, guard.from), true) : std::nullopt;
      if (ways && ways->size() == 1 && !(*ways)[0].of_places) all = both(all, (*ways)[0]);
    }
    pins_ = StepPins(all.bounds, std::move(colours), asked_.stage->elements);
    if (pins_.any()) sizes_->add_bounded(all);
    plan_.line = pins_.all();
  }

  // Of where the stores are.
  [[nodiscard]] Term at_place(Term t) const { return places_.at(t, plan_.head); }

  // --- Arrays ------------------------------------------------------------------------------------

  void find_stores() {
    // Those of rotations and of stages have one element of a place in each buffer.
    const bool may_have_fields = asked_.stage == nullptr && asked_.motion == Motion::exchanged;
    refuse(StepStores(k_, region_, plan_, *reader_, *sizes_, places_).run(pins_, may_have_fields));
  }

  void find_reads() {
    StepLoads loads(k_, region_, plan_, *reader_, *sizes_, places_);
    reads_ = loads.run(asked_.stage == nullptr ? nullptr : &pins_);
    if (plan_.has_fields) reads_ = by_register(body_, reads_);
    plan_.refused = loads.refused;
    plan_.variables = std::move(loads.variables);
  }

  void choose_arrays() {
    if (asked_.stage != nullptr) return take_as_stage();
    if (asked_.motion == Motion::rotated) return rotate();
    // Arrays all of whose loads fit; or else, to say what does not, some of them.
    std::vector<unsigned> chosen = pair_arrays(candidates(true), asked_.choice);
    if (chosen.empty() && asked_.choice == 0) chosen = pair_arrays(candidates(false));
    if (chosen.empty()) return refuse_arrays();
    take_all(chosen);
  }

  [[nodiscard]] Why why_unfit(const StepArray& array, const StepRead& read) const {
    Why why = passes::why_unfit(body_, array, read);
    // An entry for several kernels does no load late, and none does one of a part of an element.
    const bool may_be_late = asked_.stage == nullptr && array.parts == 1;
    if (why.empty() && !may_be_late && !is_touched(array, read, reads_))
      return {Reason::step_guard, "not every place that stores reads that"};
    return why;
  }

  // None has a load that fits: what is wrong with the first.
  void refuse_arrays() {
    if (!reads_.empty()) {
      const Why why = why_unfit(plan_.arrays[0], reads_[0]);
      if (!why.empty()) return refuse(why.reason, body_.insts[reads_[0].event->inst], why.text);
    }
    refuse(Reason::step_no_array, "no array is read at constant offsets of what is written");
  }

  // Each buffer from the parameter chosen for it; all other loads are of arrays that do not move.
  void take_all(const std::vector<unsigned>& chosen) {
    auto next = chosen.begin();
    for (StepArray& array : plan_.arrays) {
      if (!plan_.is_first_field(array)) continue;
      const unsigned in = *next++;
      for (StepArray& field : plan_.arrays)
        if (field.out == array.out) field.in = in;
      for (const StepRead& read : reads_)
        if (read.parameter == in && !take(field_of(array.out, read), read)) return;
    }
    for (const StepRead& read : reads_)
      if (std::ranges::find(chosen, read.parameter) == chosen.end()) others_.push_back(&read);
  }

  // That the load fits, or else the first one.
  [[nodiscard]] StepArray& field_of(unsigned buffer, const StepRead& read) {
    StepArray* first = nullptr;
    for (StepArray& array : plan_.arrays) {
      if (array.out != buffer) continue;
      if (why_unfit(array, read).empty()) return array;
      if (first == nullptr) first = &array;
    }
    return *first;
  }

  // Arrays that some stage stores to, this one or another.
  void take_as_stage() {
    for (StepArray& array : plan_.arrays)
      array.in = array.out;
    for (const StepArray& array : asked_.stage->foreign)
      if (std::ranges::find(reads_, array.in, &StepRead::parameter) != reads_.end())
        plan_.arrays.push_back(array);
    for (const StepRead& read : reads_) {
      const auto array = std::ranges::find(plan_.arrays, read.parameter, &StepArray::in);
      if (array == plan_.arrays.end())
        others_.push_back(&read);
      else if (!take(*array, read))
        return;
    }
    for (const StepArray& array : plan_.arrays)
      for (const StepArray::Load& load : array.loads)
        if (!array.foreign && !reads_as_before(array, load)) return;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (periods_[axis] && (pins_.is_pinned(axis) || pins_.has_colours()))
        refuse(Reason::step_wrap, "a row, a column or a colour that reads around a torus");
  }

  // Of an array that the stage stores to: its own element, ahead of the store, or one that no
  // thread of the launch stores to.
  bool reads_as_before(const StepArray& array, const StepArray::Load& load) {
    const ptx::Inst& inst = body_.insts[load.inst];
    for (const StepArray::Case& one : load.cases) {
      if (pins_.leaves(one.offset)) continue;
      if (one.offset != Offset{})
        refuse(Reason::step_in_place, inst, "reads what the step writes");
      else if (is_behind_store(k_.cfg, array, load.inst))
        refuse(Reason::step_in_place, inst, "reads what it has stored");
    }
    return plan_.refused.empty();
  }

  // The two arrays that are read and all of whose loads fit. What is read of either is the element
  // of a place at an offset: in old it was stored two launches ago, in now one.
  void rotate() {
    if (plan_.arrays.size() != 1)
      return refuse(Reason::step_several_arrays, "several arrays are written");
    const auto chosen = choose_buffers(candidates(true)[0]);
    if (!chosen)
      return refuse(Reason::step_no_array,
                    "no two arrays are read at constant offsets of what is written");
    const auto [old, now] = *chosen;
    plan_.rotation = contract::Rotation{.old = old, .now = now, .next = plan_.arrays[0].out};
    plan_.arrays.push_back({.out = now,
                            .bytes = plan_.arrays[0].bytes,
                            .parts = plan_.arrays[0].parts,
                            .carried = true,
                            .stores = {},
                            .element = plan_.arrays[0].element,
                            .loads = {}});
    take_all({now, old});
  }

  // By buffer that is written: from which ones it may be computed, with their numbers of offsets.
  [[nodiscard]] std::vector<StepCandidates> candidates(bool whole) {
    std::vector<StepCandidates> result;
    for (const StepArray& array : plan_.arrays) {
      if (!plan_.is_first_field(array)) continue;
      std::map<unsigned, std::set<std::pair<const StepArray*, Offset>>> fitting;
      std::set<unsigned> spoilt;
      for (const StepRead& read : reads_)
        if (const StepArray& field = field_of(array.out, read); why_unfit(field, read).empty())
          fitting[read.parameter].emplace(&field, find_offsets(field, read).offsets[0]);
        else
          spoilt.insert(read.parameter);
      StepCandidates& made = result.emplace_back(StepCandidates{.out = array.out, .in = {}});
      for (const auto& [parameter, offsets] : fitting)
        if (!whole || !spoilt.contains(parameter)) made.in.emplace(parameter, offsets.size());
    }
    return result;
  }

  bool take(StepArray& array, const StepRead& read) {
    const Why why = why_unfit(array, read);
    if (!why.empty()) refuse(why.reason, body_.insts[read.event->inst], why.text);
    if (!plan_.refused.empty()) return false;
    const StepOffsets found = find_offsets(array, read);
    for (unsigned axis = 0; axis < 3; ++axis) {
      auto& period = periods_[axis];
      if (!found.periods[axis]) continue;
      if (period && *period != *found.periods[axis])
        refuse(Reason::step_wrap, "along one axis it takes places modulo several sizes");
      period = found.periods[axis];
    }
    StepArray::Load& load =
        array.loads.emplace_back(StepArray::Load{read.event->inst,
                                                 read.where.bounds,
                                                 {},
                                                 part_of(array, read),
                                                 !is_touched(array, read, reads_),
                                                 read.at.value_or(0)});
    const bool one = std::ranges::all_of(
        found.offsets, [&](const Offset& offset) { return offset == found.offsets[0]; });
    for (std::size_t n = 0; n < (one ? 1 : found.offsets.size()); ++n)
      load.cases.push_back(
          {found.offsets[n], one ? std::vector<Bound>{} : read.cases[n].where.bounds});
    plan_.add_inner(load.cases[0].bounds);
    for (const Offset& offset : found.offsets)
      for (unsigned axis = 0; axis < 3; ++axis) {
        Offset& least = pins_.is_pinned(axis) ? plan_.once_least : plan_.least;
        Offset& most = pins_.is_pinned(axis) ? plan_.once_most : plan_.most;
        least[axis] = std::min(least[axis], offset[axis]);
        most[axis] = std::max(most[axis], offset[axis]);
      }
    taken_.push_back({&read, found});
    return plan_.refused.empty();
  }

  void find_forks() { refuse(passes::find_forks(k_, region_, *reader_, places_, *sizes_, plan_)); }

  void find_slice() {
    const StepLoads loads(k_, region_, plan_, *reader_, *sizes_, places_);
    const auto has_all = [&](analysis::BlockId block) { return loads.facts_of(block).is_all; };
    plan_.refused = StepSlice(k_, region_, plan_, has_all).run(others_);
    if (!places_.loops().empty() && plan_.refused.empty())
      plan_.refused = why_iterations_meet(k_, plan_, places_, walking_);
  }

  // --- Conditions --------------------------------------------------------------------------------

  void find_conditions() {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (periods_[axis]) sizes_->add_period(axis, *periods_[axis]);
    for (const Taken& taken : taken_) {
      add_cases(*taken.read);
      for (std::size_t n = 0; n < taken.read->cases.size(); ++n)
        sizes_->add_read(taken.offsets.offsets[n], taken.offsets.turns[n],
                         both(taken.read->where, taken.read->cases[n].where));
    }
    for (const StepRead* read : others_) {
      add_cases(*read);
      for (const AddressCase& one : read->cases)
        sizes_->add_load(one.place, read->event->element_bytes * read->elements(),
                         both(read->where, one.where));
    }
    plan_.conditions.insert(plan_.conditions.end(), assumed_.equal.conditions.begin(),
                            assumed_.equal.conditions.end());
    if (plan_.refused.empty()) sizes_->finish();
    plan_.conditions.insert(plan_.conditions.end(), shape_.begin(), shape_.end());
  }

  void find_copied() {
    if (!counts_otherwise()) plan_.copy = find_copy(k_, plan_);
  }

  void add_cases(const StepRead& read) {
    sizes_->add_bounded(read.where);
    for (const AddressCase& one : read.cases)
      sizes_->add_case(one, read.where);
    for (const AddressCase& one : read.impossible)
      sizes_->add_impossible(one.where, read.where);
  }

  struct Taken {
    const StepRead* read = nullptr;
    StepOffsets offsets;
  };

  emulator::Kernel& k_;
  sym::Context& c_;
  const ptx::Body& body_;
  const Question asked_;
  const bool with_rows_; // if threads have places row by row
  const Assumed& assumed_;
  StepPlan plan_;
  StepRegion region_;
  Meaning meaning_;
  std::vector<contract::Condition> shape_; // of blocks
  StepLoops loops_;
  StepPlaces places_;
  std::set<std::size_t> left_out_; // guards that say what is asked of all places
  Bounded of_rows_;                // what is asked of sizes for that
  std::set<RegId>
      walking_; // registers that a loop hands on, with the place at the begin of an iteration
  std::optional<IntegerPolynomialReader> reader_;
  std::optional<StepSizes> sizes_;
  StepPins pins_;
  std::vector<StepRead> reads_;
  std::vector<Taken> taken_;
  std::vector<const StepRead*> others_; // of arrays that do not move
  std::array<std::optional<IntegerPolynomial>, 3> periods_;
};

StepPlan find(emulator::Kernel& kernel, const Finder::Question& asked, const Assumed& assumed) {
  StepPlan plan = Finder(kernel, asked, true, assumed).run();
  if (plan.refused.empty() || !plan.rows) return plan;
  StepPlan line = Finder(kernel, asked, false, assumed).run();
  return line.refused.empty() ? line : plan;
}

} // namespace

StepPlan find_stage(emulator::Kernel& kernel, const StageQuestion& question) {
  const std::optional<Sweep> none;
  try {
    return Finder(kernel, {.sweep = none, .stage = &question}, false,
                  {.equal = question.equal, .written = question.written.value_or(WrittenExtents())})
        .run();
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
}

StepPlan find_step(emulator::Kernel& kernel, Motion motion, unsigned choice,
                   const std::optional<Sweep>& sweep) {
  const Finder::Question asked{motion, choice, sweep};
  try {
    StepPlan plan = find(kernel, asked, {});
    // Whatever is assumed of a launch, instructions and paths are the same.
    if (plan.refused.empty() || plan.head == analysis::no_block) return plan;
    std::vector<Assumed> more;
    if (EqualFields equal = find_equal_fields(kernel); !equal.first.empty())
      more.push_back({.equal = std::move(equal)});
    for (WrittenExtents& written : guess_extents(kernel))
      more.push_back({.written = std::move(written)});
    more.push_back({.by_block = true});
    more.push_back({.in_line = true});
    for (const Assumed& assumed : more)
      if (StepPlan made = find(kernel, asked, assumed); made.refused.empty()) return made;
    return plan;
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
}

} // namespace ptxasw::passes
