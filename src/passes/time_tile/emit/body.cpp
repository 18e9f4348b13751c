// Emits copies of a step's instructions.
#include "passes/time_tile/emit/body.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "passes/time_tile/step/step_region.hpp"

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
  const ptx::Inst& store = body.insts[array.stores[0]];
  const bool literal = body.src(store)[0].kind == ptx::Arg::Kind::imm;
  return literal && array.bytes > 1 ? store.mods.type : ptx::bits(held_bits(array));
}

StepBody::StepBody(const emulator::Kernel& kernel, const passes::StepPlan& plan, ptx::Code& code,
                   ParameterNames parameter_names, Varying varying)
    : kernel_(kernel), body_(kernel.body), plan_(plan), code_(code),
      parameter_names_(std::move(parameter_names)), varying_(std::move(varying)),
      names_(kernel.body) {
  find_wide(plan.guard_slice);
  find_wide(plan.value_slice);
  classify(plan.guard_slice);
  classify(plan.value_slice);
  split_guards();
  const auto look_at = [&](RegId reg) {
    values_use_place_ |= plan.coordinates.contains(reg) || std::ranges::count(numbers_, reg) != 0;
  };
  for (const InstId id : plan.value_slice)
    analysis::for_each_use(body_, body_.insts[id], look_at);
  for (const passes::StepArray& array : plan.arrays)
    for (const InstId store : array.stores)
      for (const Arg& value : body_.src(body_.insts[store]))
        if (value.kind == Arg::Kind::reg) look_at(value.id);
  values_ = plan.value_slice;
  std::ranges::sort(values_);
}

bool StepBody::is_other_load(const Inst& inst) const {
  return ptx::group(inst.op) == ptx::Group::load && inst.mods.space != ptx::Space::param;
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
    analysis::for_each_use(body_, body_.insts[id], [&](RegId reg) {
      if (plan_.coordinates.contains(reg) && ptx::bit_width(body_.registers[reg].type) == 64 &&
          std::ranges::find(wide_, reg) == wide_.end())
        wide_.push_back(reg);
      if (plan_.rows && plan_.rows->numbers.contains(reg) &&
          std::ranges::find(numbers_, reg) == numbers_.end())
        numbers_.push_back(reg);
    });
  }
}

// A place that stores is not negative.
void StepBody::widen(const Place& place, Renamed& renamed) {
  for (const RegId reg : wide_) {
    renamed[reg] = code_.into(fresh(reg)).cvt(u64, u32, place[plan_.coordinates.at(reg)]);
  }
  for (const RegId reg : numbers_) {
    const Reg number = code_.mad(u32, place[1], row_, place[0]);
    const bool is_wide = ptx::bit_width(body_.registers[reg].type) == 64;
    renamed[reg] = is_wide ? code_.into(fresh(reg)).cvt(u64, u32, number) : number;
  }
}

// Over what a result differs: the largest class of the sources. What is not the same on all ways
// differs from place to place.
void StepBody::classify(std::span<const InstId> slice) {
  std::map<RegId, Class> of;
  for (const auto& [reg, axis] : plan_.coordinates)
    of[reg] = Class::place;
  for (const RegId reg : numbers_)
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
      if (value_of(inst)) result = std::max(result, Class::pass);
      analysis::for_each_definition(body_, inst, [&](RegId reg) {
        if (several_.contains(reg)) result = std::max(result, Class::place);
      });
      const bool loads = result == Class::loaded || is_other_load(inst);
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
  const bool is_mask = results_in == nullptr && place != nullptr && is_other_load(inst);
  if (is_mask && !guard.empty()) // where a guard in front of it does not hold, any value will do
    for (const auto& [reg, made] : results)
      code_.into(made).mov(ptx::bits(ptx::bit_width(made.type)), 0);
  code_.when(is_other_load(inst) ? guard : Reg{})
      .statement(as_rounded(inst, parameter_names_.in(copied)));
  renamed.merge(results);
}

// Registers of bits fit every type of their size (PTX ISA, operand types).
Reg StepBody::as_loaded(const Inst& load, const passes::StepArray& array, const Reg& held) {
  const RegId reg = body_.dst(load)[0].id;
  const unsigned width = ptx::bit_width(body_.registers[reg].type), bits = array.bytes * 8;
  if (width == bits) return held;
  const auto into = code_.into(reused(reg));
  const auto integer = ptx::is_signed(load.mods.type) ? ptx::signed_integer : ptx::unsigned_integer;
  return into.cvt(integer(width), integer(bits), held);
}

Reg StepBody::as_held(const passes::StepArray& array, const Reg& value) {
  const unsigned width = ptx::bit_width(value.type), bits = held_bits(array);
  if (width == bits) return value;
  return code_.cvt(ptx::unsigned_integer(bits), ptx::unsigned_integer(width), value);
}

void StepBody::parameters() {
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

// --- What is stored -----------------------------------------------------------------------------

std::vector<BlockId> StepBody::behind(BlockId block, bool inner) const {
  const auto& succs = kernel_.cfg.blocks[block].succs;
  const auto fork = plan_.forks.find(block);
  if (fork != plan_.forks.end() && inner && fork->second < succs.size())
    return {succs[fork->second]};
  std::vector<BlockId> next;
  for (const BlockId one : succs)
    if (std::ranges::find(plan_.blocks, one) != plan_.blocks.end() &&
        is_forward(kernel_.cfg, block, one) && std::ranges::find(next, one) == next.end())
      next.push_back(one);
  return next;
}

std::vector<BlockId> StepBody::copied(bool inner) const {
  std::set<BlockId> reached{plan_.blocks.front()};
  std::vector<BlockId> blocks;
  for (const BlockId block : plan_.blocks) { // predecessors first
    if (!reached.contains(block)) continue;
    blocks.push_back(block);
    const auto next = behind(block, inner);
    reached.insert(next.begin(), next.end());
  }
  return blocks;
}

// A register as wide as the image's, or a literal.
ptx::Source StepBody::stored(const passes::StepArray& array, InstId id, const Place& place,
                             const Renamed& renamed) {
  const Inst& store = body_.insts[id];
  const Arg& value = body_.src(store)[0];
  if (array.parts == 2) return joined(body_.src(store), place, renamed);
  if (value.kind == Arg::Kind::reg) return as_held(array, reg_of(value, &place, renamed));
  const auto& written = body_.module->instructions[body_.module->statements[store.statement].index];
  const auto& operand = body_.module->operands_of(written)[1];
  if (operand.kind == ptx::OperandKind::name) return {};
  return ptx::Source::literal(array.bytes > 1 ? store.mods.type : ptx::Type::none,
                              body_.module->slice(operand.range));
}

Reg StepBody::joined(std::span<const Arg> parts, const Place& place, const Renamed& renamed) {
  return code_.pack(b64, reg_of(parts[0], &place, renamed), reg_of(parts[1], &place, renamed));
}

void StepBody::copy_store(InstId id, Copy& to) {
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n) {
    const passes::StepArray& array = plan_.arrays[n];
    if (std::ranges::find(array.stores, id) == array.stores.end()) continue;
    ptx::Source value = stored(array, id, to.place, to.renamed);
    if (!to.branches) {
      to.values[n] = std::move(value);
      continue;
    }
    const Inst& store = body_.insts[id];
    const bool literal = body_.src(store)[0].kind == Arg::Kind::imm && array.bytes > 1;
    code_.into(to.results[n]).mov(literal ? store.mods.type : ptx::bits(held_bits(array)), value);
  }
}

void StepBody::copy_load(InstId id, Copy& to) {
  const Inst& inst = body_.insts[id];
  const passes::StepArray* array = nullptr;
  const passes::StepArray::Load* load = plan_.load_of(id, array);
  const auto known = to.neighbours.find(id);
  Reg held = known != to.neighbours.end() ? known->second : to.on_chip(*array, load);
  if (load->late && to.late.load) held = to.late.load(*array, *load, held);
  if (array->parts == 2) return split_load(inst, load->part, held, to);
  const RegId reg = body_.dst(inst)[0].id;
  const Reg value = as_loaded(inst, *array, held);
  if (!several_.contains(reg)) {
    to.renamed[reg] = value;
    return;
  }
  const auto [name, missing] = to.renamed.try_emplace(reg);
  if (missing) name->second = reused(reg);
  code_.move(name->second, value);
}

// Both parts of an element, or one of them.
void StepBody::split_load(const Inst& load, std::optional<unsigned> part, const Reg& held,
                          Copy& to) {
  std::array<Reg, 2> parts;
  const auto dst = body_.dst(load);
  for (std::size_t n = 0; n < dst.size(); ++n) {
    if (dst[n].kind != Arg::Kind::reg) continue;
    const auto [known, missing] = to.renamed.try_emplace(dst[n].id);
    if (missing || !several_.contains(dst[n].id)) known->second = reused(dst[n].id);
    parts.at(part.value_or(n)) = known->second;
  }
  for (Reg& other : parts)
    if (other.empty()) other = code_.make(b32);
  code_.unpack(b64, parts[0], parts[1], held);
}

void StepBody::copy_block(BlockId block, Copy& to) {
  const analysis::Block& code = kernel_.cfg.blocks[block];
  for (InstId id = code.first; id < code.end; ++id) {
    copy_store(id, to);
    const auto known = classes_.find(id);
    if (known == classes_.end() || known->second < Class::place ||
        !std::ranges::binary_search(values_, id))
      continue;
    const passes::StepArray* array = nullptr;
    if (plan_.load_of(id, array) != nullptr)
      copy_load(id, to);
    else
      copy(id, &to.place, plan_.late.contains(id) ? to.late.guard : to.guard, to.renamed,
           &to.results_in);
  }
}

bool StepBody::same_everywhere() const {
  const bool other_loads = std::ranges::any_of(values_, [&](InstId id) {
    const passes::StepArray* array = nullptr;
    return is_other_load(body_.insts[id]) && plan_.load_of(id, array) == nullptr;
  });
  return plan_.forks.empty() && !other_loads && !has_uniform_loads_;
}

// A register that is stored, as wide as the image's, and written once.
void StepBody::name_results(const std::vector<Reg>& into, Copy& to) {
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n) {
    const passes::StepArray& array = plan_.arrays[n];
    if (array.carried || array.stores.size() != 1 || array.parts != 1) continue;
    const Arg& value = body_.src(body_.insts[array.stores[0]])[0];
    if (value.kind == Arg::Kind::reg && !several_.contains(value.id) &&
        ptx::bit_width(body_.registers[value.id].type) == held_bits(array))
      to.results_in.emplace(value.id, into[n]);
  }
}

std::vector<ptx::Source> StepBody::values(const Place& place, const OnChip& on_chip,
                                          const std::vector<Reg>& into, const Reg& guard,
                                          bool inner, const std::string& labels, const Late& late) {
  const std::vector<BlockId> blocks = copied(inner);
  const bool branches =
      std::ranges::any_of(blocks, [&](BlockId block) { return behind(block, inner).size() > 1; });
  Copy to{.place = place,
          .on_chip = on_chip,
          .guard = guard,
          .late = late,
          .branches = branches,
          .renamed = {},
          .neighbours = {},
          .results_in = {},
          .values = std::vector<ptx::Source>(plan_.arrays.size()),
          .results = std::vector<Reg>(plan_.arrays.size())};
  if (values_use_place_) widen(place, to.renamed);
  if (branches)
    fetch_neighbours(blocks, to);
  else
    name_results(into, to);
  for (std::size_t n = 0; n < to.results.size(); ++n) {
    if (plan_.arrays[n].foreign) continue; // nothing is stored
    if (plan_.arrays[n].carried)
      to.values[n] = on_chip(plan_.arrays[0], nullptr);
    else if (branches)
      to.values[n] = to.results[n] = code_.make(ptx::bits(held_bits(plan_.arrays[n])));
  }
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    if (branches) code_.label(fmt::format("{}_{}", labels, blocks[n]));
    copy_block(blocks[n], to);
    if (branches)
      branch(blocks[n], n + 1 < blocks.size() ? blocks[n + 1] : analysis::no_block,
             behind(blocks[n], inner), labels, to);
  }
  if (branches) code_.label(labels + "_end");
  return to.values;
}

// In front of all branches: what lanes pass on, all of them do.
void StepBody::fetch_neighbours(std::span<const BlockId> blocks, Copy& to) {
  for (const BlockId block : blocks)
    for (InstId id = kernel_.cfg.blocks[block].first; id < kernel_.cfg.blocks[block].end; ++id) {
      const passes::StepArray* array = nullptr;
      const passes::StepArray::Load* load = plan_.load_of(id, array);
      if (load != nullptr && std::ranges::binary_search(values_, id))
        to.neighbours.emplace(id, to.on_chip(*array, load));
    }
}

// From the end of a block to those behind it.
void StepBody::branch(BlockId from, BlockId below, std::span<const BlockId> next,
                      const std::string& labels, const Copy& to) {
  if (next.size() > 1) {
    const Inst& inst = body_.insts[kernel_.cfg.blocks[from].end - 1];
    const Arg predicate{.kind = Arg::Kind::reg, .id = inst.guard};
    code_.when({reg_of(predicate, &to.place, to.renamed), inst.guard_negated})
        .bra(fmt::format("{}_{}", labels, next[0]));
  }
  if (next.empty()) {
    if (below != analysis::no_block) code_.bra(labels + "_end");
  } else if (next.back() != below) {
    code_.bra(fmt::format("{}_{}", labels, next.back()));
  }
}

} // namespace ptxasw::passes
