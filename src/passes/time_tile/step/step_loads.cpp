// Reads loads by cases, and puts those first that most places have.
#include "passes/time_tile/step/step_loads.hpp"

#include "passes/shared/block_rules.hpp"
#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using sym::Term;

std::vector<StepRead> StepLoads::run(const StepPins* stage) {
  stage_ = stage;
  for (const Event& event : k_.trace.events)
    if (event.kind == EventKind::load && region_.has(event.block) && refused.empty()) add(event);
  return std::move(reads_);
}

void StepLoads::refuse(Reason reason, const Event& event, std::string_view why) {
  if (refused.empty()) refused = at_line(k_.body, k_.body.insts[event.inst], reason, why);
}

void StepLoads::add(const Event& event) {
  if (event.space == ptx::Space::const_) return; // nobody stores there
  if (event.space != ptx::Space::global)
    return refuse(Reason::memory_kind, event, "not from global memory");
  if (add_variable(event)) return;
  for (const StepLoop& loop : places_.loops())
    if (!k_.loops.contains(loop.number, event.block) &&
        places_.mentions(places_.at(event.address, event.block), loop.axis))
      return refuse(Reason::step_loop, event, "it reads at the first place of a thread alone");
  const char* why = "";
  auto cases = read_cases(reader_, c_, places_.at(event.address, event.block), why);
  if (!cases || cases->empty())
    return refuse(Reason::step_index, event, fmt::format("what it reads is {}", why));
  Facts facts = facts_of(event.block);
  StepRead read{.event = &event,
                .parameter = (*cases)[0].place.parameter,
                .where = std::move(facts.bounded),
                .is_all = facts.is_all,
                .cases = {},
                .impossible = {}};
  if (stage_ != nullptr)
    for (AddressCase& one : *cases)
      one.place.offset = stage_->by_place(one.place.parameter, one.place.offset);
  sort_cases(read, std::move(*cases));
  fix_points(read);
  for (const AddressCase& one : read.cases)
    if (one.place.parameter != read.parameter)
      return refuse(Reason::step_several_arrays, event, "reads one array or another");
  for (const StepArray& array : plan_.arrays)
    if (array.out == read.parameter && stage_ == nullptr)
      return refuse(Reason::step_in_place, event, "reads what the step writes");
  reads_.push_back(std::move(read));
}

// All threads read the same bytes of a variable; that no step writes them is for who launches.
bool StepLoads::add_variable(const Event& event) {
  const sym::Poly address = c_.poly(event.address);
  if (address.terms.size() != 1 || address.terms[0].coefficient != 1 ||
      address.terms[0].factors.size() != 1)
    return false;
  const Term base = address.terms[0].factors[0];
  if (c_.kind(base) != sym::Kind::atom) return false;
  const sym::Atom& info = c_.atom_info(base);
  if (info.kind != static_cast<std::uint32_t>(emulator::AtomKind::symbol)) return false;
  const ptx::Symbol& symbol = k_.body.symbols[info.tag];
  const std::uint64_t end =
      static_cast<std::uint64_t>(address.constant) + event.element_bytes * event.elements;
  if (symbol.kind != ptx::Symbol::Kind::variable || symbol.space != ptx::Space::global ||
      address.constant > symbol.size || end > symbol.size ||
      ptx::stands_anywhere(*k_.body.module, ".managed")) // the host may write it
    return false;
  const auto known = std::ranges::find(variables, symbol.name, &contract::Variable::name);
  if (known == variables.end())
    variables.push_back({std::string(symbol.name), end});
  else
    known->bytes = std::max(known->bytes, end);
  return true;
}

StepLoads::Facts StepLoads::facts_of(BlockId block) const {
  Facts all;
  for (; block != k_.cfg.entry(); block = k_.cfg.idom[block]) {
    const BlockId above = k_.cfg.idom[block];
    if (std::ranges::find(region_.guards, block, &StepRegion::Guard::to) != region_.guards.end())
      continue;
    if (std::ranges::any_of(places_.loops(), [&](const StepLoop& loop) {
          return !k_.loops.contains(loop.number, above);
        }))
      continue; // of the first place of a thread alone
    const Term fact = k_.trace.entry_fact[block];
    const auto ways =
        fact.valid() ? split(reader_, c_, places_.at(fact, above), true) : std::nullopt;
    if (ways && ways->size() == 1)
      all.bounded = both(all.bounded, (*ways)[0]);
    else if (!k_.cfg.post_dominates(block, above))
      all.is_all = false;
  }
  return all;
}

// By how many places have them in usual launches; a clamp inside a guard's rim never acts.
void StepLoads::sort_cases(StepRead& read, std::vector<AddressCase> cases) const {
  std::vector<std::pair<double, AddressCase*>> sorted;
  for (AddressCase& one : cases)
    sorted.emplace_back(sizes_.usual_places(both(read.where, one.where)), &one);
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t n = 0; n < sorted.size(); ++n)
    (n == 0 || sorted[n].first > 0 ? read.cases : read.impossible)
        .push_back(std::move(*sorted[n].second));
  read.parameter = read.cases[0].place.parameter;
}

namespace {

// From the bound on.
void add_points(std::vector<AddressCase>& all, const AddressCase& one,
                const IntegerPolynomial& stride, unsigned axis, unsigned width, const Bound& from) {
  const bool closed = std::ranges::any_of(one.where.bounds, [&](const Bound& other) {
    const IntegerPolynomial between = from.below ? from.at - other.at : other.at - from.at;
    return other.axis == axis && other.below != from.below && between == IntegerPolynomial(width);
  });
  for (unsigned n = 0; n < width; ++n) {
    const IntegerPolynomial point =
        from.below ? from.at - IntegerPolynomial(n + 1) : from.at + IntegerPolynomial(n);
    AddressCase made = one;
    made.place.offset = made.place.offset + stride * (IntegerPolynomial::coordinate(axis) - point);
    made.where.bounds.push_back({axis, false, point});
    made.where.bounds.push_back({axis, true, point + IntegerPolynomial(1)});
    const IntegerPolynomial last = from.below
                                       ? from.at - IntegerPolynomial(width) + IntegerPolynomial(1)
                                       : from.at + IntegerPolynomial(width) - IntegerPolynomial(1);
    if (!closed) made.where.edges.push_back({{axis, !from.below, last}}); // no place is beyond
    all.push_back(std::move(made));
  }
}

} // namespace

// A case that reads at a fixed coordinate, whatever the place's own is: it holds at few places of
// the axis, at each of which that is an offset.
void StepLoads::fix_points(StepRead& read) const {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial stride = read.cases[0].place.offset.along(axis);
    std::vector<AddressCase> all;
    for (AddressCase& one : read.cases) {
      const Bounded where = both(read.where, one.where);
      const auto width = sizes_.usual_width(axis, where);
      const auto bound = std::ranges::find_if(one.where.bounds, [&](const Bound& some) {
        return some.axis == axis && // by itself it leaves no more places than all do
               sizes_.usual_width(axis, {.bounds = {some}, .edges = {}, .ranges = {}}) == width;
      });
      if (stride.is_zero() || !one.place.offset.along(axis).is_zero() || !width ||
          *width > farthest_offset || bound == one.where.bounds.end()) {
        all.push_back(std::move(one));
        continue;
      }
      add_points(all, one, stride, axis, *width, *bound);
    }
    read.cases = std::move(all);
  }
}

} // namespace ptxasw::passes
