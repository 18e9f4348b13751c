// Tells copies from other steps.
#include "passes/time_tile/step/step_copy.hpp"

#include <algorithm>

namespace ptxasw::passes {

// The plan has for every place of the box: it stores, once, and reads what it reads at its own
// element of the other array. So all that is left to ask is whether each place of the box does, and
// whether what is stored is what was loaded, bit by bit.
std::optional<contract::CopyKernel> find_copy(const emulator::Kernel& kernel,
                                              const StepPlan& plan) {
  if (!plan.boxed || !plan.convex || plan.masked || !plan.forks.empty() || plan.rotation ||
      plan.arrays.size() != 1 || !plan.stored || plan.value_slice.size() != 1)
    return std::nullopt;
  const StepArray& array = plan.arrays[0];
  const ptx::InstId id = plan.value_slice[0];
  const auto loads = plan.loads_of(id);
  if (loads.size() != 1 || array.stores.size() != 1) return std::nullopt;
  const StepArray::Load& load = *loads[0].load;
  if (load.part || load.cases.size() != 1 || load.offset() != Offset{}) return std::nullopt;
  const ptx::Body& body = kernel.body;
  const auto is_same = [](const ptx::Arg& stored, const ptx::Arg& value) {
    return stored.kind == ptx::Arg::Kind::reg && value.kind == ptx::Arg::Kind::reg &&
           stored.id == value.id;
  };
  if (!std::ranges::equal(body.src(body.insts[array.stores[0].inst]), body.dst(body.insts[id]),
                          is_same))
    return std::nullopt;
  return contract::CopyKernel{array.in, array.out, *plan.stored, plan.conditions};
}

} // namespace ptxasw::passes
