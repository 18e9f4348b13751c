// Emits what a step stores: copies of its instructions, block by block, with what is on chip in the
// place of loads.
#include "passes/time_tile/emit/body.hpp"

#include "passes/time_tile/step/step_reads.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using namespace ptx::words;

bool StepBody::leads(BlockId from, BlockId to) const {
  return std::ranges::find(plan_.blocks, to) != plan_.blocks.end() &&
         is_forward(kernel_.cfg, from, to);
}

std::vector<BlockId> StepBody::behind(BlockId block, bool inner) const {
  std::vector<BlockId> next = kernel_.cfg.blocks[block].succs;
  const auto fork = plan_.forks.find(block);
  if (fork != plan_.forks.end() && inner && fork->second < next.size()) next = {next[fork->second]};
  std::erase_if(next, [&](BlockId one) { return !leads(block, one); });
  next.erase(std::unique(next.begin(), next.end()), next.end());
  return next;
}

// Some places are done there, others are not.
bool StepBody::may_end(BlockId block, bool inner) const {
  const auto fork = plan_.forks.find(block);
  return fork != plan_.forks.end() && behind(block, inner).size() == 1 &&
         (!inner || fork->second >= 2);
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
ptx::Source StepBody::stored(const StepArray& array, const StepArray::Store& from,
                             const Place& place, const Renamed& renamed) {
  const Inst& store = body_.insts[from.inst];
  const Arg& value = body_.src(store)[from.at];
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
    const StepArray& array = plan_.arrays[n];
    const auto found = std::ranges::find(array.stores, id, &StepArray::Store::inst);
    if (found == array.stores.end()) continue;
    ptx::Source value = stored(array, *found, to.place, to.renamed);
    const Inst& store = body_.insts[id];
    const Arg& from = body_.src(store)[found->at];
    // What has another value behind the store is stored as it is now.
    const bool may_change = from.kind == Arg::Kind::reg && several_.contains(from.id);
    if (!to.branches && !may_change) {
      to.values[n] = std::move(value);
      continue;
    }
    if (!to.branches) to.values[n] = to.results[n] = code_.make(ptx::bits(held_bits(array)));
    const bool literal = from.kind == Arg::Kind::imm && array.bytes > 1;
    code_.into(to.results[n]).mov(literal ? store.mods.type : ptx::bits(held_bits(array)), value);
  }
}

void StepBody::copy_load(const StepPlan::Loaded& loaded, Copy& to) {
  const auto [array, load] = loaded;
  const Inst& inst = body_.insts[load->inst];
  const auto known = to.neighbours.find(load);
  Reg held = known != to.neighbours.end() ? known->second : to.on_chip(*array, load);
  if (load->late && to.late.load) held = to.late.load(*array, *load, held);
  if (array->parts == 2) return split_load(inst, load->part, held, to);
  const RegId reg = body_.dst(inst)[load->at].id;
  const Reg value = as_loaded(inst, reg, *array, held);
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
    const auto loads = plan_.loads_of(id);
    for (const StepPlan::Loaded& load : loads)
      copy_load(load, to);
    if (loads.empty())
      copy(id, &to.place, plan_.late.contains(id) ? to.late.guard : to.guard, to.renamed,
           &to.results_in);
  }
}

bool StepBody::same_everywhere() const {
  return plan_.forks.empty() && !reads_others();
}

bool StepBody::reads_others() const {
  const bool other_loads = std::ranges::any_of(values_, [&](InstId id) {
    return loads_memory(body_, body_.insts[id]) && !plan_.is_load(id);
  });
  return other_loads || has_uniform_loads_;
}

// A register that is stored, as wide as the image's, and written once.
void StepBody::name_results(const std::vector<Reg>& into, Copy& to) {
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n) {
    const StepArray& array = plan_.arrays[n];
    if (array.carried || array.stores.size() != 1 || array.parts != 1) continue;
    const Arg& value = body_.src(body_.insts[array.stores[0].inst])[array.stores[0].at];
    if (value.kind == Arg::Kind::reg && !several_.contains(value.id) &&
        ptx::bit_width(body_.registers[value.id].type) == held_bits(array))
      to.results_in.emplace(value.id, into[n]);
  }
}

std::vector<ptx::Source> StepBody::values(const Place& place, const OnChip& on_chip,
                                          const std::vector<Reg>& into, const Reg& guard,
                                          bool inner, const std::string& labels, const Late& late) {
  const std::vector<BlockId> blocks = copied(inner);
  const bool branches = std::ranges::any_of(blocks, [&](BlockId block) {
    return behind(block, inner).size() > 1 || may_end(block, inner);
  });
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
      branch(blocks[n], n + 1 < blocks.size() ? blocks[n + 1] : analysis::no_block, inner, labels,
             to);
  }
  if (branches) code_.label(labels + "_end");
  return to.values;
}

// In front of all branches: what lanes pass on, all of them do.
void StepBody::fetch_neighbours(std::span<const BlockId> blocks, Copy& to) {
  for (const BlockId block : blocks)
    for (InstId id = kernel_.cfg.blocks[block].first; id < kernel_.cfg.blocks[block].end; ++id)
      if (std::ranges::binary_search(values_, id))
        for (const auto& [array, load] : plan_.loads_of(id))
          to.neighbours.emplace(load, to.on_chip(*array, load));
}

// From the end of a block to those behind it.
void StepBody::branch(BlockId from, BlockId below, bool inner, const std::string& labels,
                      const Copy& to) {
  const std::vector<BlockId> next = behind(from, inner);
  const std::string end = labels + "_end";
  const bool ends = may_end(from, inner);
  if (next.size() > 1 || ends) {
    const analysis::Block& code = kernel_.cfg.blocks[from];
    const Inst& inst = body_.insts[code.end - 1];
    const Arg predicate{.kind = Arg::Kind::reg, .id = inst.guard};
    const bool goes_on = code.succs[0] == next[0];
    code_.when({reg_of(predicate, &to.place, to.renamed), inst.guard_negated})
        .bra(goes_on ? fmt::format("{}_{}", labels, next[0]) : end);
    if (ends && goes_on) return code_.bra(end);
  }
  if (next.empty()) {
    if (below != analysis::no_block) code_.bra(end);
  } else if (next.back() != below) {
    code_.bra(fmt::format("{}_{}", labels, next.back()));
  }
}

} // namespace ptxasw::passes
