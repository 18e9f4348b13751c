// Whether the threads of a kernel may be launched in blocks of another shape.
//
// src/passes/remap/RESHAPE.md argues for the conditions.
#pragma once

#include "emulator/emulate.hpp"

#include <array>

namespace ptxasw::passes {

struct ReshapePlan {
  Why refused; // nothing else is then valid
  // Axes along which the kernel asks where a thread is. Along the others a launch has to have one
  // thread.
  std::array<bool, 3> axes{};
};

ReshapePlan plan_reshape(const emulator::Kernel& kernel);

} // namespace ptxasw::passes
