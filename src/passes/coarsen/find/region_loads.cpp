// Read off the text of the region and the events in it.
#include "passes/coarsen/find/region_loads.hpp"

#include "passes/shared/pair.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;

namespace {

bool is_straight(const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return group == Group::pure || group == Group::load || group == Group::store;
}

bool is_written(const ptx::Body& body, InstId first, InstId end, RegId reg,
                InstId but_by = ptx::none) {
  for (InstId i = first; i < end; ++i) {
    const auto is_reg = [&](const ptx::Arg& dst) {
      return dst.kind == ptx::Arg::Kind::reg && dst.id == reg;
    };
    if (i != but_by && std::ranges::any_of(body.dst(body.insts[i]), is_reg)) return true;
  }
  return false;
}

bool is_conditional(const ptx::Body& body, const Region& region) {
  const Inst& branch = body.insts[region.first];
  if (branch.op != ptx::Op::bra || branch.guard == ptx::none) return false;
  for (InstId i = region.first + 1; i < region.end; ++i)
    if (!is_straight(body.insts[i])) return false;
  return !is_written(body, region.first, region.end, branch.guard);
}

// An unguarded move of one register or number.
bool is_move(const ptx::Body& body, const Inst& inst) {
  const auto dst = body.dst(inst), src = body.src(inst);
  return inst.op == ptx::Op::mov && inst.guard == ptx::none && dst.size() == 1 && src.size() == 1 &&
         dst[0].kind == ptx::Arg::Kind::reg &&
         (src[0].kind == ptx::Arg::Kind::reg || src[0].kind == ptx::Arg::Kind::imm);
}

bool is_same(const ptx::Arg& one, const ptx::Arg& other) {
  if (one.kind != other.kind || one.negated != other.negated) return false;
  return one.kind == ptx::Arg::Kind::reg ? one.id == other.id : one.value == other.value;
}

bool is_same_move(const ptx::Body& body, const Inst& one, const Inst& other) {
  return is_move(body, other) && is_same(body.dst(one)[0], body.dst(other)[0]) &&
         is_same(body.src(one)[0], body.src(other)[0]);
}

bool repeats(const emulator::Kernel& kernel, const Region& region, InstId move) {
  const ptx::Body& body = kernel.body;
  const Inst& inst = body.insts[move];
  if (!is_move(body, inst)) return false;
  const ptx::Arg to = body.dst(inst)[0], from = body.src(inst)[0];
  const InstId first = kernel.cfg.blocks[kernel.cfg.block_of[region.first]].first;
  for (InstId i = move; i-- > first;) {
    if (is_same_move(body, inst, body.insts[i])) return true;
    if (is_written(body, i, i + 1, to.id)) return false;
    if (from.kind == ptx::Arg::Kind::reg && is_written(body, i, i + 1, from.id)) return false;
  }
  return false;
}

} // namespace

RegionLoads::RegionLoads(const emulator::Kernel& kernel, std::span<const Region> regions)
    : k_(kernel) {
  for (const Region& region : regions)
    if (is_conditional(k_.body, region)) conditional_.push_back(region);
}

std::vector<InstId> repeated_moves(const emulator::Kernel& kernel, const Region& region) {
  if (!is_conditional(kernel.body, region)) return {};
  std::vector<InstId> moves;
  for (InstId i = region.first + 1; i < region.end; ++i)
    if (repeats(kernel, region, i)) moves.push_back(i);
  return moves;
}

const Region* RegionLoads::around(InstId inst) const {
  const auto found = std::ranges::find_if(
      conditional_, [&](const Region& r) { return inst > r.first && inst < r.end; });
  return found == conditional_.end() ? nullptr : &*found;
}

std::vector<InstId> RegionLoads::beside(InstId load) const {
  const Region* const region = around(load);
  if (region == nullptr) return {};
  std::vector<InstId> loads{load};
  for (InstId i = region->first + 1; i < region->end; ++i)
    if (i != load && ptx::group(k_.body.insts[i].op) == Group::load) loads.push_back(i);
  return loads;
}

bool RegionLoads::may_supply(const Event& s, const Event& d) const {
  const Region* const region = around(d.inst);
  if (region == nullptr) return false;
  const Inst &source = k_.body.insts[s.inst], &load = k_.body.insts[d.inst];
  if (source.guard != ptx::none || load.guard != ptx::none) return false;
  const auto is_lost = [&](const ptx::Arg& dst) {
    return is_written(k_.body, region->first, region->end, dst.id, s.inst);
  };
  if (std::ranges::any_of(k_.body.dst(source), is_lost)) return false;
  return std::ranges::all_of(k_.trace.events, [&](const Event& e) {
    if (e.kind == EventKind::load || e.inst < region->first || e.inst >= d.inst) return true;
    if (e.kind != EventKind::store) return false;
    const auto bytes = k_.context->difference(e.address, d.address);
    return d.read_only || (bytes && (*bytes >= size_of(d) || *bytes <= -size_of(e)));
  });
}

InstId entry_of(const ptx::Body& body, std::span<const Region> regions, const Inst& inst) {
  const auto id = static_cast<InstId>(&inst - body.insts.data());
  return std::ranges::find_if(regions, [&](const Region& r) { return id >= r.first && id < r.end; })
      ->first;
}

} // namespace ptxasw::passes
