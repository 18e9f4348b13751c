// The run-time conditions of guarded shuffles: complete warp, lane and row in range, indices away
// from their wrap (index_checks.hpp). Each is computed once in a region and shared; the lanes of
// the warp are counted ahead of a loop if they stay in step from there on.
#pragma once

#include "passes/shared/index_checks.hpp"
#include "passes/shuffle/lane.hpp"
#include "ptx/build.hpp"
#include "ptx/parse.hpp"

#include <map>
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
      : k_(kernel), names_(names), registers_(registers), checks_(kernel, names) {}

  // Emits what `cover` needs at `inst` and is not yet there in its region of straight-line code.
  Condition require(const ReuseSource& cover, ptx::InstId inst, ptx::Code& code);
  // What has to stand elsewhere than at the loads.
  [[nodiscard]] std::vector<ptx::Edit> take_edits() { return std::move(edits_); }

private:
  struct Warp {
    ptx::Reg mask, full;
  };
  struct Setup {
    Warp warp;
    ptx::Reg lane, tid, ntid;
    std::map<std::pair<int, bool>, ptx::Reg> in_range; // by delta and whether the row matters
  };

  Warp warp_at(ptx::InstId inst, ptx::Code& code);
  static Warp read_warp(ptx::Code& code);
  static ptx::Reg in_range(Setup& setup, const ReuseSource& cover, ptx::Code& code);
  static ptx::Reg in_row(Setup& setup, int delta, const ptx::Reg& base, ptx::Code& code);
  ptx::Reg in_global(ptx::InstId inst, const ptx::Reg& base, ptx::Code& code);

  const emulator::Kernel& k_;
  const Names& names_;
  ptx::FreshRegisters& registers_;
  IndexChecks checks_;
  std::map<ptx::InstId, Setup> setups_;     // by region
  std::map<analysis::BlockId, Warp> ahead_; // by the block that ends with it
  std::vector<ptx::Edit> edits_;
};

} // namespace ptxasw::passes
