// A stretch is a run of straight-line code without calls: within it a lane that was active stays
// so, and every lane of a mask read there reaches the shuffles of the stretch.
#include "passes/shuffle/conditions.hpp"

#include "passes/shared/converged.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Code;
using ptx::Reg;
using ptx::Source;
using ptx::Special;
using namespace ptx::words;

namespace {

const Reg& read_once(Reg& place, Special special, Code& code) {
  return place.empty() ? place = code.special(special) : place;
}

} // namespace

Condition Conditions::require(const ReuseSource& cover, ptx::InstId inst, Code& code) {
  Setup& setup = setups_[region_of(inst)];
  Condition condition;
  if (cover.delta != 0) {
    if (setup.warp.mask.empty()) setup.warp = warp_at(inst, code);
    condition.mask = setup.warp.mask;
    condition.ok = in_range(setup, cover, code);
  }
  condition.ok = all_of(cover.checks, inst, code, std::move(condition.ok));
  if (cover.space_check) condition.ok = in_global(inst, condition.ok, code);
  return condition;
}

Reg Conditions::all_of(std::span<const NoWrap> checks, ptx::InstId inst, Code& code, Reg base) {
  Setup& setup = setups_[region_of(inst)];
  for (const NoWrap& check : checks)
    base = checked(setup, check, base, code);
  return base;
}

ptx::InstId Conditions::region_of(ptx::InstId inst) const {
  const ptx::InstId first = k_.cfg.blocks[k_.cfg.block_of[inst]].first;
  for (ptx::InstId i = inst; i > first; --i) {
    if (ptx::effects(k_.body, k_.body.insts[i - 1]).calls) return i;
  }
  return first;
}

// The mask for a shuffle at `inst`, read there or ahead of its loops.
Conditions::Warp Conditions::warp_at(ptx::InstId inst, Code& code) {
  const BlockId here = k_.cfg.block_of[inst], ahead = ahead_of_loops(k_, here);
  if (ahead == here) return read_warp(code);
  const auto [place, missing] = ahead_.try_emplace(ahead);
  if (!missing) return place->second;
  Code earlier(registers_);
  place->second = read_warp(earlier);
  const ptx::Inst& last = k_.body.insts[k_.cfg.blocks[ahead].end - 1];
  const ptx::Range range = ptx::range_of(k_.body, last);
  const ptx::Group group = ptx::group(last.op);
  if (group == ptx::Group::branch || group == ptx::Group::exit)
    edits_.push_back({{range.begin, range.begin}, earlier.in_place() + "\n\t"});
  else
    edits_.push_back({{range.end, range.end}, earlier.behind()});
  return place->second;
}

Conditions::Warp Conditions::read_warp(Code& code) {
  const Reg mask = code.activemask();
  return {mask, code.setp(eq, s32, mask, -1)};
}

// lane + delta is in the complete warp and, if it may not be, %tid.x + delta in the row.
Reg Conditions::in_range(Setup& s, const ReuseSource& cover, Code& code) {
  const auto [place, missing] = s.in_range.try_emplace({cover.delta, cover.row_check});
  if (!missing) return place->second;
  const Reg& lane = read_once(s.lane, Special::laneid, code);
  const Reg ok = cover.delta > 0 ? code.setp(lt, u32, lane, 32 - cover.delta, and_, s.warp.full)
                                 : code.setp(ge, u32, lane, -cover.delta, and_, s.warp.full);
  return place->second = cover.row_check ? in_row(s, cover.delta, ok, code) : ok;
}

Reg Conditions::in_row(Setup& s, int delta, const Reg& base, Code& code) {
  const Reg& tid = read_once(s.tid, Special::tid_x, code);
  if (delta < 0) return code.setp(ge, u32, tid, -delta, and_, base);
  const Reg& ntid = read_once(s.ntid, Special::ntid_x, code);
  const Reg neighbour = code.add(s32, tid, delta);
  return code.setp(lt, u32, neighbour, ntid, and_, base);
}

// `base` (or nothing) and one index check. What does not depend on the base is computed once.
Reg Conditions::checked(Setup& s, const NoWrap& check, const Reg& base, Code& code) {
  const CheckKey key{check.index,         check.defined,        check.unit,
                     check.unit_defined,  check.fact.is_signed, check.fact.units,
                     check.fact.constants};
  const auto [place, missing] = s.checked.try_emplace({key, base});
  if (!missing) return place->second;
  const bool constant_unit = check.unit == ptx::none;
  Reg& prepared = s.prepared[key];
  if (prepared.empty()) prepared = constant_unit ? offset_of(check, code) : fits(check, code);
  if (constant_unit)
    return place->second = code.setp(le, u32, prepared, Source::hex(slack(check.fact)), and_, base);
  return place->second = base.empty() ? prepared : code.and_(pred, prepared, base);
}

// `base` (or nothing) and: the load's generic address is one of global memory.
Reg Conditions::in_global(ptx::InstId inst, const Reg& base, Code& code) {
  const ptx::Address& from = k_.body.addr(k_.body.insts[inst])[0];
  Reg address = names_.reg(from.base.id);
  if (from.offset != 0) address = code.add(s64, address, from.offset);
  const Reg is_global = code.isspacep(ptx::Space::global, address);
  return base.empty() ? is_global : code.and_(pred, is_global, base);
}

// index + k stays between min and max (the ends of the 32-bit numbers) for all k of the fact when
//   index - (min - lowest) <= (max - highest) - (min - lowest), unsigned.
// This is the right-hand side...
std::int64_t Conditions::slack(const IndexFact& fact) {
  return 0xffffffffLL - fact.constants.highest + fact.constants.lowest;
}

// ... and the number to add to the index for the left-hand side.
std::int64_t Conditions::bias(const IndexFact& fact) {
  return fact.constants.lowest - (fact.is_signed ? std::int64_t{INT32_MIN} : 0);
}

Reg Conditions::offset_of(const NoWrap& check, Code& code) {
  return code.add(s32, names_.reg(check.index), static_cast<std::int32_t>(bias(check.fact)));
}

// With multiples of a register: the same in 64 bits, for the fewest and for the most of them.
Reg Conditions::fits(const NoWrap& check, Code& code) {
  const ptx::Type narrow = check.fact.is_signed ? s32 : u32;
  const Reg index = code.cvt(check.fact.is_signed ? s64 : u64, narrow, names_.reg(check.index));
  code.into(index).add(s64, index, bias(check.fact));
  Reg ok;
  const auto& [lowest, highest] = check.fact.units;
  const bool itself = check.fact.constants.lowest == 0 && check.fact.constants.highest == 0;
  for (const std::int64_t count : {lowest, highest}) {
    if (count == 0 && itself && lowest != highest) continue; // the index is a 32-bit number
    Reg sum = index;
    if (count != 0) {
      const Reg product = code.mul_wide(narrow, names_.reg(check.unit), std::abs(count));
      sum = code.op(count > 0 ? ptx::Op::add : ptx::Op::sub, s64, index, product);
    }
    ok = code.setp(le, u64, sum, Source::hex(slack(check.fact)), and_, ok);
  }
  return ok;
}

} // namespace ptxasw::passes
