// A tree is worth it where it saves barriers enough.
#include "passes/warp_reduce/choose.hpp"

#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace ptxasw::passes {

using emulator::Kernel;

namespace {

// "the tree's steps at PTX lines 93 to 157, without 5 of their 6 barriers"
std::string described(const Kernel& kernel, const TreeReduction& steps) {
  const auto line = [&](ptx::InstId inst) {
    return ptx::line_of(kernel.body, kernel.body.insts[inst]);
  };
  if (steps.rolled)
    return fmt::format("the tree's steps {} in the loop at PTX line {}, without its barriers",
                       steps.grows ? std::string("up to width 16")
                                   : fmt::format("from width {} on", steps.first_width()),
                       line(steps.begin));
  // All but the last are between two steps; that one stays unless nothing is read behind it.
  const std::size_t barriers = steps.barriers.size(), gone = steps.own_behind ? barriers
                                                             : barriers == 0  ? 0
                                                                              : barriers - 1;
  return fmt::format("the tree's steps at PTX lines {} to {}, without {} of their {} barriers",
                     line(steps.begin), line(std::max(steps.begin, steps.end - 1)), gone, barriers);
}

} // namespace

TreeReductionChoice choose_tree_reductions(Kernel& kernel, sym::Solver& solver, WarpReduceMode mode,
                                           std::string_view architecture,
                                           const std::array<std::uint32_t, 3>& block) {
  const bool automatic = mode == WarpReduceMode::automatic;
  const bool known =
      target::find_profile(architecture) != nullptr && kernel.body.module->version_major >= 6;
  if (mode == WarpReduceMode::none || (automatic && !known)) return {};
  TreeReductionChoice choice{.plan = find_tree_reductions(kernel, solver)};
  if (std::erase_if(choice.plan.stretches,
                    [&](const TreeReduction& r) { return !fits(r, block); }) != 0)
    choice.plan.refused = {Reason::tree_form, "blocks are no rows of whole warps"};
  // A tree that is unrolled saves all barriers of its stretch but one; with one less than three
  // rounds, what is asked in front costs about what is saved.
  if (automatic)
    std::erase_if(choice.plan.stretches, [](const TreeReduction& rounds) {
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
  for (const TreeReduction& steps : choice.plan.stretches)
    words += (words.empty() ? "in registers, by warp shuffles: " : "; ") + described(kernel, steps);
  return choice;
}

} // namespace ptxasw::passes
