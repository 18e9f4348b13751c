// Emits copies of a step's instructions.
#include "passes/time_tile/emit/body.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "passes/time_tile/emit/plane_layout.hpp"
#include "passes/time_tile/step/step_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using namespace ptx::words;

std::optional<unsigned> parameter_read(const ptx::Body& body, const Inst& inst) {
  const auto addresses = body.addr(inst);
  if (ptx::group(inst.op) != ptx::Group::load || inst.mods.space != ptx::Space::param ||
      addresses.size() != 1 || addresses[0].base.kind != Arg::Kind::symbol)
    return std::nullopt;
  const ptx::Symbol& symbol = body.symbols[addresses[0].base.id];
  if (symbol.kind != ptx::Symbol::Kind::parameter) return std::nullopt;
  const auto byte = static_cast<std::int64_t>(addresses[0].base.value) + addresses[0].offset;
  if (byte < 0 || byte >= static_cast<std::int64_t>(symbol.size)) return std::nullopt;
  return contract::part(static_cast<unsigned>(symbol.index), static_cast<unsigned>(byte));
}

ptx::Type move_type(const ptx::Body& body, const StepArray& array) {
  if (array.carried || array.stores.size() > 1) return ptx::bits(held_bits(array));
  const auto [id, at] = array.stores[0];
  const ptx::Inst& store = body.insts[id];
  const bool literal = body.src(store)[at].kind == ptx::Arg::Kind::imm;
  return literal && array.bytes > 1 ? store.mods.type : ptx::bits(held_bits(array));
}

StepBody::StepBody(const emulator::Kernel& kernel, const StepPlan& plan, ptx::Code& code,
                   ParameterNames parameter_names, Varying varying)
    : kernel_(kernel), body_(kernel.body), plan_(plan), code_(code),
      parameter_names_(std::move(parameter_names)), varying_(std::move(varying)),
      names_(kernel.body) {
  std::vector<RegId> stored;
  for (const StepArray& array : plan.arrays)
    for (const StepArray::Store& store : array.stores)
      for (const Arg& value : body_.src(body_.insts[store.inst]))
        if (value.kind == Arg::Kind::reg) stored.push_back(value.id);
  find_wide(plan.guard_slice);
  find_wide(plan.value_slice);
  for (const RegId reg : stored)
    note_place(reg);
  classify(plan.guard_slice);
  classify(plan.value_slice);
  split_guards();
  const auto look_at = [&](RegId reg) {
    values_use_place_ |= plan.coordinates.contains(reg) || std::ranges::count(numbers_, reg) != 0 ||
                         (sized_.contains(reg) && axes_of(reg) != 0);
  };
  for (const InstId id : plan.value_slice)
    analysis::for_each_use(body_, body_.insts[id], look_at);
  std::ranges::for_each(stored, look_at);
  values_ = plan.value_slice;
  std::ranges::sort(values_);
}

// Of a load of a varying parameter: where its value lies among those of a pass.
std::optional<int> StepBody::value_of(const Inst& inst) const {
  const auto part = parameter_read(body_, inst);
  if (!part) return std::nullopt;
  const auto known = varying_.find(contract::number_of(*part));
  if (known == varying_.end()) return std::nullopt;
  return known->second + static_cast<int>(contract::byte_of(*part));
}

bool StepBody::always(BlockId block) const {
  return kernel_.cfg.dominates(block, plan_.head) || kernel_.cfg.post_dominates(block, plan_.head);
}

void StepBody::find_wide(std::span<const InstId> slice) {
  std::set<RegId> written;
  for (const InstId id : slice) {
    analysis::for_each_definition(body_, body_.insts[id], [&](RegId reg) {
      if (!written.insert(reg).second) several_.insert(reg);
    });
    analysis::for_each_use(body_, body_.insts[id], [&](RegId reg) { note_place(reg); });
  }
}

void StepBody::note_place(RegId reg) {
  if (plan_.coordinates.contains(reg) && ptx::bit_width(body_.registers[reg].type) == 64 &&
      std::ranges::find(wide_, reg) == wide_.end())
    wide_.push_back(reg);
  if (plan_.sized.contains(reg)) sized_.try_emplace(reg);
  if (plan_.rows && plan_.rows->numbers.contains(reg) &&
      std::ranges::find(numbers_, reg) == numbers_.end())
    numbers_.push_back(reg);
}

// A place that stores is not negative.
void StepBody::widen(const Place& place, Renamed& renamed) {
  for (const RegId reg : wide_) {
    renamed[reg] = code_.into(fresh(reg)).cvt(u64, u32, place[plan_.coordinates.at(reg)]);
  }
  for (const auto& [reg, sized] : sized_) {
    if (axes_of(reg) == 0) continue; // it is uniform
    Reg number = sized.elsewhere;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (const Reg& along = sized.along.at(axis); !along.empty())
        number = code_.mad(s64, code_.cvt(s64, s32, place.at(axis)), along, number);
    renamed[reg] = narrowed(reg, number);
  }
  for (const RegId reg : numbers_) {
    const Reg number = code_.mad(u32, place[1], row_, place[0]);
    const bool is_wide = ptx::bit_width(body_.registers[reg].type) == 64;
    renamed[reg] = is_wide ? code_.into(fresh(reg)).cvt(u64, u32, number) : number;
  }
}

// That a register of StepPlan::sized depends on, a bit each.
unsigned StepBody::axes_of(RegId reg) const {
  unsigned axes = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!plan_.sized.at(reg).along(axis).is_zero()) axes |= 1U << axis;
  return axes;
}

Reg StepBody::narrowed(RegId reg, const Reg& number) {
  const bool is_wide = ptx::bit_width(body_.registers[reg].type) == 64;
  return is_wide ? number : code_.into(fresh(reg)).cvt(u32, u64, number);
}

// Over what a result differs: the largest class of the sources. What is not the same on all ways
// differs from place to place.
void StepBody::classify(std::span<const InstId> slice) {
  std::map<RegId, Class> of;
  for (const auto& [reg, axis] : plan_.coordinates)
    of[reg] = Class::place;
  for (const RegId reg : numbers_)
    of[reg] = Class::place;
  for (const auto& [reg, sized] : sized_)
    if (axes_of(reg) != 0) of[reg] = Class::place;
  for (const InstId id : slice) {
    const Inst& inst = body_.insts[id];
    Class result = Class::parameter;
    if (plan_.is_load(id)) {
      result = Class::value;
    } else {
      analysis::for_each_use(body_, inst, [&](RegId reg) { result = std::max(result, of[reg]); });
      if (loads_memory(body_, inst)) result = std::max(result, Class::loaded);
      if (value_of(inst)) result = std::max(result, Class::pass);
      analysis::for_each_definition(body_, inst, [&](RegId reg) {
        if (several_.contains(reg)) result = std::max(result, Class::place);
      });
      const bool loads = result == Class::loaded || loads_memory(body_, inst);
      if (loads && !always(kernel_.cfg.block_of[id])) result = std::max(result, Class::place);
    }
    has_uniform_loads_ |= result == Class::loaded;
    classes_[id] = result;
    analysis::for_each_definition(body_, inst,
                                  [&](RegId reg) { of[reg] = std::max(of[reg], result); });
  }
}

void StepBody::split_guards() {
  std::map<RegId, unsigned> of;
  std::map<RegId, InstId> made_by;
  bool once = true; // each register is written
  for (const auto& [reg, axis] : plan_.coordinates)
    of[reg] = 1U << axis;
  for (const RegId reg : numbers_)
    of[reg] = 0b11;
  for (const auto& [reg, sized] : sized_)
    of[reg] = axes_of(reg);
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
  for (const StepGuard& guard : plan_.guards)
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
  return !plan_.masked && std::ranges::all_of(conjuncts_, [&](const Conjunct& conjunct) {
    return (conjunct.axes & bit) == 0 || conjunct.axes == bit;
  });
}

bool StepBody::hold_on_a_line() const {
  return std::ranges::any_of(conjuncts_, [&](const Conjunct& conjunct) {
    const ptx::Compare equal = conjunct.negated ? ptx::Compare::ne : ptx::Compare::eq;
    return conjunct.axes != 0 && std::ranges::any_of(plan_.guard_slice, [&](InstId id) {
             const Inst& inst = body_.insts[id];
             const auto results = body_.dst(inst);
             return inst.op == ptx::Op::setp && inst.mods.compare == equal && !results.empty() &&
                    results[0].id == conjunct.predicate;
           });
  });
}

Reg StepBody::fresh(RegId reg) {
  return code_.make(body_.registers[reg].type);
}

const Reg& StepBody::reused(RegId reg) {
  const auto [known, missing] = reused_.try_emplace(reg);
  if (missing) known->second = fresh(reg);
  return known->second;
}

Reg StepBody::reg_of(const Arg& arg, const Place* place, const Renamed& renamed) const {
  if (const auto found = renamed.find(arg.id); found != renamed.end()) return found->second;
  if (const auto axis = plan_.coordinates.find(arg.id); axis != plan_.coordinates.end())
    return place == nullptr ? Reg{} : (*place)[axis->second];
  const auto found = uniform_.find(arg.id);
  return found == uniform_.end() ? Reg{} : found->second;
}

// What one step stores the next one reads from a register: there ptxas may fuse a product with a
// sum that it could not fuse across memory (PTX ISA, add: sequences without rounding modifiers).
// With the modifier each is rounded by itself; what the original fuses says so (passes/pin_fma).
std::string StepBody::as_rounded(const Inst& inst, std::string copied) const {
  if (!is_unrounded(inst)) return copied;
  const std::string_view opcode = inst.op == ptx::Op::add   ? "add"
                                  : inst.op == ptx::Op::sub ? "sub"
                                                            : "mul";
  const std::size_t at = copied.find(fmt::format("{}.", opcode));
  if (at == copied.npos) throw std::logic_error("a sum or product is not written as one");
  return copied.insert(at + opcode.size(), ".rn");
}

void StepBody::copy(InstId id, const Place* place, const Reg& guard, Renamed& renamed,
                    const Renamed* results_in) {
  const Inst& inst = body_.insts[id];
  const ptx::Range range = body_.module->statements[inst.statement].range;
  Renamed results;
  analysis::for_each_definition(body_, inst, [&](RegId reg) {
    if (results_in != nullptr) {
      const auto given = results_in->find(reg);
      results[reg] = given != results_in->end() ? given->second : reused(reg);
      return;
    }
    const auto known = renamed.find(reg);
    results[reg] = several_.contains(reg) && known != renamed.end() ? known->second : fresh(reg);
  });
  if (const auto value = value_of(inst)) {
    code_.into(results.begin()->second)
        .ld(ptx::Space::param, inst.mods.type, {values_of_pass_, *value});
    renamed.merge(results);
    return;
  }
  const std::string copied = names_.spliced(range, [&](const ptx::Mention& mention) {
    const std::string_view written = body_.module->slice(mention.where);
    if (mention.arg.kind != Arg::Kind::reg) return std::string(written);
    if (const auto result = results.find(mention.arg.id); result != results.end())
      return result->second.name;
    return reg_of(mention.arg, place, renamed).name;
  });
  const bool is_asked = loads_memory(body_, inst) && !guard.empty();
  // Where the guard does not hold any value will do: a mask's is looked at, and copies for planes
  // do not wait for what was there before. (Of other regions that costs as much as it gains.)
  const bool is_mask = results_in == nullptr && place != nullptr;
  if (is_asked && (is_mask || is_in_space(plan_)))
    for (const auto& [reg, made] : results)
      code_.into(made).mov(ptx::bits(ptx::bit_width(made.type)), 0);
  code_.when(is_asked ? guard : Reg{}).statement(as_rounded(inst, parameter_names_.in(copied)));
  renamed.merge(results);
}

// Registers of bits fit every type of their size (PTX ISA, operand types).
Reg StepBody::as_loaded(const Inst& load, RegId reg, const StepArray& array, const Reg& held) {
  const unsigned width = ptx::bit_width(body_.registers[reg].type), bits = array.bytes * 8;
  if (width == bits) return held;
  const auto into = code_.into(reused(reg));
  const auto integer = ptx::is_signed(load.mods.type) ? ptx::signed_integer : ptx::unsigned_integer;
  return into.cvt(integer(width), integer(bits), held);
}

Reg StepBody::as_held(const StepArray& array, const Reg& value) {
  const unsigned width = ptx::bit_width(value.type), bits = held_bits(array);
  if (width == bits) return value;
  return code_.cvt(ptx::unsigned_integer(bits), ptx::unsigned_integer(width), value);
}

void StepBody::parameters(PolynomialCode& numbers) {
  for (auto& [reg, sized] : sized_) {
    const IntegerPolynomial& whole = plan_.sized.at(reg);
    sized.elsewhere = numbers.number(whole.elsewhere());
    for (unsigned axis = 0; axis < 3; ++axis)
      if (const IntegerPolynomial along = whole.along(axis); !along.is_zero())
        sized.along.at(axis) = numbers.number(along);
    if (axes_of(reg) == 0) uniform_[reg] = narrowed(reg, sized.elsewhere);
  }
  for (const auto& [id, of] : classes_)
    if (of == Class::parameter) copy(id, nullptr, {}, uniform_);
}

void StepBody::uniform_loads(const Reg& guard) {
  for (const auto& [id, of] : classes_)
    if (of == Class::loaded) {
      analysis::for_each_definition(body_, body_.insts[id],
                                    [&](RegId reg) { uniform_.erase(reg); });
      copy(id, nullptr, guard, uniform_);
    }
}

void StepBody::begin_pass(const Reg& values, const Reg& guard) {
  values_of_pass_ = values;
  for (const auto& [id, of] : classes_) {
    if (of != Class::pass) continue;
    analysis::for_each_definition(body_, body_.insts[id], [&](RegId reg) { uniform_.erase(reg); });
    copy(id, nullptr, guard, uniform_);
  }
}

// What memory decides is loaded where all guards in front of it hold.
Reg StepBody::guards(const Place& place, const Reg& in_grid) {
  Renamed renamed;
  widen(place, renamed);
  Reg all = in_grid;
  auto guard = plan_.guards.begin();
  for (const BlockId block : plan_.blocks) {
    for (const InstId id : plan_.guard_slice)
      if (kernel_.cfg.block_of[id] == block && classes_.at(id) == Class::place)
        copy(id, &place, all, renamed);
    if (guard == plan_.guards.end() || guard->block != block) continue;
    all = all_of({{.predicate = guard->predicate, .negated = guard->negated}}, place, renamed, all);
    ++guard;
  }
  return all;
}

Reg StepBody::guards(const Place& place, unsigned axis, bool along) {
  const unsigned bit = 1U << axis;
  const auto wanted = [&](unsigned axes) { return along ? axes == bit : (axes & bit) == 0; };
  Renamed renamed;
  widen(place, renamed);
  for (const InstId id : plan_.guard_slice)
    if (classes_.at(id) == Class::place && wanted(axes_.at(id))) copy(id, &place, {}, renamed);
  std::vector<Conjunct> some;
  std::ranges::copy_if(conjuncts_, std::back_inserter(some),
                       [&](const Conjunct& conjunct) { return wanted(conjunct.axes); });
  return all_of(some, place, renamed);
}

Reg StepBody::guards_of(const Place& place, unsigned axes) {
  Renamed renamed;
  widen(place, renamed);
  for (const InstId id : plan_.guard_slice)
    if (classes_.at(id) == Class::place && (axes_.at(id) & ~axes) == 0)
      copy(id, &place, {}, renamed);
  std::vector<Conjunct> some;
  std::ranges::copy_if(conjuncts_, std::back_inserter(some),
                       [&](const Conjunct& conjunct) { return conjunct.axes == axes; });
  return all_of(some, place, renamed);
}

Reg StepBody::all_of(const std::vector<Conjunct>& conjuncts, const Place& place,
                     const Renamed& renamed, Reg all) {
  for (const Conjunct& guard : conjuncts) {
    Reg one = reg_of({.kind = Arg::Kind::reg, .id = guard.predicate}, &place, renamed);
    if (guard.negated) one = code_.not_(pred, one);
    all = all.empty() ? one : code_.and_(pred, all, one);
  }
  return all;
}

} // namespace ptxasw::passes
