// A tree is worth it where it saves barriers enough.
#include "passes/warp_reduce/choose.hpp"

#include "target/profile.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

using emulator::Kernel;

TreeReductionChoice choose_tree_reductions(Kernel& kernel, sym::Solver& solver, WarpReduceMode mode,
                                           std::string_view architecture,
                                           const std::array<std::uint32_t, 3>& block) {
  const bool automatic = mode == WarpReduceMode::automatic;
  const bool known =
      target::find_profile(architecture) != nullptr && kernel.body.module->version_major >= 6;
  if (mode == WarpReduceMode::none || (automatic && !known)) return {};
  TreeReductionChoice choice{.plan = passes::find_tree_reductions(kernel, solver)};
  if (std::erase_if(choice.plan.stretches,
                    [&](const passes::TreeReduction& r) { return !passes::fits(r, block); }) != 0)
    choice.plan.refused = {Reason::tree_form, "blocks are no rows of whole warps"};
  // A tree that is unrolled saves all barriers of its stretch but one; with one less than three
  // rounds, what is asked in front costs about what is saved.
  if (automatic)
    std::erase_if(choice.plan.stretches, [](const passes::TreeReduction& rounds) {
      return !rounds.rolled && rounds.barriers.size() < 3;
    });
  if (choice.plan.stretches.empty()) {
    if (automatic && choice.plan.refused.empty()) return choice;
    const Why why = choice.plan.refused.empty() ? Why{Reason::tree_form, "no tree of a known form"}
                                                : choice.plan.refused;
    choice.outcome = {Status::refused, why.reason, "not in registers: " + why.text};
    return choice;
  }
  std::string& words = choice.outcome.text;
  choice.outcome.status = Status::done;
  for (const passes::TreeReduction& rounds : choice.plan.stretches)
    words += fmt::format("{} the {} at line {}", words.empty() ? "in registers:" : ",",
                         rounds.grows ? "steps of a loop up to width 16"
                         : rounds.rolled
                             ? fmt::format("steps of a loop from width {} on", rounds.first_width())
                             : fmt::format("steps between {} barriers", rounds.barriers.size() + 1),
                         ptx::line_of(kernel.body, kernel.body.insts[rounds.begin]));
  return choice;
}

} // namespace ptxasw::passes
