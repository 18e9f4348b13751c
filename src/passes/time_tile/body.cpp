// Emits copies of a step's instructions.
#include "passes/time_tile/body.hpp"

#include "analysis/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;

StepBody::StepBody(const emulator::Kernel& kernel, const passes::StepPlan& plan,
                   Registers& registers, Text& text)
    : body_(kernel.body), plan_(plan), registers_(registers), text_(text), names_(kernel.body) {
  classify(plan.guard_slice);
  classify(plan.value_slice);
  split_guards();
}

bool StepBody::is_other_load(const Inst& inst) const {
  return ptx::group(inst.op) == ptx::Group::load && inst.mods.space != ptx::Space::param;
}

// Over what a result differs: the largest class of the sources.
void StepBody::classify(std::span<const InstId> slice) {
  std::map<RegId, Class> of;
  for (const auto& [reg, axis] : plan_.coordinates)
    of[reg] = Class::place;
  for (const InstId id : slice) {
    const Inst& inst = body_.insts[id];
    Class result = Class::parameter;
    const passes::StepArray* array = nullptr;
    if (plan_.load_of(id, array) != nullptr) {
      result = Class::value;
    } else {
      analysis::for_each_use(body_, inst, [&](RegId reg) { result = std::max(result, of[reg]); });
      if (is_other_load(inst)) result = std::max(result, Class::loaded);
    }
    has_uniform_loads_ |= result == Class::loaded;
    classes_[id] = result;
    analysis::for_each_definition(body_, inst, [&](RegId reg) { of[reg] = result; });
  }
}

void StepBody::split_guards() {
  std::map<RegId, unsigned> of;
  std::map<RegId, InstId> made_by;
  bool once = true; // each register is written
  for (const auto& [reg, axis] : plan_.coordinates)
    of[reg] = 1U << axis;
  for (const InstId id : plan_.guard_slice) {
    const Inst& inst = body_.insts[id];
    unsigned axes = 0;
    analysis::for_each_use(body_, inst, [&](RegId reg) { axes |= of[reg]; });
    axes_[id] = axes;
    analysis::for_each_definition(body_, inst, [&](RegId reg) {
      of[reg] = axes;
      once &= made_by.emplace(reg, id).second;
    });
  }
  if (!once) made_by.clear();
  for (const passes::StepGuard& guard : plan_.guards)
    split({.predicate = guard.predicate, .negated = guard.negated}, made_by);
  for (Conjunct& conjunct : conjuncts_)
    conjunct.axes = of[conjunct.predicate];
}

// Not (a or b) is not a and not b.
void StepBody::split(const Conjunct& whole, const std::map<RegId, InstId>& made_by) {
  const auto made = made_by.find(whole.predicate);
  if (made != made_by.end()) {
    const Inst& inst = body_.insts[made->second];
    const auto parts = body_.src(inst);
    const bool splits = inst.op == (whole.negated ? ptx::Op::or_ : ptx::Op::and_) &&
                        inst.guard == ptx::none && !inst.opaque &&
                        std::ranges::all_of(parts, [&](const Arg& part) {
                          return part.kind == Arg::Kind::reg && !part.negated &&
                                 body_.registers[part.id].type == ptx::Type::pred;
                        });
    if (splits) {
      for (const Arg& part : parts)
        split({.predicate = part.id, .negated = whole.negated}, made_by);
      return;
    }
  }
  conjuncts_.push_back(whole);
}

bool StepBody::separable(unsigned axis) const {
  const unsigned bit = 1U << axis;
  return std::ranges::all_of(conjuncts_, [&](const Conjunct& conjunct) {
    return (conjunct.axes & bit) == 0 || conjunct.axes == bit;
  });
}

std::string StepBody::fresh(RegId reg) {
  return registers_.make(ptx::name(body_.registers[reg].type));
}

std::string StepBody::name_of(const Arg& arg, const Place* place, const Renamed& renamed) const {
  if (const auto axis = plan_.coordinates.find(arg.id); axis != plan_.coordinates.end())
    return place == nullptr ? "" : (*place)[axis->second];
  if (const auto found = renamed.find(arg.id); found != renamed.end()) return found->second;
  const auto found = uniform_.find(arg.id);
  return found == uniform_.end() ? "" : found->second;
}

void StepBody::copy(InstId id, const Place* place, const std::string& guard, Renamed& renamed) {
  const Inst& inst = body_.insts[id];
  const ptx::Range range = body_.module->statements[inst.statement].range;
  Renamed results;
  analysis::for_each_definition(body_, inst, [&](RegId reg) { results[reg] = fresh(reg); });
  const std::string copied = names_.spliced(range, [&](const ptx::Mention& mention) {
    const std::string_view written = body_.module->slice(mention.where);
    if (mention.arg.kind != Arg::Kind::reg) return std::string(written);
    if (const auto result = results.find(mention.arg.id); result != results.end())
      return result->second;
    return name_of(mention.arg, place, renamed);
  });
  const bool guarded = !guard.empty() && is_other_load(inst);
  text_.line("{}{}", guarded ? fmt::format("@{} ", guard) : "", copied);
  renamed.merge(results);
}

std::string StepBody::as_loaded(const Inst& load, const passes::StepArray& array,
                                const std::string& held) {
  const RegId reg = body_.dst(load)[0].id;
  const unsigned width = ptx::bit_width(body_.registers[reg].type), bits = array.bytes * 8;
  std::string into = fresh(reg);
  if (width == bits) {
    text_.line("mov.b{} \t{}, {};", bits, into, held);
  } else {
    const char sign = ptx::is_signed(load.mods.type) ? 's' : 'u';
    text_.line("cvt.{}{}.{}{} \t{}, {};", sign, width, sign, bits, into, held);
  }
  return into;
}

std::string StepBody::as_held(const passes::StepArray& array, RegId reg, std::string value) {
  const unsigned width = ptx::bit_width(body_.registers[reg].type), bits = held_bits(array);
  if (width == bits) return value;
  std::string into = registers_.make(fmt::format("b{}", bits));
  text_.line("cvt.u{}.u{} \t{}, {};", bits, width, into, value);
  return into;
}

void StepBody::parameters() {
  for (const auto& [id, of] : classes_)
    if (of == Class::parameter) copy(id, nullptr, "", uniform_);
}

void StepBody::uniform_loads(const std::string& guard) {
  for (const auto& [id, of] : classes_)
    if (of == Class::loaded) {
      analysis::for_each_definition(body_, body_.insts[id],
                                    [&](RegId reg) { uniform_.erase(reg); });
      copy(id, nullptr, guard, uniform_);
    }
}

std::string StepBody::guards(const Place& place) {
  Renamed renamed;
  for (const InstId id : plan_.guard_slice)
    if (classes_.at(id) == Class::place) copy(id, &place, "", renamed);
  std::vector<Conjunct> whole;
  for (const passes::StepGuard& guard : plan_.guards)
    whole.push_back({.predicate = guard.predicate, .negated = guard.negated});
  return all_of(whole, place, renamed);
}

std::string StepBody::guards(const Place& place, unsigned axis, bool along) {
  const unsigned bit = 1U << axis;
  const auto wanted = [&](unsigned axes) { return along ? axes == bit : (axes & bit) == 0; };
  Renamed renamed;
  for (const InstId id : plan_.guard_slice)
    if (classes_.at(id) == Class::place && wanted(axes_.at(id))) copy(id, &place, "", renamed);
  std::vector<Conjunct> some;
  std::ranges::copy_if(conjuncts_, std::back_inserter(some),
                       [&](const Conjunct& conjunct) { return wanted(conjunct.axes); });
  return all_of(some, place, renamed);
}

std::string StepBody::all_of(const std::vector<Conjunct>& conjuncts, const Place& place,
                             const Renamed& renamed) {
  std::string all;
  for (const Conjunct& guard : conjuncts) {
    std::string one = name_of({.kind = Arg::Kind::reg, .id = guard.predicate}, &place, renamed);
    if (guard.negated) {
      const std::string no = registers_.make("pred");
      text_.line("not.pred \t{}, {};", no, one);
      one = no;
    }
    if (all.empty()) {
      all = one;
    } else {
      const std::string both = registers_.make("pred");
      text_.line("and.pred \t{}, {}, {};", both, all, one);
      all = both;
    }
  }
  return all;
}

std::vector<std::string> StepBody::values(const Place& place, const OnChip& on_chip,
                                          const std::string& guard) {
  Renamed renamed;
  for (const InstId id : plan_.value_slice) {
    if (classes_.at(id) < Class::place) continue;
    const passes::StepArray* array = nullptr;
    const passes::StepArray::Load* load = plan_.load_of(id, array);
    if (load == nullptr) {
      copy(id, &place, guard, renamed);
      continue;
    }
    const Inst& inst = body_.insts[id];
    renamed[body_.dst(inst)[0].id] = as_loaded(inst, *array, on_chip(*array, load->offset));
  }
  std::vector<std::string> results;
  for (const passes::StepArray& array : plan_.arrays) {
    if (array.carried) {
      results.push_back(on_chip(plan_.arrays[0], {}));
      continue;
    }
    const Inst& store = body_.insts[array.store];
    const Arg& stored = body_.src(store)[0];
    if (stored.kind == Arg::Kind::reg) {
      results.push_back(as_held(array, stored.id, name_of(stored, &place, renamed)));
      continue;
    }
    const auto& written =
        body_.module->instructions[body_.module->statements[store.statement].index];
    results.emplace_back(body_.module->operands_of(written)[1].kind == ptx::OperandKind::name
                             ? ""
                             : body_.module->slice(body_.module->operands_of(written)[1].range));
  }
  return results;
}

} // namespace ptxasw::passes
