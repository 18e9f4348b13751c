// What --loop-carry makes of a kernel.
#pragma once

#include "passes/loop_carry/cost.hpp"
#include "passes/loop_carry/find.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <string_view>
#include <vector>

namespace ptxasw::passes {

struct LoopCarryChoice {
  LoopCarryPlan plan; // of the loops that are to be rotated
  Decision outcome;   // "rotated: ..." or "not rotated: ..."
};

LoopCarryChoice choose_carried_loops(emulator::Kernel& kernel, sym::Solver& solver,
                                     LoopCarryMode mode, std::string_view architecture,
                                     const JustificationOptions& options);

// The edits that rotate the loops of the plan in this way; what cannot be done leaves the plan.
std::vector<ptx::Edit> rotated(const emulator::Kernel& kernel, LoopCarryPlan& plan,
                               const LoopCarryCandidate& way);

} // namespace ptxasw::passes
