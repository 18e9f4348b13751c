// With auto the proposals of the cost model, one after the other.
#include "passes/remap/choose.hpp"

#include "passes/remap/remap.hpp"
#include "passes/remap/remap_choice.hpp"
#include "target/profile.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace ptxasw::passes {
namespace {

// The first that is proposed and sound.
RemapPlan propose(emulator::Kernel& kernel, const FunctionFacts& facts, std::string& why) {
  RemapPlan none{
      .refused = {Reason::gains_too_little, "no order of blocks or threads is known to pay"},
      .remap = {.kind = RemapKind::automatic}};
  std::vector<RemapProposal> proposals{propose_thread_swap(kernel)};
  const auto& [x, y, z] = facts.block_shape();
  if (const target::Profile* profile = target::find_profile(facts.architecture()))
    proposals.push_back(propose_linear_column(kernel, *profile, x * y * z));
  for (const RemapProposal& proposal : proposals) {
    if (proposal.remap.kind == RemapKind::none) {
      if (!proposal.why.empty()) none.refused = {proposal.against, proposal.why};
      continue;
    }
    RemapPlan plan = plan_remap(kernel, proposal.remap);
    plan.lane_stride = proposal.lane_stride;
    if (!plan.refused.empty()) {
      none = std::move(plan);
      continue;
    }
    why = "; " + proposal.why;
    return plan;
  }
  return none;
}

} // namespace

Remapped remap(emulator::Kernel& kernel, const Remap& wanted, const FunctionFacts& facts) {
  std::string why;
  const RemapPlan plan = wanted.kind == RemapKind::automatic ? propose(kernel, facts, why)
                                                             : plan_remap(kernel, wanted);
  if (!plan.refused.empty())
    return {
        .outcome = {Status::refused, plan.refused.reason,
                    fmt::format("not remapped ({}): {}", text_of(plan.remap), plan.refused.text)}};
  return {.edits = passes::remap(kernel, plan),
          .outcome = {Status::done, Reason::none, "remapped: " + text_of(plan.remap) + why},
          .remap = plan.remap};
}

} // namespace ptxasw::passes
