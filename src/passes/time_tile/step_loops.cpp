// Finds loops that walk over places.
#include "passes/time_tile/step_loops.hpp"

#include <algorithm>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Definition;
using ptx::Special;
using sym::Term;

const StepLoop* StepLoops::along(unsigned axis) const {
  const auto found = std::ranges::find(loops, axis, &StepLoop::axis);
  return found == loops.end() ? nullptr : &*found;
}

namespace {

// All threads of the launch along the axis, in any way that programs write it.
std::vector<Term> all_threads(emulator::Kernel& kernel, unsigned axis) {
  sym::Context& c = *kernel.context;
  const Term blocks = kernel.trace.special(ptx::along(Special::nctaid_x, axis)),
             size = kernel.trace.special(ptx::along(Special::ntid_x, axis));
  if (!blocks.valid() || !size.valid()) return {};
  const Term product = c.mul(blocks, size);
  return {product, c.sext(product, 64), c.zext(product, 64),
          c.mul(c.zext(blocks, 64), c.zext(size, 64))};
}

// By how much a value grows from trip to trip, if that is the same for all.
Term growth(sym::Context& c, Term value, Term trip) {
  const auto in = [&](std::uint64_t n) {
    return c.substitute(value, {{trip.id, c.constant(64, n)}});
  };
  return c.sub(in(1), in(0));
}

} // namespace

StepLoops find_step_loops(emulator::Kernel& kernel) {
  StepLoops made;
  sym::Context& c = *kernel.context;
  const auto& loops = kernel.loops.loops;
  for (std::uint32_t number = 0; number < loops.size(); ++number) {
    const analysis::Loop& loop = loops[number];
    const Term trip = kernel.trace.iterations[number];
    const bool has_one_end = loop.latches.size() == 1 && loop.exits.size() == 1 &&
                             loop.exits[0].first == loop.latches[0];
    for (const Definition& definition : kernel.trace.definitions) {
      if (!trip.valid() || !has_one_end || !definition.at_entry ||
          definition.inst != kernel.cfg.blocks[loop.header].first)
        continue;
      const Term by = growth(c, definition.value, trip);
      for (unsigned axis = 0; axis < 3; ++axis)
        if (std::ranges::count(all_threads(kernel, axis), by) != 0 && made.along(axis) == nullptr &&
            std::ranges::find(made.loops, number, &StepLoop::number) == made.loops.end())
          made.loops.push_back({number, axis, trip});
    }
    if (made.loops.size() == number + 1) continue;
    made.refused = {Reason::step_loop, "it has loops"};
    return made;
  }
  return made;
}

Term StepPlaces::at(Term t, BlockId block) const {
  const Term moved = c_.substitute(t, as_place_);
  sym::Context::Substitution first;
  for (const StepLoop& loop : loops_)
    if (!k_.loops.contains(loop.number, block)) first.emplace(loop.trip.id, c_.constant(64, 0));
  return first.empty() ? moved : c_.substitute(moved, first);
}

// As the trip before decides.
Term StepPlaces::goes_on(const StepLoop& loop) const {
  const analysis::Loop& found = k_.loops.loops[loop.number];
  const BlockId latch = found.latches[0];
  const analysis::Block& block = k_.cfg.blocks[latch];
  const ptx::Inst& branch = k_.body.insts[block.end - 1];
  if (branch.guard == ptx::none || block.succs.size() != 2) return {};
  Term condition;
  for (const Definition& definition : k_.trace.definitions)
    if (!definition.at_entry && definition.reg == branch.guard &&
        k_.cfg.block_of[definition.inst] == latch)
      condition = definition.value;
  if (!condition.valid() || c_.width(condition) != 1) return {};
  if ((block.succs[0] == found.header) == branch.guard_negated) condition = c_.not_(condition);
  return at(c_.substitute(condition, {{loop.trip.id, c_.sub(loop.trip, c_.constant(64, 1))}}),
            latch);
}

} // namespace ptxasw::passes
