// What --rotate makes of a kernel.
#pragma once

#include "passes/loop_carry/cost.hpp"
#include "passes/loop_carry/rotation.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

struct RotationChoice {
  passes::RotationPlan plan; // of the loops that are to be rotated
  Decision outcome;          // "rotated: ..." or "not rotated: ..."
};

RotationChoice choose_rotations(emulator::Kernel& kernel, sym::Solver& solver, RotateMode mode,
                                std::string_view architecture,
                                const passes::GroundsOptions& options);

// The edits that rotate the loops of the plan in this way; what cannot be done leaves the plan.
std::vector<ptx::Edit> rotated(const emulator::Kernel& kernel, passes::RotationPlan& plan,
                               const passes::RotationWay& way);

} // namespace ptxasw::passes
