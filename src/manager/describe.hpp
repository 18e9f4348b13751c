// The accesses of a kernel as the report shows them.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/loop_carry/find.hpp"
#include "passes/shuffle/lane.hpp"
#include "ptxasw/report.hpp"

#include <array>

namespace ptxasw::manager {

// Of the instruction in the PTX text, from 1.
std::uint32_t line_of(const emulator::Kernel& kernel, ptx::InstId inst);

// Adds every access of the kernel, and what becomes of the loads by the plan. `block`: the known
// block size, zeros where it is not known.
void describe_accesses(emulator::Kernel& kernel, const passes::LanePlan& plan,
                       const passes::LoopCarryPlan& rotation,
                       const std::array<std::uint32_t, 3>& block, KernelReport& report);

} // namespace ptxasw::manager
