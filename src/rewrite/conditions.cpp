// A stretch is a run of straight-line code without calls: within it a lane that was active stays
// so, and every lane of a mask read there reaches the shuffles of the stretch.
#include "rewrite/conditions.hpp"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::rewrite {

using reuse::Cover;
using reuse::NoWrap;

Condition Conditions::require(const Cover& cover, ptx::InstId inst, Code& code) {
  Setup& setup = setups_[stretch_of(inst)];
  if (cover.delta == 0) return {checked(setup, cover.checks, "", code), ""};
  read_warp(setup, code);
  const std::string base = checked(setup, cover.checks, setup.full, code);
  return {in_range(setup, cover, base, code), setup.mask};
}

ptx::InstId Conditions::stretch_of(ptx::InstId inst) const {
  const ptx::InstId first = k_.cfg.blocks[k_.cfg.block_of[inst]].first;
  for (ptx::InstId i = inst; i > first; --i) {
    if (ptx::effects(k_.body, k_.body.insts[i - 1]).calls) return i;
  }
  return first;
}

void Conditions::read_warp(Setup& s, Code& code) {
  if (!s.mask.empty()) return;
  s.mask = registers_.make("b32");
  s.full = registers_.make("pred");
  code.line("activemask.b32 \t{};", s.mask);
  code.line("setp.eq.s32 \t{}, {}, -1;", s.full, s.mask);
}

const std::string& Conditions::read_special(std::string& place, std::string_view special,
                                            Code& code) {
  if (place.empty()) {
    place = registers_.make("b32");
    code.line("mov.u32 \t{}, {};", place, special);
  }
  return place;
}

namespace {

// ", base" and ".and" of a setp that is combined with an earlier condition, if there is one.
std::string combined(const std::string& base) {
  return base.empty() ? "" : ", " + base;
}
std::string_view combine(const std::string& base) {
  return base.empty() ? "" : ".and";
}

} // namespace

// `base` and every check.
std::string Conditions::checked(Setup& s, const std::vector<NoWrap>& checks, std::string base,
                                Code& code) {
  CheckKey key;
  for (const NoWrap& check : checks) {
    key.emplace_back(check.index, check.defined, check.unit, check.unit_defined,
                     check.fact.is_signed, check.fact.lowest, check.fact.highest);
  }
  const auto [place, missing] = s.checked.try_emplace(key);
  if (!missing) return place->second;
  for (const NoWrap& check : checks) {
    base = check.unit == ptx::none ? small_check(check, base, code) : wide_check(check, base, code);
  }
  place->second = base;
  return base;
}

// Constant distances: index - (min - lowest) <= (max - highest) - (min - lowest), unsigned, where
// min and max are the ends of the 32-bit numbers. One add, one compare.
std::string Conditions::small_check(const NoWrap& check, const std::string& base, Code& code) {
  const std::string ok = registers_.make("pred"), offset = registers_.make("b32");
  const std::int64_t min = check.fact.is_signed ? INT32_MIN : 0;
  const auto addend = static_cast<std::int32_t>(check.fact.lowest - min);
  const std::int64_t range = 0xffffffffLL - check.fact.highest + check.fact.lowest;
  code.line("add.s32 \t{}, {}, {};", offset, name(check.index), addend);
  code.line("setp.le.u32{} \t{}, {}, {:#x}{};", combine(base), ok, offset, range, combined(base));
  return ok;
}

// Distances that are multiples of a register: the sum in 64 bits at each end must be a 32-bit
// number, that is, sum - min < 2^32 unsigned.
std::string Conditions::wide_check(const NoWrap& check, std::string base, Code& code) {
  const std::string_view type = check.fact.is_signed ? "s32" : "u32";
  const std::string index = registers_.make("b64");
  code.line("cvt.{}.{} \t{}, {};", check.fact.is_signed ? "s64" : "u64", type, index,
            name(check.index));
  if (check.fact.is_signed) code.line("add.s64 \t{0}, {0}, 0x80000000;", index);
  for (const std::int64_t count : {check.fact.lowest, check.fact.highest}) {
    if (count == 0) continue;
    const std::string ok = registers_.make("pred"), sum = registers_.make("b64");
    code.line("mul.wide.{} \t{}, {}, {};", type, sum, name(check.unit), std::abs(count));
    code.line("{}.s64 \t{}, {}, {};", count > 0 ? "add" : "sub", sum, index, sum);
    code.line("setp.lt.u64{} \t{}, {}, 0x100000000{};", combine(base), ok, sum, combined(base));
    base = ok;
  }
  return base;
}

// lane + delta is in the warp and, if it may not be, %tid.x + delta in the row.
std::string Conditions::in_range(Setup& s, const Cover& cover, const std::string& base,
                                 Code& code) {
  const auto [place, missing] = s.in_range.try_emplace({cover.delta, cover.row_check, base});
  if (!missing) return place->second;
  const std::string& lane = read_special(s.lane, "%laneid", code);
  const std::string ok = registers_.make("pred");
  const int distance = std::abs(cover.delta);
  if (cover.delta > 0) {
    code.line("setp.lt.u32.and \t{}, {}, {}, {};", ok, lane, 32 - distance, base);
  } else {
    code.line("setp.ge.u32.and \t{}, {}, {}, {};", ok, lane, distance, base);
  }
  place->second = cover.row_check ? in_row(s, cover.delta, ok, code) : ok;
  return place->second;
}

std::string Conditions::in_row(Setup& s, int delta, const std::string& base, Code& code) {
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

const std::string& Conditions::name(ptx::RegId reg) const {
  return k_.body.registers[reg].name;
}

} // namespace ptxasw::rewrite
