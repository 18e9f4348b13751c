// Within a region a lane that was active stays so, and every lane of a mask read there reaches the
// shuffles of the region.
#include "passes/shuffle/conditions.hpp"

#include "passes/shared/converged.hpp"
#include "ptx/written.hpp"

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Code;
using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

namespace {

const Reg& read_once(Reg& place, Special special, Code& code) {
  return place.empty() ? place = code.special(special) : place;
}

} // namespace

Condition Conditions::require(const ReuseSource& cover, ptx::InstId inst, Code& code) {
  Setup& setup = setups_[region_of(k_, inst)];
  Condition condition;
  if (cover.delta != 0) {
    if (setup.warp.mask.empty()) setup.warp = warp_at(inst, code);
    condition.mask = setup.warp.mask;
    condition.ok = in_range(setup, cover, code);
  }
  condition.ok = checks_.all_of(cover.checks, inst, code, std::move(condition.ok));
  if (cover.space_check) condition.ok = in_global(inst, condition.ok, code);
  return condition;
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

// `base` (or nothing) and: the load's generic address is one of global memory.
Reg Conditions::in_global(ptx::InstId inst, const Reg& base, Code& code) {
  const ptx::Address& from = k_.body.addr(k_.body.insts[inst])[0];
  Reg address = names_.reg(from.base.id);
  if (from.offset != 0) address = code.add(s64, address, from.offset);
  const Reg is_global = code.isspacep(ptx::Space::global, address);
  return base.empty() ? is_global : code.and_(pred, is_global, base);
}

} // namespace ptxasw::passes
