// Where blocks were merged, a tree is looked for once more in the text that came of it.
#include "passes/warp_reduce/pass.hpp"

#include "passes/warp_reduce/emit.hpp"

namespace ptxasw::passes {

void WarpReducePass::find(Analysed& kernel) {
  found_ = choose_tree_reductions(kernel.kernel, kernel.solver, kernel.options.warp_reduce,
                                  kernel.facts.architecture(), kernel.facts.block_shape());
  outcome_ = found_.outcome;
}

Emitted WarpReducePass::emit(Analysed& kernel) {
  outcome_ = found_.outcome;
  deferred_ = false;
  TreeReductionPlan plan = found_.plan;
  return {reduce_in_registers(kernel.kernel, plan, kernel.facts.block_shape()), uses_loads,
          "its trees are in registers"};
}

void WarpReducePass::yield(Analysed&, const Emitted& other) {
  outcome_ = found_.outcome;
  deferred_ = has_plan() && other.again;
  if (has_plan())
    outcome_ = refusal(Reason::other_rewrite, "not in registers: " + other.claim + " already");
}

void WarpReducePass::describe(const Analysed&, KernelReport& report) const {
  report.rounds = outcome_;
}

const PassRow warp_reduce_row{.name = "warp_reduce",
                              .needs = uses_loads,
                              .decision = &KernelReport::rounds,
                              .undone = "not in registers",
                              .start = start<WarpReducePass>};

} // namespace ptxasw::passes
