// What --rotate and --rounds make of a kernel.
#pragma once

#include "passes/loop_carry/cost.hpp"
#include "passes/loop_carry/rotation.hpp"
#include "passes/warp_reduce/find.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::pipeline {

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

struct RoundsChoice {
  passes::RoundsPlan plan;
  Decision outcome; // "in registers: ..." or "not in registers: ..."
};

// `block`: the known shape of blocks, zeros where it is not known. By default nothing is said of
// kernels in which nothing looks like a tree.
RoundsChoice choose_rounds(emulator::Kernel& kernel, sym::Solver& solver, RoundsMode mode,
                           std::string_view architecture,
                           const std::array<std::uint32_t, 3>& block);

} // namespace ptxasw::pipeline
