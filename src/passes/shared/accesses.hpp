// A kernel's accesses to global memory as a launch contract has them: by how far they lie apart
// along each axis of the launch.
#pragma once

#include "contract/contract.hpp"
#include "emulator/emulate.hpp"

namespace ptxasw::passes {

// Of global memory, as far as the instruction tells.
[[nodiscard]] bool is_global(const emulator::Event& event);

// Empty where there are too many that differ. Each place in the code counts once, however often a
// loop comes by.
[[nodiscard]] std::vector<contract::Access> accesses_of(emulator::Kernel& kernel);

} // namespace ptxasw::passes
