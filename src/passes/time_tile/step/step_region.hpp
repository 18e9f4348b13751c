// The blocks from a kernel's entry to its stores, and which branches guard the way: for step.cpp.
#pragma once

#include "emulator/emulate.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

// Each thread that gets to `head` stores; every other one leaves before.
struct StepRegion {
  Why refused;                           // nothing else is then valid
  std::vector<analysis::BlockId> blocks; // predecessors first
  analysis::BlockId head = analysis::no_block;
  // Branches of which one side leaves, in order; the block that the other side leads to.
  struct Guard {
    analysis::BlockId from = 0, to = 0;
  };
  std::vector<Guard> guards;
  // Branches both sides of which lead to stores; or one, behind which others have stored.
  std::vector<analysis::BlockId> forks;

  [[nodiscard]] bool has(analysis::BlockId block) const;
};

// Of a loop that a thread walks in: within one trip.
StepRegion find_region(const emulator::Kernel& kernel);

// Not back to the begin of a loop.
inline bool is_forward(const analysis::Cfg& cfg, analysis::BlockId from, analysis::BlockId to) {
  return !cfg.dominates(to, from);
}

// Each way from the head on does a store of each group, or several, of which the last one counts.
// Empty, or why not.
std::string why_not_stored(const emulator::Kernel& kernel, const StepRegion& region,
                           const std::multimap<ptx::InstId, unsigned>& groups, unsigned count);

} // namespace ptxasw::passes
