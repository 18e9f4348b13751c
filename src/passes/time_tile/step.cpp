// The search for a time step. The conditions about sizes are in step_conditions.cpp.
#include "passes/time_tile/step.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/step_conditions.hpp"
#include "passes/time_tile/step_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;
using ptx::Special;
using sym::Term;

namespace {

constexpr int farthest = 8; // offset

class Finder {
public:
  Finder(emulator::Kernel& kernel, Motion motion)
      : k_(kernel), c_(*kernel.context), body_(kernel.body), motion_(motion) {}

  StepPlan run() {
    plan_.refused = passes::why_not_a_plain_kernel(k_);
    using Part = void (Finder::*)();
    for (const Part part : {&Finder::check_instructions, &Finder::find_way, &Finder::find_places,
                            &Finder::find_stores, &Finder::find_offsets, &Finder::find_slice,
                            &Finder::find_conditions})
      if (plan_.refused.empty()) (this->*part)();
    return std::move(plan_);
  }

private:
  void refuse(std::string why) {
    if (plan_.refused.empty()) plan_.refused = {Reason::step_form, std::move(why)};
  }
  void refuse(const Inst& inst, std::string_view why) { refuse(passes::at_line(body_, inst, why)); }

  // --- Instructions ------------------------------------------------------------------------------

  void check_instructions() {
    if (!k_.loops.loops.empty()) return refuse("it has loops");
    for (const Inst& inst : body_.insts) {
      if (std::string why = passes::why_threads_meet(body_, inst); !why.empty())
        return refuse(std::move(why));
      const Group group = ptx::group(inst.op);
      if (passes::uses_local_memory(inst)) return refuse(inst, "local memory");
      if (inst.op == ptx::Op::trap || inst.op == ptx::Op::brkpt) return refuse(inst, "an effect");
      if (group == Group::texture) return refuse(inst, "a texture");
      if (group == Group::load && inst.mods.space == ptx::Space::generic)
        return refuse(inst, "its state space is not known");
    }
  }

  // The blocks on the way to the stores, one behind the other, and what guards the way.
  void find_way() {
    std::optional<BlockId> last;
    for (const Event& event : k_.trace.events) {
      if (event.kind != EventKind::store) continue;
      if (last && *last != event.block)
        return refuse(body_.insts[event.inst], "stores in several places");
      last = event.block;
    }
    if (!last) return refuse("it stores nothing");
    for (BlockId block = *last; block != analysis::no_block; block = k_.cfg.idom[block])
      way_.insert(way_.begin(), block);
    for (std::size_t n = 1; n < way_.size(); ++n) {
      const analysis::Block& before = k_.cfg.blocks[way_[n - 1]];
      if (k_.cfg.blocks[way_[n]].preds != std::vector{way_[n - 1]})
        return refuse("several ways lead to its stores");
      const Inst& branch = body_.insts[before.end - 1];
      if (way_[n] < way_[n - 1]) return refuse(branch, "its blocks stand in another order");
      if (before.succs.size() == 1) continue;
      if (before.succs.size() != 2 || before.succs[0] == before.succs[1] ||
          branch.guard == ptx::none)
        return refuse(branch, "a branch in front of its stores");
      const bool taken = before.succs[0] == way_[n];
      plan_.guards.push_back({branch.guard, branch.guard_negated == taken});
    }
  }

  [[nodiscard]] bool on_way(BlockId block) const {
    return std::ranges::find(way_, block) != way_.end();
  }

  // --- Places ------------------------------------------------------------------------------------

  // A new atom stands for the coordinate; what is known of the thread beside it has to vanish.
  void find_places() {
    using enum Special;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const Term thread = k_.trace.special(ptx::along(tid_x, axis)),
                 block = k_.trace.special(ptx::along(ctaid_x, axis)),
                 size = k_.trace.special(ptx::along(ntid_x, axis));
      const bool has_thread = thread.valid() && !c_.value(thread),
                 has_block = block.valid() && !c_.value(block);
      if (!has_thread && !has_block) continue;
      const Term place = c_.atom({.name = std::string(1, "xyz"[axis]),
                                  .width = 32,
                                  .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                                  .hi = 0x7fffffff});
      axes_.emplace(place.id, axis);
      place_[axis] = place;
      if (has_thread && has_block) {
        if (!size.valid()) return refuse(fmt::format("%tid.{} counts by itself", "xyz"[axis]));
        plan_.places[axis] = Place::threads;
        as_place_.emplace(thread.id, c_.sub(place, c_.mul(block, size)));
      } else {
        plan_.places[axis] = has_thread ? Place::thread : Place::block;
        as_place_.emplace((has_thread ? thread : block).id, place);
      }
    }
    std::map<RegId, unsigned> written;
    for (const emulator::Definition& definition : k_.trace.definitions) {
      if (definition.at_entry) continue;
      ++written[definition.reg];
      const Term value = c_.substitute(definition.value, as_place_);
      for (unsigned axis = 0; axis < 3; ++axis)
        if (place_[axis].valid() && value == place_[axis])
          plan_.coordinates.emplace(definition.reg, axis);
    }
    std::erase_if(plan_.coordinates, [&](const auto& entry) { return written[entry.first] != 1; });
  }

  // In terms of places; nothing if the thread's own numbers are left in it.
  std::optional<Term> at_place(Term t) {
    const Term moved = c_.substitute(t, as_place_);
    for (const Term atom : c_.atoms(moved))
      if (c_.atom_info(atom).kind == static_cast<std::uint32_t>(AtomKind::special))
        return std::nullopt;
    return moved;
  }

  // --- Arrays ------------------------------------------------------------------------------------

  [[nodiscard]] std::optional<WholeReader::Place> place_of(const Event& event) {
    const auto address = at_place(event.address);
    if (!address) return std::nullopt;
    return WholeReader(k_, axes_).place(*address, ranges_);
  }

  static bool has_element_size(const Event& event) {
    return event.elements == 1 && event.element_bytes <= 8;
  }

  // A register of the element's width, or a wider one that a small element comes from or goes to.
  [[nodiscard]] bool holds_element(const Arg& arg, unsigned bytes) const {
    if (arg.kind != Arg::Kind::reg || !arg.selector.empty()) return false;
    const unsigned width = ptx::bit_width(body_.registers[arg.id].type);
    return width == bytes * 8 || (bytes < 4 && (width == 16 || width == 32));
  }

  void find_stores() {
    for (const Event& event : k_.trace.events) {
      if (event.kind != EventKind::store) continue;
      const Inst& inst = body_.insts[event.inst];
      if (event.space != ptx::Space::global) return refuse(inst, "not to global memory");
      if (!has_element_size(event)) return refuse(inst, "not one element of at most 8 bytes");
      if (inst.guard != ptx::none) return refuse(inst, "it is guarded by itself");
      const Arg& stored = body_.src(inst)[0];
      if (stored.kind != Arg::Kind::imm && !holds_element(stored, event.element_bytes))
        return refuse(inst, "from a register of another width");
      auto place = place_of(event);
      if (!place) return refuse(inst, "where it stores is not known over whole numbers");
      for (const StepArray& other : plan_.arrays)
        if (other.out == place->parameter) return refuse(inst, "a second store to the array");
      plan_.arrays.push_back({.out = place->parameter,
                              .bytes = event.element_bytes,
                              .store = event.inst,
                              .element = std::move(place->offset),
                              .loads = {}});
    }
  }

  struct Loaded {
    const Event* event = nullptr;
    WholeReader::Place place;
  };

  void find_offsets() {
    std::vector<Loaded> loads;
    for (const Event& event : k_.trace.events) {
      if (event.kind != EventKind::load || !on_way(event.block)) continue;
      const Inst& inst = body_.insts[event.inst];
      if (event.space == ptx::Space::const_) continue; // nobody stores there
      if (event.space != ptx::Space::global) return refuse(inst, "not from global memory");
      const auto place = place_of(event);
      if (!place) return refuse(inst, "what it reads is not known over whole numbers");
      for (const StepArray& array : plan_.arrays)
        if (array.out == place->parameter) return refuse(inst, "reads what the step writes");
      loads.push_back({&event, *place});
    }
    if (motion_ == Motion::rotated) return rotate(loads);
    // Arrays all of whose loads fit; or else, to say what does not, some of them.
    std::vector<unsigned> chosen = pair_arrays(candidates(loads, true));
    if (chosen.empty()) chosen = pair_arrays(candidates(loads, false));
    if (chosen.empty()) return refuse("no array is read at constant offsets of what is written");
    take_all(loads, chosen);
  }

  // Each array from the parameter chosen for it; all other loads are of arrays that do not move.
  void take_all(const std::vector<Loaded>& loads, const std::vector<unsigned>& chosen) {
    for (std::size_t n = 0; n < plan_.arrays.size(); ++n) {
      StepArray& array = plan_.arrays[n];
      array.in = chosen[n];
      for (const Loaded& load : loads)
        if (load.place.parameter == array.in && !take(array, load)) return;
    }
    for (const Loaded& load : loads)
      if (std::ranges::find(chosen, load.place.parameter) == chosen.end())
        others_.push_back({*load.event, load.place});
  }

  // The two arrays that are read and all of whose loads fit. What is read of either is the element
  // of a place at an offset: in old it was stored two launches ago, in now one.
  void rotate(const std::vector<Loaded>& loads) {
    if (plan_.arrays.size() != 1) return refuse("several arrays are written");
    const auto chosen = choose_rotation(candidates(loads, true)[0]);
    if (!chosen) return refuse("no two arrays are read at constant offsets of what is written");
    const auto [old, now] = *chosen;
    plan_.rotation = contract::Rotation{.old = old, .now = now, .next = plan_.arrays[0].out};
    plan_.arrays.push_back({.out = now,
                            .bytes = plan_.arrays[0].bytes,
                            .carried = true,
                            .element = plan_.arrays[0].element,
                            .loads = {}});
    take_all(loads, {now, old});
  }

  // By array that is written: from which ones it may be computed, with their numbers of offsets.
  [[nodiscard]] std::vector<StepCandidates> candidates(const std::vector<Loaded>& loads,
                                                       bool whole) const {
    std::vector<StepCandidates> result;
    for (const StepArray& array : plan_.arrays) {
      std::map<unsigned, std::set<Offset>> fitting;
      std::set<unsigned> spoilt;
      for (const Loaded& load : loads)
        if (why_unfit(array, load).empty())
          fitting[load.place.parameter].insert(*offset_between(load.place.offset, array.element));
        else
          spoilt.insert(load.place.parameter);
      StepCandidates& made = result.emplace_back(StepCandidates{.out = array.out, .in = {}});
      for (const auto& [parameter, offsets] : fitting)
        if (!whole || !spoilt.contains(parameter)) made.in.emplace(parameter, offsets.size());
    }
    return result;
  }

  // Why the load is none of an element that the array's step stored.
  [[nodiscard]] std::string_view why_unfit(const StepArray& array, const Loaded& load) const {
    const Inst& inst = body_.insts[load.event->inst];
    const auto offset = offset_between(load.place.offset, array.element);
    if (!offset) return "not at a constant offset of the element that is stored";
    if (std::ranges::any_of(*offset, [](int d) { return std::abs(d) > farthest; }))
      return "far from the element that is stored";
    if (!has_element_size(*load.event) || load.event->element_bytes != array.bytes)
      return "not as wide as the element that is stored";
    if (inst.guard != ptx::none) return "it is guarded by itself";
    if (!holds_element(body_.dst(inst)[0], array.bytes)) return "into a register of another width";
    return {};
  }

  bool take(StepArray& array, const Loaded& load) {
    const Inst& inst = body_.insts[load.event->inst];
    const std::string_view why = why_unfit(array, load);
    if (!why.empty()) refuse(inst, why);
    if (!plan_.refused.empty()) return false;
    const Offset offset = *offset_between(load.place.offset, array.element);
    array.loads.push_back({load.event->inst, offset});
    for (unsigned axis = 0; axis < 3; ++axis) {
      plan_.least[axis] = std::min(plan_.least[axis], offset[axis]);
      plan_.most[axis] = std::max(plan_.most[axis], offset[axis]);
    }
    return true;
  }

  // --- The slice ---------------------------------------------------------------------------------

  void find_slice() {
    std::vector<Arg> guards, values;
    for (const StepGuard& guard : plan_.guards)
      guards.push_back({.kind = Arg::Kind::reg, .id = guard.predicate});
    for (const StepArray& array : plan_.arrays)
      if (!array.carried) values.push_back(body_.src(body_.insts[array.store])[0]);
    plan_.guard_slice = slice_of(guards);
    plan_.value_slice = slice_of(values);
    for (const InstId id : plan_.guard_slice) {
      const Inst& inst = body_.insts[id];
      if (ptx::group(inst.op) == Group::load && inst.mods.space != ptx::Space::param)
        return refuse(inst, "a guard hangs on memory");
    }
  }

  // Up to coordinates and what is on chip.
  std::vector<InstId> slice_of(std::span<const Arg> roots) {
    const auto definitions = analysis::definitions(body_);
    std::set<InstId> needed;
    std::vector<RegId> work;
    std::set<RegId> seen;
    const auto need = [&](const Arg& arg) {
      if (arg.kind == Arg::Kind::reg && !plan_.coordinates.contains(arg.id) &&
          seen.insert(arg.id).second)
        work.push_back(arg.id);
    };
    std::ranges::for_each(roots, need);
    while (!work.empty() && plan_.refused.empty()) {
      const RegId reg = work.back();
      work.pop_back();
      if (definitions[reg].size() != 1) {
        refuse(fmt::format("{} is written in several places", body_.registers[reg].name));
        break;
      }
      const InstId id = definitions[reg][0];
      if (!needed.insert(id).second) continue;
      if (!may_be_copied(id)) break;
      const StepArray* array = nullptr;
      if (plan_.load_of(id, array) != nullptr) continue;
      for (const Arg& src : body_.src(body_.insts[id]))
        need(src);
      for (const ptx::Address& address : body_.addr(body_.insts[id]))
        need(address.base);
    }
    std::vector<InstId> slice;
    for (const BlockId block : way_)
      for (InstId id = k_.cfg.blocks[block].first; id < k_.cfg.blocks[block].end; ++id)
        if (needed.contains(id)) slice.push_back(id);
    return slice;
  }

  bool may_be_copied(InstId id) {
    const Inst& inst = body_.insts[id];
    const Group group = ptx::group(inst.op);
    if (!on_way(k_.cfg.block_of[id])) refuse(inst, "beside the way to the stores");
    if (inst.guard != ptx::none) refuse(inst, "it is guarded by itself");
    if (group != Group::pure && group != Group::load) refuse(inst, "not a computation");
    if (inst.mods.cc || body_.carry != ptx::none) refuse(inst, "the carry flag");
    for (const Arg& src : body_.src(inst)) {
      if (src.kind != Arg::Kind::special) continue;
      refuse(inst, fmt::format("uses {} for more than the place of the thread",
                               ptx::info(src.special).name));
    }
    return plan_.refused.empty();
  }

  // --- Conditions --------------------------------------------------------------------------------

  void find_conditions() {
    StepSizes sizes(k_, plan_, WholeReader(k_, axes_));
    for (std::size_t n = 1; n < way_.size(); ++n) {
      if (k_.cfg.blocks[way_[n - 1]].succs.size() == 1) continue;
      const Term fact = k_.trace.entry_fact[way_[n]];
      const auto moved = fact.valid() ? at_place(fact) : std::nullopt;
      if (!moved) return refuse("a guard hangs on more than the place of the thread");
      sizes.add_guard(*moved);
    }
    for (const InRange& range : ranges_)
      sizes.add_range(range);
    for (const Other& other : others_)
      sizes.add_load(other.place, other.event.element_bytes * other.event.elements);
    sizes.finish();
  }

  struct Other {
    Event event;
    WholeReader::Place place;
  };

  emulator::Kernel& k_;
  sym::Context& c_;
  const ptx::Body& body_;
  const Motion motion_;
  StepPlan plan_;
  std::vector<BlockId> way_;
  std::unordered_map<std::uint32_t, unsigned> axes_; // atom -> axis
  std::array<Term, 3> place_;
  sym::Context::Substitution as_place_;
  std::vector<InRange> ranges_;
  std::vector<Other> others_;
};

} // namespace

StepPlan find_step(emulator::Kernel& kernel, Motion motion) {
  try {
    return Finder(kernel, motion).run();
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
}

std::string offsets_text(const StepPlan& plan) {
  std::vector<std::string> texts;
  for (const StepArray& array : plan.arrays) {
    std::set<Offset> offsets;
    for (const StepArray::Load& load : array.loads)
      offsets.insert(load.offset);
    for (const Offset& offset : offsets)
      texts.push_back(fmt::format("{}({})", array.in, fmt::join(offset, ",")));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

} // namespace ptxasw::passes
