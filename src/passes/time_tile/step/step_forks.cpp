// Compares how many places take either side.
#include "passes/time_tile/step/step_forks.hpp"

#include "passes/shared/block_rules.hpp"

namespace ptxasw::passes {

using analysis::BlockId;
using sym::Term;

namespace {

// Of its first successor, if both sides have the branch alone in front of them, or one has.
Term fork_condition(const emulator::Kernel& kernel, const StepPlaces& places, BlockId fork,
                    BlockId head) {
  const auto& succs = kernel.cfg.blocks[fork].succs;
  for (unsigned n = 0; n < 2; ++n)
    if (const Term fact = kernel.trace.entry_fact[succs[n]];
        fact.valid() && kernel.cfg.blocks[succs[n]].preds == std::vector{fork}) {
      const Term moved = places.at(fact, head);
      return n == 0 ? moved : kernel.context->not_(moved);
    }
  return {};
}

} // namespace

Why find_forks(const emulator::Kernel& kernel, const StepRegion& region,
               const IntegerPolynomialReader& reader, const StepPlaces& places, StepSizes& sizes,
               StepPlan& plan) {
  for (const BlockId fork : region.forks) {
    plan.forks[fork] = ~0U;
    const ptx::Inst& branch = kernel.body.insts[kernel.cfg.blocks[fork].end - 1];
    if (branch.guard == ptx::none)
      return at_line(kernel.body, branch, Reason::step_guard, "a branch of another form");
    const Term condition = fork_condition(kernel, places, fork, plan.head);
    if (!condition.valid()) continue;
    double most = 0;
    Bounded inner;
    for (const bool taken : {true, false}) {
      const auto ways = split(reader, *kernel.context, condition, taken);
      if (!ways || ways->size() != 1) continue;
      const double count = sizes.usual_places((*ways)[0]);
      if (count <= most) continue;
      most = count;
      inner = (*ways)[0];
      plan.forks[fork] = taken ? 0 : 1;
    }
    if (plan.forks[fork] == ~0U) continue;
    sizes.add_bounded(inner);
    plan.add_inner(inner.bounds);
  }
  return {};
}

} // namespace ptxasw::passes
