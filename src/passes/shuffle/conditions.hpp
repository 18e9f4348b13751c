// The run-time conditions of guarded shuffles: complete warp, lane and row in range, indices away
// from their wrap; and of moves: a block that is not too large. Each is computed once per basic
// block and shared; the lanes of the warp are counted ahead of a loop if they stay in step from
// there on.
#pragma once

#include "passes/shared/bindings.hpp"
#include "passes/shuffle/lane.hpp"
#include "ptx/build.hpp"
#include "ptx/parse.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::passes {

// What the lane must know before it may use a shuffled value. `ok` empty: nothing.
struct Condition {
  ptx::Reg ok;
  ptx::Reg mask; // the shuffle's member mask; empty if there is no shuffle
};

class Conditions {
public:
  Conditions(const emulator::Kernel& kernel, const Names& names, ptx::FreshRegisters& registers)
      : k_(kernel), names_(names), registers_(registers) {}

  // Emits what `cover` needs at `inst` and is not yet there in its stretch of straight-line code.
  Condition require(const ReuseSource& cover, ptx::InstId inst, ptx::Code& code);
  // The same of index checks alone: the predicate, or nothing where there are none.
  ptx::Reg all_of(std::span<const NoWrap> checks, ptx::InstId inst, ptx::Code& code,
                  ptx::Reg base = {});
  // Forgets what was computed: the code just emitted may have split the warp.
  // What has to stand elsewhere than at the loads.
  [[nodiscard]] std::vector<ptx::Edit> take_edits() { return std::move(edits_); }

private:
  struct Warp {
    ptx::Reg mask, full;
  };
  // A check by its registers as they were defined, and its ranges.
  using CheckKey = std::tuple<ptx::RegId, ptx::InstId, ptx::RegId, ptx::InstId, bool,
                              IndexFact::Interval, IndexFact::Interval>;
  struct Setup {
    Warp warp;
    ptx::Reg lane, tid, ntid;
    std::map<std::pair<int, bool>, ptx::Reg> in_range; // by delta and whether the row matters
    std::map<CheckKey, ptx::Reg> prepared;             // what a check has computed so far
    std::map<std::pair<CheckKey, ptx::Reg>, ptx::Reg> checked; // by check and base
  };

  [[nodiscard]] ptx::InstId region_of(ptx::InstId inst) const;
  Warp warp_at(ptx::InstId inst, ptx::Code& code);
  static Warp read_warp(ptx::Code& code);
  static ptx::Reg in_range(Setup& setup, const ReuseSource& cover, ptx::Code& code);
  static ptx::Reg in_row(Setup& setup, int delta, const ptx::Reg& base, ptx::Code& code);
  ptx::Reg checked(Setup& setup, const NoWrap& check, const ptx::Reg& base, ptx::Code& code);
  ptx::Reg in_global(ptx::InstId inst, const ptx::Reg& base, ptx::Code& code);
  static std::int64_t slack(const IndexFact& fact);
  static std::int64_t bias(const IndexFact& fact);
  ptx::Reg offset_of(const NoWrap& check, ptx::Code& code);
  ptx::Reg fits(const NoWrap& check, ptx::Code& code);

  const emulator::Kernel& k_;
  const Names& names_;
  ptx::FreshRegisters& registers_;
  std::map<ptx::InstId, Setup> setups_;     // by stretch
  std::map<analysis::BlockId, Warp> ahead_; // by the block that ends with it
  std::vector<ptx::Edit> edits_;
};

} // namespace ptxasw::passes
