// Each store is of the element of a place; all stores of an array are of the same.
#include "passes/time_tile/step/step_stores.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/step/step_loads.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::Inst;

namespace {

unsigned bytes_of(const Event& event) {
  return event.element_bytes * event.elements;
}

bool has_element_size(const Event& event) {
  return event.elements == 1 ? event.element_bytes <= 8
                             : event.elements == 2 && event.element_bytes == 4;
}

} // namespace

Why StepStores::run(const StepPins& pins) {
  for (const Event& event : k_.trace.events)
    if (event.kind == EventKind::store)
      if (Why why = add(event, pins); !why.empty()) return why;
  std::string why =
      why_not_stored(k_, region_, groups_, static_cast<unsigned>(plan_.arrays.size()));
  return why.empty() ? Why{} : Why{Reason::step_stores, std::move(why)};
}

// Empty, or why the store is none of an element.
Why StepStores::why_no_element(const Event& event, const Inst& inst) const {
  if (event.space != ptx::Space::global) return {Reason::memory_kind, "not to global memory"};
  if (!has_element_size(event)) return {Reason::step_element, "not one element of at most 8 bytes"};
  if (inst.guard != ptx::none) return {Reason::step_stores, "it is guarded by itself"};
  for (const StepLoop& loop : places_.loops())
    if (!k_.loops.contains(loop.number, event.block))
      return {Reason::step_loop, "it stores in front of a loop or behind it"};
  for (unsigned n = 0; n < event.elements; ++n)
    if (const Arg& stored = k_.body.src(inst)[n];
        (stored.kind != Arg::Kind::imm || event.elements != 1) &&
        !holds_element(k_.body, stored, event.element_bytes))
      return {Reason::step_element, "from a register of another width"};
  return {};
}

Why StepStores::add(const Event& event, const StepPins& pins) {
  const Inst& inst = k_.body.insts[event.inst];
  if (const Why why = why_no_element(event, inst); !why.empty())
    return at_line(k_.body, inst, why.reason, why.text);
  Reading reading;
  auto place = reader_.place(places_.at(event.address, plan_.head), reading);
  if (!place)
    return at_line(k_.body, inst, Reason::step_index,
                   "where it stores is not known over whole numbers");
  Bounded where =
      StepLoads(k_, region_, plan_, reader_, sizes_, places_).facts_of(event.block).bounded;
  if (where.of_places) where = {}; // it would rest on what is asked here
  if (!reading.ranges.empty()) sizes_.add_bounded(where);
  sizes_.add_ranges(reading.ranges, where);
  const auto same = std::ranges::find(plan_.arrays, place->parameter, &StepArray::out);
  groups_.emplace(event.inst, static_cast<unsigned>(same - plan_.arrays.begin()));
  if (same == plan_.arrays.end())
    plan_.arrays.push_back({.out = place->parameter,
                            .bytes = bytes_of(event),
                            .parts = event.elements,
                            .stores = {event.inst},
                            .element = pins.by_place(place->parameter, place->offset),
                            .loads = {}});
  else if (!add_to(*same, event, place->offset, where))
    return at_line(k_.body, inst, Reason::step_stores, "a second store to the array");
  return {};
}

// To the element that another store of the array has: one may be of some places only, where the
// compiler knew a coordinate.
bool StepStores::add_to(StepArray& array, const Event& event, const IntegerPolynomial& element,
                        const Bounded& where) {
  if (array.bytes != bytes_of(event) || array.parts != event.elements) return false;
  if (array.element != element) {
    if (!agree(array.element, element, where.bounds)) return false;
    sizes_.add_bounded(where);
  }
  array.stores.push_back(event.inst);
  return true;
}

bool is_behind_store(const analysis::Cfg& cfg, const StepArray& array, ptx::InstId load) {
  const analysis::BlockId there = cfg.block_of[load];
  return std::ranges::any_of(array.stores, [&](ptx::InstId store) {
    const analysis::BlockId from = cfg.block_of[store];
    return from == there ? store < load
                         : analysis::reached_from(cfg, from, analysis::no_block)[there];
  });
}

} // namespace ptxasw::passes
