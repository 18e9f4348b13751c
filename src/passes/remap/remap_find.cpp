// One function for each family of remaps: blocks, elements of a linear index, lanes.
#include "passes/remap/remap_find.hpp"

#include "passes/shared/remap_rules.hpp"

#include <array>

namespace ptxasw::passes {

using ptx::Special;

namespace {

void plan_blocks(const emulator::Kernel& kernel, RemapPlan& plan) {
  constexpr std::array replaced{Special::ctaid_x, Special::ctaid_y};
  plan.refused = why_blocks_not_permutable(kernel);
  if (plan.refused.empty()) plan.refused = why_not_replaced(kernel, replaced);
  if (!plan.refused.empty()) return;
  for (const Special special : replaced) {
    if (!ptx::reads_special(kernel.body, special))
      plan.refused = {Reason::axis_unread,
                      "it does not read " + std::string(ptx::info(special).name) +
                          ", and the order of blocks along one axis stays as it is"};
  }
}

void plan_linear(emulator::Kernel& kernel, RemapPlan& plan) {
  constexpr std::array replaced{Special::tid_x};
  plan.refused = why_threads_not_permutable(kernel);
  if (plan.refused.empty()) plan.refused = why_not_replaced(kernel, replaced);
  if (!plan.refused.empty()) return;
  plan.linear = find_linear_index(kernel);
  plan.refused = plan.linear.refused;
}

void plan_swap(const emulator::Kernel& kernel, RemapPlan& plan) {
  const auto reads = [&](Special special) { return ptx::reads_special(kernel.body, special); };
  plan.refused = why_threads_not_permutable(kernel);
  if (!plan.refused.empty()) return;
  if (!reads(Special::tid_x)) {
    plan.refused = {Reason::axis_unread, "it does not read %tid.x"};
    return;
  }
  const bool y = reads(Special::ctaid_y) || reads(Special::tid_y);
  if (!y && !reads(Special::ctaid_z) && !reads(Special::tid_z)) {
    plan.refused = {Reason::axis_unread, "it has one axis only"};
    return;
  }
  plan.axis = y ? 'y' : 'z';
  plan.refused =
      why_not_replaced(kernel, std::array{Special::tid_x, y ? Special::tid_y : Special::tid_z,
                                          y ? Special::ctaid_y : Special::ctaid_z});
}

} // namespace

RemapPlan plan_remap(emulator::Kernel& kernel, const Remap& remap) {
  RemapPlan plan{.remap = remap};
  switch (remap.kind) {
  case RemapKind::none:
  case RemapKind::automatic: plan.refused = {Reason::not_asked, "nothing is asked for"}; break;
  case RemapKind::column:
  case RemapKind::zigzag:
  case RemapKind::swap: plan_blocks(kernel, plan); break;
  case RemapKind::linear_column:
  case RemapKind::linear_zigzag: plan_linear(kernel, plan); break;
  case RemapKind::thread_swap: plan_swap(kernel, plan); break;
  }
  return plan;
}

} // namespace ptxasw::passes
