// The rules for remapped threads, and that the kernel does not know its block.
#include "passes/remap/reshape_find.hpp"

#include "passes/shared/remap_rules.hpp"

namespace ptxasw::passes {

using ptx::Special;

ReshapePlan plan_reshape(const emulator::Kernel& kernel) {
  constexpr std::array replaced{Special::tid_x,    Special::tid_y,    Special::tid_z,
                                Special::ntid_x,   Special::ntid_y,   Special::ntid_z,
                                Special::ctaid_x,  Special::ctaid_y,  Special::ctaid_z,
                                Special::nctaid_x, Special::nctaid_y, Special::nctaid_z};
  ReshapePlan plan;
  plan.refused = why_threads_not_permutable(kernel);
  if (plan.refused.empty()) plan.refused = why_not_replaced(kernel, replaced);
  if (plan.refused.empty() && kernel.body.function->reqntid[0] != 0)
    plan.refused = {Reason::not_handled, "it states the size of its blocks"};
  if (!plan.refused.empty()) return plan;
  for (unsigned axis = 0; axis < 3; ++axis)
    for (const Special place : {Special::tid_x, Special::ctaid_x})
      if (ptx::reads_special(kernel.body, ptx::along(place, axis))) plan.axes[axis] = true;
  if (!plan.axes[0])
    plan.refused = {Reason::axis_unread, "it does not ask where along x a thread is"};
  return plan;
}

} // namespace ptxasw::passes
