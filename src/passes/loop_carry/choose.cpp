// What the loops of a kernel may save, counted in cycles of the load/store pipe.
#include "passes/loop_carry/choose.hpp"

#include "passes/loop_carry/emit.hpp"
#include "passes/shared/access_pattern.hpp"
#include "passes/shared/pair.hpp"
#include "passes/shared/register_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;

namespace {

// Cycles of the load/store pipe, by event. Loads of one address in a block that nothing can change
// are counted once: ptxas does them once.
std::vector<double> cycles_of(Kernel& kernel, const target::Profile& profile) {
  AxisPolynomial relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
  std::set<std::tuple<analysis::BlockId, sym::Term, unsigned>> known;
  std::vector<double> result;
  for (const Event& event : kernel.trace.events) {
    double& cycles = result.emplace_back(0);
    if (event.kind == EventKind::clobber) continue;
    const auto bytes = static_cast<unsigned>(size_of(event));
    if (event.read_only && !known.emplace(event.block, event.address, bytes).second) continue;
    cycles = target::access_cycles(profile,
                                   candidate(access_pattern(event, relaxed.stride(event.address))));
  }
  return result;
}

LoopCarryWork work_of(const Kernel& kernel, const CarriedLoop& loop,
                      const std::vector<double>& all) {
  LoopCarryWork work;
  double saved = 0;
  for (std::size_t e = 0; e < kernel.trace.events.size(); ++e) {
    const Event& event = kernel.trace.events[e];
    if (event.block != loop.block || all[e] == 0) continue;
    const double cycles = all[e];
    work.before += cycles;
    if (std::ranges::find(loop.loads, e, &Carried::event) == loop.loads.end()) continue;
    saved += cycles;
    ++work.loads;
    work.wide |= size_of(event) > 4;
    for (const ptx::Arg& reg : kernel.body.dst(kernel.body.insts[event.inst]))
      work.registers += analysis::register_units(kernel.body.registers[reg.id].type);
  }
  for (const Carried& carried : loop.loads)
    work.checked |= !carried.checks.empty();
  work.after = work.before - saved;
  return work;
}

// A trip of each loop, without those that hold others. What a compiler has unrolled has a loop for
// the rest beside it, of which little comes.
double iterations_of_all(const Kernel& kernel, const std::vector<double>& cycles) {
  double sum = 0;
  for (std::size_t e = 0; e < cycles.size(); ++e)
    if (kernel.loops.innermost[kernel.trace.events[e].block] != ~0U) sum += cycles[e];
  return sum;
}

std::string place(const Kernel& kernel, const CarriedLoop& loop) {
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

} // namespace

LoopCarryChoice choose_carried_loops(Kernel& kernel, sym::Solver& solver, LoopCarryMode mode,
                                     std::string_view architecture,
                                     const JustificationOptions& options) {
  if (mode == LoopCarryMode::none) return {};
  LoopCarryChoice choice{.plan = find_carried_loops(kernel, solver, options)};
  const target::Profile* profile = target::find_profile(architecture);
  std::vector<double> cycles;
  if (profile != nullptr && !choice.plan.loops.empty()) cycles = cycles_of(kernel, *profile);
  double saved = 0;
  std::string done, left;
  const Reason against = profile != nullptr ? Reason::gains_too_little : Reason::chip_unknown;
  std::erase_if(choice.plan.loops, [&](CarriedLoop& loop) {
    LoopCarryVerdict verdict;
    LoopCarryWork work;
    if (profile != nullptr)
      verdict = loop_carry_verdict(*profile, work = work_of(kernel, loop, cycles));
    else if (mode == LoopCarryMode::automatic)
      verdict.reason = fmt::format("nothing is known of {}", architecture);
    verdict.pays |= mode == LoopCarryMode::all;
    if (verdict.pays) saved += work.before - work.after;
    std::string& text = verdict.pays ? done : left;
    std::string number =
        verdict.pays ? fmt::format(", {} loads carried", loop.loads.size()) : "would not pay";
    if (!text.empty()) text += "; ";
    text += fmt::format("{}{}{}{}{}", place(kernel, loop), verdict.pays ? "" : ": ", number,
                        verdict.reason.empty() ? "" : ", ", verdict.reason);
    return !verdict.pays;
  });
  if (mode == LoopCarryMode::automatic && !choice.plan.loops.empty()) {
    const double before = iterations_of_all(kernel, cycles);
    if (before < profile->rotate_margin * (before - saved)) {
      choice.plan.loops.clear();
      left = fmt::format("the accesses of all its loops would only go from {:.1f} to {:.1f} cycles "
                         "an iteration",
                         before, before - saved);
    }
  }
  if (!choice.plan.loops.empty()) {
    choice.outcome = {Status::done, Reason::none, "rotated: " + done};
  } else {
    const Why why = left.empty() ? most_frequent(choice.plan.kept) : Why{against, left};
    choice.outcome = {Status::refused, why.reason, "not rotated: " + why.text};
  }
  return choice;
}

std::vector<ptx::Edit> rotated(const Kernel& kernel, LoopCarryPlan& plan,
                               const LoopCarryCandidate& way) {
  for (CarriedLoop& loop : plan.loops)
    loop.iterations = loop.again.empty() ? 1 : std::max(way.iterations, 1U);
  std::vector<ptx::Edit> edits = rotate(kernel, plan);
  if (edits.empty()) return edits;
  if (auto limit = register_limit(kernel.body, way.registers)) edits.push_back(std::move(*limit));
  return edits;
}

} // namespace ptxasw::passes
