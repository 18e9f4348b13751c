// Parameters of a sequence that differ from pass to pass: which may, and what may not hang on them.
#pragma once

#include "contract/sequences.hpp"
#include "passes/time_tile/step/step.hpp"

#include <span>
#include <vector>

namespace ptxasw::passes {

// Of parameters with one value; null: nothing is equal with it.
[[nodiscard]] const contract::SeenSequence::Class* class_of(const contract::SeenSequence& seen,
                                                            const contract::Sequence::Part& part);

// Each is a whole parameter, with which nothing else is equal.
[[nodiscard]] bool have_own_numbers(std::span<emulator::Kernel* const> kernels,
                                    const contract::SeenSequence& seen);

struct VaryingStage {
  const ptx::Body& body;
  const std::vector<contract::Sequence::Part>& varying;
  unsigned stage = 0;
};

// A place, a guard, or a value in another way than by a load of the parameter.
[[nodiscard]] bool hangs_on_varying(const VaryingStage& in, const StepPlan& plan);

} // namespace ptxasw::passes
