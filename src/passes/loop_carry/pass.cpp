// What is found stays; what is emitted may be less.
#include "passes/loop_carry/pass.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

void LoopCarryPass::find(Analysed& kernel) {
  found_ = choose_carried_loops(kernel.kernel, kernel.solver, kernel.options.loop_carry,
                                kernel.facts.architecture(),
                                {.no_index_wrap = kernel.facts.assumed("no-index-wrap"),
                                 .paranoid = kernel.options.paranoid});
  made_ = found_;
}

Emitted LoopCarryPass::emit(Analysed& kernel) {
  made_ = found_;
  Emitted result{rotated(kernel.kernel, made_.plan, way_), uses_loads,
                 "its loads are carried from iteration to iteration"};
  emitted_ = !result.edits.empty();
  if (!emitted_) return result;
  if (way_.iterations > 1)
    made_.outcome.text += fmt::format("; {} iterations at a time", way_.iterations);
  if (way_.registers != 0)
    made_.outcome.text += fmt::format("; in at most {} registers", way_.registers);
  return result;
}

void LoopCarryPass::yield(Analysed&, const Emitted& other) {
  made_ = found_;
  emitted_ = false;
  if (made_.plan.loops.empty()) return;
  made_.plan.loops.clear();
  made_.outcome = refusal(Reason::other_rewrite, "not rotated: " + other.claim + " already");
}

void LoopCarryPass::describe(const Analysed&, KernelReport& report) const {
  report.rotation = made_.outcome;
}

std::vector<ptx::Edit> LoopCarryPass::emit_as(Analysed& kernel,
                                              const LoopCarryCandidate& way) const {
  LoopCarryPlan plan = found_.plan;
  return rotated(kernel.kernel, plan, way);
}

const PassRow loop_carry_row{.name = "loop_carry",
                             .needs = uses_loads,
                             .decision = &KernelReport::rotation,
                             .undone = "not rotated",
                             .start = start<LoopCarryPass>};

} // namespace ptxasw::passes
