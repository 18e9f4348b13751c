// What a proof assumes of indices, asked at run time: they are away from their wrap.
//
// A region here is a run of straight-line code without calls. What a check computes is computed
// once in each.
#pragma once

#include "passes/shared/bindings.hpp"
#include "passes/shared/check_places.hpp"
#include "ptx/build.hpp"

#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace ptxasw::passes {

// Where the region begins in which an instruction stands.
ptx::InstId region_of(const emulator::Kernel& kernel, ptx::InstId inst);

class IndexChecks {
public:
  IndexChecks(const emulator::Kernel& kernel, const Names& names) : k_(kernel), names_(names) {}

  // `base` (or nothing) and all of the checks, at `inst`: the predicate; nothing where there is
  // nothing to ask.
  ptx::Reg all_of(std::span<const NoWrap> checks, ptx::InstId inst, ptx::Code& code,
                  ptx::Reg base = {});

private:
  // A check by its registers as they were defined, and its ranges.
  using Key = std::tuple<ptx::RegId, ptx::InstId, ptx::RegId, ptx::InstId, bool,
                         IndexFact::Interval, IndexFact::Interval>;
  struct Computed {
    std::map<Key, ptx::Reg> prepared;                     // of a check alone
    std::map<std::pair<Key, ptx::Reg>, ptx::Reg> checked; // by check and base
  };

  ptx::Reg checked(Computed& computed, const NoWrap& check, const ptx::Reg& base, ptx::Code& code);
  ptx::Reg offset_of(const NoWrap& check, ptx::Code& code);
  ptx::Reg fits(const NoWrap& check, ptx::Code& code);

  const emulator::Kernel& k_;
  const Names& names_;
  std::map<ptx::InstId, Computed> regions_;
};

} // namespace ptxasw::passes
