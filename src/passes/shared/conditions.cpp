// A stretch is a run of straight-line code without calls: within it a lane that was active stays
// so, and every lane of a mask read there reaches the shuffles of the stretch.
#include "passes/shared/conditions.hpp"

#include "passes/shared/in_step.hpp"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::passes {

using analysis::BlockId;
using passes::Cover;
using passes::NoWrap;

Condition Conditions::require(const Cover& cover, ptx::InstId inst, Text& code) {
  Setup& setup = setups_[stretch_of(inst)];
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

std::string Conditions::all_of(std::span<const NoWrap> checks, ptx::InstId inst, Text& code,
                               std::string base) {
  Setup& setup = setups_[stretch_of(inst)];
  for (const NoWrap& check : checks)
    base = checked(setup, check, base, code);
  return base;
}

ptx::InstId Conditions::stretch_of(ptx::InstId inst) const {
  const ptx::InstId first = k_.cfg.blocks[k_.cfg.block_of[inst]].first;
  for (ptx::InstId i = inst; i > first; --i) {
    if (ptx::effects(k_.body, k_.body.insts[i - 1]).calls) return i;
  }
  return first;
}

// The mask for a shuffle at `inst`, read there or ahead of its loops.
Conditions::Warp Conditions::warp_at(ptx::InstId inst, Text& code) {
  const BlockId here = k_.cfg.block_of[inst], ahead = ahead_of_loops(k_, here);
  if (ahead == here) return read_warp(code);
  const auto [place, missing] = ahead_.try_emplace(ahead);
  if (!missing) return place->second;
  Text earlier;
  place->second = read_warp(earlier);
  const ptx::Inst& last = k_.body.insts[k_.cfg.blocks[ahead].end - 1];
  const ptx::Range range = k_.body.module->statements[last.statement].range;
  const ptx::Group group = ptx::group(last.op);
  if (group == ptx::Group::branch || group == ptx::Group::exit)
    edits_.push_back({{range.begin, range.begin}, earlier.in_place() + "\n\t"});
  else
    edits_.push_back({{range.end, range.end}, std::move(earlier.all)});
  return place->second;
}

Conditions::Warp Conditions::read_warp(Text& code) {
  Warp warp{registers_.make("b32"), registers_.make("pred")};
  code.line("activemask.b32 \t{};", warp.mask);
  code.line("setp.eq.s32 \t{}, {}, -1;", warp.full, warp.mask);
  return warp;
}

const std::string& Conditions::read_special(std::string& place, std::string_view special,
                                            Text& code) {
  if (place.empty()) {
    place = registers_.make("b32");
    code.line("mov.u32 \t{}, {};", place, special);
  }
  return place;
}

// lane + delta is in the complete warp and, if it may not be, %tid.x + delta in the row.
std::string Conditions::in_range(Setup& s, const Cover& cover, Text& code) {
  const auto [place, missing] = s.in_range.try_emplace({cover.delta, cover.row_check});
  if (!missing) return place->second;
  const std::string& lane = read_special(s.lane, "%laneid", code);
  const std::string ok = registers_.make("pred");
  const int distance = std::abs(cover.delta);
  if (cover.delta > 0) {
    code.line("setp.lt.u32.and \t{}, {}, {}, {};", ok, lane, 32 - distance, s.warp.full);
  } else {
    code.line("setp.ge.u32.and \t{}, {}, {}, {};", ok, lane, distance, s.warp.full);
  }
  place->second = cover.row_check ? in_row(s, cover.delta, ok, code) : ok;
  return place->second;
}

std::string Conditions::in_row(Setup& s, int delta, const std::string& base, Text& code) {
  const std::string& tid = read_special(s.tid, "%tid.x", code);
  const std::string ok = registers_.make("pred");
  if (delta < 0) {
    code.line("setp.ge.u32.and \t{}, {}, {}, {};", ok, tid, -delta, base);
    return ok;
  }
  const std::string& ntid = read_special(s.ntid, "%ntid.x", code);
  const std::string neighbour = registers_.make("b32");
  code.line("add.s32 \t{}, {}, {};", neighbour, tid, delta);
  code.line("setp.lt.u32.and \t{}, {}, {}, {};", ok, neighbour, ntid, base);
  return ok;
}

// `base` (or nothing) and one index check. What does not depend on the base is computed once.
std::string Conditions::checked(Setup& s, const NoWrap& check, const std::string& base,
                                Text& code) {
  const CheckKey key{check.index,         check.defined,        check.unit,
                     check.unit_defined,  check.fact.is_signed, check.fact.units,
                     check.fact.constants};
  const auto [place, missing] = s.checked.try_emplace({key, base});
  if (!missing) return place->second;
  const bool constant_unit = check.unit == ptx::none;
  std::string& prepared = s.prepared[key];
  if (prepared.empty()) prepared = constant_unit ? offset_of(check, code) : fits(check, code);
  if (!constant_unit && base.empty()) return place->second = prepared;
  const std::string ok = registers_.make("pred");
  if (constant_unit) {
    code.line("setp.le.u32{} \t{}, {}, {:#x}{};", base.empty() ? "" : ".and", ok, prepared,
              slack(check.fact), base.empty() ? "" : ", " + base);
  } else {
    code.line("and.pred \t{}, {}, {};", ok, prepared, base);
  }
  return place->second = ok;
}

// `base` (or nothing) and: the load's generic address is one of global memory.
std::string Conditions::in_global(ptx::InstId inst, const std::string& base, Text& code) {
  const ptx::Address& from = k_.body.addr(k_.body.insts[inst])[0];
  std::string address = names_.name(from.base.id);
  if (from.offset != 0) {
    const std::string sum = registers_.make("b64");
    code.line("add.s64 \t{}, {}, {};", sum, address, from.offset);
    address = sum;
  }
  const std::string global = registers_.make("pred");
  code.line("isspacep.global \t{}, {};", global, address);
  if (base.empty()) return global;
  const std::string ok = registers_.make("pred");
  code.line("and.pred \t{}, {}, {};", ok, global, base);
  return ok;
}

// index + k stays between min and max (the ends of the 32-bit numbers) for all k of the fact when
//   index - (min - lowest) <= (max - highest) - (min - lowest), unsigned.
// This is the right-hand side...
std::int64_t Conditions::slack(const passes::IndexFact& fact) {
  return 0xffffffffLL - fact.constants.highest + fact.constants.lowest;
}

// ... and the number to add to the index for the left-hand side.
std::int64_t Conditions::bias(const passes::IndexFact& fact) {
  return fact.constants.lowest - (fact.is_signed ? std::int64_t{INT32_MIN} : 0);
}

std::string Conditions::offset_of(const NoWrap& check, Text& code) {
  const std::string offset = registers_.make("b32");
  code.line("add.s32 \t{}, {}, {};", offset, names_.name(check.index),
            static_cast<std::int32_t>(bias(check.fact)));
  return offset;
}

// With multiples of a register: the same in 64 bits, for the fewest and for the most of them.
std::string Conditions::fits(const NoWrap& check, Text& code) {
  const std::string_view type = check.fact.is_signed ? "s32" : "u32";
  const std::string index = registers_.make("b64");
  code.line("cvt.{}.{} \t{}, {};", check.fact.is_signed ? "s64" : "u64", type, index,
            names_.name(check.index));
  code.line("add.s64 \t{0}, {0}, {1};", index, bias(check.fact));
  std::string ok;
  const auto& [lowest, highest] = check.fact.units;
  const bool itself = check.fact.constants.lowest == 0 && check.fact.constants.highest == 0;
  for (const std::int64_t count : {lowest, highest}) {
    if (count == 0 && itself && lowest != highest) continue; // the index is a 32-bit number
    std::string sum = index;
    if (count != 0) {
      const std::string product = registers_.make("b64");
      sum = registers_.make("b64");
      code.line("mul.wide.{} \t{}, {}, {};", type, product, names_.name(check.unit),
                std::abs(count));
      code.line("{}.s64 \t{}, {}, {};", count > 0 ? "add" : "sub", sum, index, product);
    }
    const std::string both = registers_.make("pred");
    code.line("setp.le.u64{} \t{}, {}, {:#x}{};", ok.empty() ? "" : ".and", both, sum,
              slack(check.fact), ok.empty() ? "" : ", " + ok);
    ok = both;
  }
  return ok;
}

} // namespace ptxasw::passes
