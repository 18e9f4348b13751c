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

// `base` and each index at least its margin away from the wrap. One add and one compare each:
// index - lowest <= highest - lowest, unsigned.
std::string Conditions::checked(Setup& s, const std::vector<NoWrap>& checks, std::string base,
                                Code& code) {
  CheckKey key;
  for (const NoWrap& check : checks)
    key.emplace_back(check.reg, check.defined, check.margin);
  const auto [place, missing] = s.checked.try_emplace(key);
  if (!missing) return place->second;
  for (const NoWrap& check : checks) {
    const std::string ok = registers_.make("pred");
    const std::string offset = registers_.make(fmt::format("b{}", check.width));
    const std::uint64_t half = std::uint64_t{1} << (check.width - 1);
    const std::uint64_t all = half | (half - 1);
    const std::uint64_t bias = ((check.is_signed ? half : 0) - check.margin) & all;
    const auto addend = static_cast<std::int64_t>(bias << (64 - check.width)) >> (64 - check.width);
    code.line("add.s{} \t{}, {}, {};", check.width, offset, k_.body.registers[check.reg].name,
              addend);
    code.line("setp.le.u{}{} \t{}, {}, {:#x}{};", check.width, base.empty() ? "" : ".and", ok,
              offset, all - 2 * check.margin, base.empty() ? "" : ", " + base);
    base = ok;
  }
  place->second = base;
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

} // namespace ptxasw::rewrite
