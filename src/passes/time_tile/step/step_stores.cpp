// Each store is of the element of a place; all stores of an array are of the same. A buffer that
// has several elements of a place is several arrays, its fields.
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

// As one element, or each register by itself.
bool has_element_size(const Event& event, bool by_register) {
  return event.elements == 1 || by_register ? event.element_bytes <= 8
                                            : event.elements == 2 && event.element_bytes == 4;
}

// Whatever the place is, as far as constants tell.
bool lie_beside(const StepArray& a, const StepArray& b) {
  const IntegerPolynomial far = b.element - a.element;
  const auto bytes = far.constant();
  return far == far.elsewhere() && (!bytes || *bytes >= a.bytes || -*bytes >= b.bytes);
}

} // namespace

Why StepStores::run(const StepPins& pins, bool may_have_fields) {
  Why why = add_all(pins);
  if (why.empty() || !may_have_fields) return why;
  plan_.arrays.clear();
  groups_.clear();
  plan_.has_fields = true;
  return add_all(pins);
}

Why StepStores::add_all(const StepPins& pins) {
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
  if (!has_element_size(event, plan_.has_fields))
    return {Reason::step_element, "not one element of at most 8 bytes"};
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
  Bounded where =
      StepLoads(k_, region_, plan_, reader_, sizes_, places_).facts_of(event.block).bounded;
  if (where.of_places) where = {}; // it would rest on what is asked here
  const auto place = place_of(event, where);
  if (!place)
    return at_line(k_.body, inst, Reason::step_index,
                   "where it stores is not known over whole numbers");
  const unsigned parts = plan_.has_fields ? 1 : event.elements;
  for (unsigned at = 0; at < event.elements; at += parts)
    if (!add({.out = place->parameter,
              .bytes = event.element_bytes * parts,
              .parts = parts,
              .stores = {{event.inst, at}},
              .element = place->offset + IntegerPolynomial(at * event.element_bytes),
              .loads = {}},
             where, pins))
      return at_line(k_.body, inst, Reason::step_stores, "a second store to the array");
  return {};
}

// The one way to read the address that some place has: of `x % n` where x < n.
std::optional<IntegerPolynomialReader::Place> StepStores::place_of(const Event& event,
                                                                   const Bounded& where) {
  const char* why = "";
  const auto cases = read_cases(reader_, *k_.context, places_.at(event.address, plan_.head), why);
  if (!cases) return std::nullopt;
  const AddressCase* found = nullptr;
  for (const AddressCase& one : *cases) {
    if (cases->size() > 1 && sizes_.usual_places(both(where, one.where)) == 0) continue;
    if (found != nullptr) return std::nullopt;
    found = &one;
  }
  if (found == nullptr) return std::nullopt;
  if (cases->size() != 1 || !found->ranges.empty()) sizes_.add_bounded(where);
  for (const AddressCase& one : *cases)
    if (&one != found) sizes_.add_impossible(one.where, where);
  sizes_.add_case(*found, where);
  return found->place;
}

// To the element that another store of the array has: one may be of some places only, where the
// compiler knew a coordinate. Or to another field.
bool StepStores::add(StepArray element, const Bounded& where, const StepPins& pins) {
  const StepArray::Store store = element.stores[0];
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n) {
    StepArray& array = plan_.arrays[n];
    if (array.out != element.out) continue;
    const bool is_same = array.element == element.element;
    if (is_same || agree(array.element, element.element, where.bounds)) {
      if (array.bytes != element.bytes || array.parts != element.parts) return false;
      if (!is_same) sizes_.add_bounded(where);
      array.stores.push_back(store);
      groups_.emplace(store.inst, static_cast<unsigned>(n));
      return true;
    }
    if (!plan_.has_fields || !lie_beside(array, element)) return false;
  }
  groups_.emplace(store.inst, static_cast<unsigned>(plan_.arrays.size()));
  element.element = pins.by_place(element.out, element.element);
  plan_.arrays.push_back(std::move(element));
  return true;
}

bool is_behind_store(const analysis::Cfg& cfg, const StepArray& array, ptx::InstId load) {
  const analysis::BlockId there = cfg.block_of[load];
  return std::ranges::any_of(array.stores, [&](const StepArray::Store& store) {
    const analysis::BlockId from = cfg.block_of[store.inst];
    return from == there ? store.inst < load
                         : analysis::reached_from(cfg, from, analysis::no_block)[there];
  });
}

} // namespace ptxasw::passes
