// Goes backwards from guards and stored values.
#include "passes/time_tile/step/step_slice.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;

namespace {

constexpr std::string_view written_behind = "what it reads is written behind it";

} // namespace

void StepSlice::refuse(Reason reason, std::string why) {
  if (refused_.empty()) refused_ = {reason, std::move(why)};
}

void StepSlice::refuse(Reason reason, const Inst& inst, std::string_view why) {
  refuse(reason, passes::at_line(body_, inst, why));
}

Why StepSlice::run(std::span<const StepRead* const> others) {
  on_way_ = analysis::definitions(body_);
  for (std::vector<InstId>& all : on_way_)
    std::erase_if(all, [&](InstId id) {
      return !region_.has(k_.cfg.block_of[id]) ||
             !analysis::is_read(body_, k_.cfg, *k_.liveness, id);
    });
  std::vector<Arg> guards, values;
  for (const StepGuard& guard : plan_.guards) {
    guards.push_back({.kind = Arg::Kind::reg, .id = guard.predicate});
    const InstId branch = k_.cfg.blocks[guard.block].end - 1;
    const auto is_ahead = [&](InstId id) { return id < branch; };
    if (!plan_.is_told(guard.predicate) && std::ranges::none_of(on_way_[guard.predicate], is_ahead))
      refuse(Reason::step_form, body_.insts[branch], written_behind);
  }
  for (const StepArray& array : plan_.arrays)
    for (const StepArray::Store& store : array.stores)
      for (const Arg& part : body_.src(body_.insts[store.inst]))
        values.push_back(part);
  for (const auto& [fork, side] : plan_.forks)
    values.push_back(
        {.kind = Arg::Kind::reg, .id = body_.insts[k_.cfg.blocks[fork].end - 1].guard});
  plan_.guard_slice = slice_of(guards);
  plan_.value_slice = slice_of(values);
  check_order(plan_.guard_slice);
  check_order(plan_.value_slice);
  for (const InstId id : plan_.guard_slice)
    check_guard(id, others);
  find_late(others);
  return refused_;
}

// Loads that a place does only if data say so; or from a table, at an index that data are: of a
// place of which these are not right that may lie anywhere.
void StepSlice::find_late(std::span<const StepRead* const> others) {
  for (const StepRead* read : others)
    if (!read->is_all) plan_.late.insert(read->event->inst);
  for (const InstId id : plan_.value_slice) // what a load's address hangs on comes in front of it
    if (reads_table(body_, body_.insts[id]) && is_chosen_by_data(id)) plan_.late.insert(id);
}

bool StepSlice::is_chosen_by_data(InstId table) const {
  if (!has_all_(k_.cfg.block_of[table])) return true;
  analysis::Worklist work(body_.registers.size());
  const auto need = [&](ptx::RegId reg) {
    if (!plan_.is_told(reg)) work.add(reg);
  };
  analysis::for_each_use(body_, body_.insts[table], need);
  while (const auto reg = work.next())
    for (const InstId id : on_way_[*reg]) {
      if (plan_.is_load(id) || plan_.late.contains(id) || !has_all_(k_.cfg.block_of[id]))
        return true;
      analysis::for_each_use(body_, body_.insts[id], need);
    }
  return false;
}

void StepSlice::check_guard(InstId id, std::span<const StepRead* const> others) {
  const Inst& inst = body_.insts[id];
  if (loads_memory(body_, inst)) add_mask(id, others);
  if (definitions_of(id) != 1) refuse(Reason::step_guard, inst, "a guard of several paths");
}

// A load that the last guard hangs on: of an array that no step writes, by place.
void StepSlice::add_mask(InstId id, std::span<const StepRead* const> others) {
  const Inst& inst = body_.insts[id];
  const auto other = std::ranges::find(
      others, id, [](const StepRead* read) -> InstId { return read->event->inst; });
  if (other == others.end())
    return refuse(Reason::step_mask, inst, "a guard depends on what the step computes");
  const IntegerPolynomial& offset = (*other)->cases[0].place.offset;
  if (offset == offset.elsewhere())
    return refuse(Reason::step_mask, inst, "a guard depends on what is the same for all");
  const StepRegion::Guard& last = region_.guards.back();
  if (!k_.cfg.dominates(last.to, region_.head) ||
      (region_.guards.size() > 1 &&
       !k_.cfg.dominates(region_.guards[region_.guards.size() - 2].to, k_.cfg.block_of[id])))
    return refuse(Reason::step_mask, inst, "a guard in front of others depends on memory");
  plan_.masked = true;
  plan_.convex = false;
}

// Of the register that is written by so many instructions on the way.
std::size_t StepSlice::definitions_of(InstId id) const {
  std::size_t most = 0;
  for (const Arg& dst : body_.dst(body_.insts[id]))
    if (dst.kind == Arg::Kind::reg) most = std::max(most, on_way_[dst.id].size());
  return most;
}

std::vector<InstId> StepSlice::slice_of(std::span<const Arg> roots) {
  std::set<InstId> needed;
  analysis::Worklist work(body_.registers.size());
  const auto need = [&](const Arg& arg) {
    if (arg.kind == Arg::Kind::reg && !plan_.is_told(arg.id)) work.add(arg.id);
  };
  std::ranges::for_each(roots, need);
  for (auto reg = work.next(); reg && refused_.empty(); reg = work.next()) {
    if (on_way_[*reg].empty())
      refuse(Reason::step_form, fmt::format("{} is not written", body_.registers[*reg].name));
    for (const InstId id : on_way_[*reg]) {
      if (!needed.insert(id).second) continue;
      if (!may_be_copied(id)) break;
      if (plan_.is_load(id)) continue;
      for (const Arg& src : body_.src(body_.insts[id]))
        need(src);
      for (const ptx::Address& address : body_.addr(body_.insts[id]))
        need(address.base);
    }
  }
  std::vector<InstId> slice;
  for (const analysis::BlockId block : plan_.blocks)
    for (InstId id = k_.cfg.blocks[block].first; id < k_.cfg.blocks[block].end; ++id)
      if (needed.contains(id)) slice.push_back(id);
  return slice;
}

// A register that is written behind its reader alone has no name in a copy.
void StepSlice::check_order(std::span<const InstId> slice) {
  std::set<ptx::RegId> written;
  const auto is_missing = [&](ptx::RegId reg) {
    return !plan_.is_told(reg) && !written.contains(reg);
  };
  for (const InstId id : slice) {
    const Inst& inst = body_.insts[id];
    if (!plan_.is_load(id))
      analysis::for_each_use(body_, inst, [&](ptx::RegId reg) {
        if (is_missing(reg)) refuse(Reason::step_form, inst, written_behind);
      });
    analysis::for_each_definition(body_, inst, [&](ptx::RegId reg) { written.insert(reg); });
  }
}

bool StepSlice::may_be_copied(InstId id) {
  const Inst& inst = body_.insts[id];
  const Group group = ptx::group(inst.op);
  if (inst.guard != ptx::none) refuse(Reason::step_form, inst, "it is guarded by itself");
  if (group != Group::pure && group != Group::load)
    refuse(Reason::step_form, inst, "not a computation");
  if (inst.mods.cc || body_.carry != ptx::none) refuse(Reason::carry_flag, inst, "the carry flag");
  for (const Arg& src : body_.src(inst)) {
    if (src.kind != Arg::Kind::special) continue;
    refuse(
        Reason::step_thread, inst,
        fmt::format("uses {} for more than the place of the thread", ptx::info(src.special).name));
  }
  return refused_.empty();
}

} // namespace ptxasw::passes
