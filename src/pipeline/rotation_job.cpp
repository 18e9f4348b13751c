#include "pipeline/rotation_job.hpp"

#include "cost/rotation.hpp"
#include "pipeline/access_pattern.hpp"
#include "reuse/access_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ptxasw::pipeline {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;
using reuse::RotatedLoop;

namespace {

// Loads of one address that nothing can change are counted once: ptxas does them once.
cost::RotationWork work_of(Kernel& kernel, const RotatedLoop& loop, const cost::Profile& profile) {
  reuse::Relaxed relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
  cost::RotationWork work;
  std::set<std::pair<sym::Term, unsigned>> known;
  double saved = 0;
  for (std::size_t e = 0; e < kernel.trace.events.size(); ++e) {
    const Event& event = kernel.trace.events[e];
    if (event.block != loop.block || event.kind == EventKind::clobber) continue;
    const auto bytes = static_cast<unsigned>(reuse::size_of(event));
    if (event.read_only && !known.emplace(event.address, bytes).second) continue;
    const double cycles = cost::access_cycles(
        profile, candidate(access_pattern(event, relaxed.stride(event.address))));
    work.before += cycles;
    if (std::ranges::find(loop.loads, e, &reuse::Carried::event) == loop.loads.end()) continue;
    saved += cycles;
    ++work.loads;
    work.wide |= reuse::size_of(event) > 4;
    for (const ptx::Arg& reg : kernel.body.dst(kernel.body.insts[event.inst]))
      work.registers += analysis::register_units(kernel.body.registers[reg.id].type);
  }
  for (const reuse::Carried& carried : loop.loads)
    work.checked |= !carried.checks.empty();
  work.after = work.before - saved;
  return work;
}

std::string place(const Kernel& kernel, const RotatedLoop& loop) {
  const ptx::InstId first = kernel.cfg.blocks[loop.block].first;
  return fmt::format("the loop at line {}", ptx::line_of(kernel.body, kernel.body.insts[first]));
}

// The most frequent reason of the loads that stay.
Why most_frequent(const std::map<std::size_t, Why>& kept) {
  std::map<std::string_view, unsigned> counts;
  const Why* most = nullptr;
  for (const auto& [event, why] : kept)
    if (++counts[why.text] > (most == nullptr ? 0 : counts[most->text])) most = &why;
  return most == nullptr ? Why{Reason::no_loads, "no loop loads anything"} : *most;
}

// Trees are refused for their form, or by a module that has no shuffles.
Reason why_no_rounds(const Kernel& kernel) {
  const ptx::Module& module = *kernel.body.module;
  return module.version_major < 6 ? Reason::old_module : Reason::tree_form;
}

} // namespace

RotationChoice choose_rotations(Kernel& kernel, sym::Solver& solver, RotateMode mode,
                                unsigned trips, std::string_view architecture,
                                const reuse::GroundsOptions& options) {
  if (mode == RotateMode::none) return {};
  RotationChoice choice{.plan = reuse::find_rotations(kernel, solver, options)};
  const cost::Profile* profile = cost::find_profile(architecture);
  std::string done, left;
  const Reason against = profile != nullptr ? Reason::gains_too_little : Reason::chip_unknown;
  std::erase_if(choice.plan.loops, [&](RotatedLoop& loop) {
    if (!loop.again.empty()) loop.trips = std::max(trips, 1U);
    cost::RotationVerdict verdict;
    if (profile != nullptr)
      verdict = cost::rotation_verdict(*profile, work_of(kernel, loop, *profile));
    else if (mode == RotateMode::automatic)
      verdict.reason = fmt::format("nothing is known of {}", architecture);
    verdict.pays |= mode == RotateMode::all;
    std::string& text = verdict.pays ? done : left;
    std::string number =
        verdict.pays ? fmt::format(", {} loads carried", loop.loads.size()) : "would not pay";
    if (verdict.pays && loop.trips > 1) number += fmt::format(", {} trips at a time", loop.trips);
    if (!text.empty()) text += "; ";
    text += fmt::format("{}{}{}{}{}", place(kernel, loop), verdict.pays ? "" : ": ", number,
                        verdict.reason.empty() ? "" : ", ", verdict.reason);
    return !verdict.pays;
  });
  if (!choice.plan.loops.empty()) {
    choice.outcome = {Status::done, Reason::none, "rotated: " + done};
  } else {
    const Why why = left.empty() ? most_frequent(choice.plan.kept) : Why{against, left};
    choice.outcome = {Status::refused, why.reason, "not rotated: " + why.text};
  }
  return choice;
}

RoundsChoice choose_rounds(Kernel& kernel, sym::Solver& solver, RoundsMode mode,
                           std::string_view architecture,
                           const std::array<std::uint32_t, 3>& block) {
  const bool automatic = mode == RoundsMode::automatic;
  const bool known =
      cost::find_profile(architecture) != nullptr && kernel.body.module->version_major >= 6;
  if (mode == RoundsMode::none || (automatic && !known)) return {};
  RoundsChoice choice{.plan = reuse::find_rounds(kernel, solver)};
  if (std::erase_if(choice.plan.stretches,
                    [&](const reuse::Rounds& r) { return !reuse::fits(r, block); }) != 0)
    choice.plan.refused = "blocks are no rows of whole warps";
  // A tree that is unrolled saves all barriers of its stretch but one; with one less than three
  // rounds, what is asked in front costs about what is saved.
  if (automatic)
    std::erase_if(choice.plan.stretches, [](const reuse::Rounds& rounds) {
      return !rounds.rolled && rounds.barriers.size() < 3;
    });
  if (choice.plan.stretches.empty()) {
    const std::string& why = choice.plan.refused;
    if (automatic && why.empty()) return choice;
    choice.outcome = {Status::refused, why_no_rounds(kernel),
                      "not in registers: " + (why.empty() ? "no tree of a known form" : why)};
    return choice;
  }
  std::string& words = choice.outcome.text;
  choice.outcome.status = Status::done;
  for (const reuse::Rounds& rounds : choice.plan.stretches)
    words += fmt::format(
        "{} the {} at line {}", words.empty() ? "in registers:" : ",",
        rounds.grows    ? "rounds of a loop up to width 16"
        : rounds.rolled ? fmt::format("rounds of a loop from width {} on", rounds.first_width())
                        : fmt::format("rounds between {} barriers", rounds.barriers.size() + 1),
        ptx::line_of(kernel.body, kernel.body.insts[rounds.begin]));
  return choice;
}

} // namespace ptxasw::pipeline
