// First each load by itself, then the kernel as a whole.
#include "passes/shuffle/choose.hpp"

#include "passes/shared/access_pattern.hpp"
#include "passes/shuffle/near_shuffles.hpp"
#include "target/access.hpp"
#include "target/numbers.hpp"
#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;

bool covers_any(const LanePlan& plan) {
  return std::ranges::any_of(plan.loads, [](const Load& load) { return load.cover.has_value(); });
}

void drop_shuffle(const Kernel& kernel, Load& load, const Why& why) {
  const ReuseSource& cover = *load.cover;
  const std::uint32_t line =
      ptx::line_of(kernel.body, kernel.body.insts[kernel.trace.events[cover.source].inst]);
  load.kept = {why.reason,
               fmt::format("lane {:+} of line {} has it, but {}", cover.delta, line, why.text)};
  load.cover.reset();
}

namespace {

double store_cycles(Kernel& kernel, const target::Profile& profile) {
  AxisPolynomial relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
  double cycles = 0;
  for (const Event& event : kernel.trace.events) {
    if (event.kind != EventKind::store) continue;
    const target::Pattern p = access_pattern(event, relaxed.stride(event.address));
    cycles += target::access_cycles(profile, candidate(p));
  }
  return cycles;
}

// Shuffles between lanes that lie near each other, in a kernel that keeps many of its loads: what
// they gain is so little that small launches lose (near_shuffles_pay). The cycles that are
// not saved then.
double drop_near(const Kernel& kernel, LanePlan& plan, std::string_view architecture) {
  const auto covered =
      std::ranges::count_if(plan.loads, [](const Load& load) { return load.cover.has_value(); });
  if (near_shuffles_pay(static_cast<double>(covered), static_cast<double>(plan.loads.size())))
    return 0;
  double lost = 0;
  for (Load& load : plan.loads) {
    if (!load.cover || load.cover->delta == 0) continue;
    const Event& event = kernel.trace.events[load.event];
    const target::ShuffleCandidate what = candidate(
        access_pattern(event, load.lane_stride, load.iteration_stride), load.cover->delta, false);
    if (!lanes_are_near(what)) continue;
    lost += target::shuffle_verdict(architecture, what).gain();
    drop_shuffle(
        kernel, load,
        {Reason::gains_too_little,
         fmt::format(
             "of {} loads only {} would be shuffles, between lanes less than {} bytes apart; "
             "--shuffle=columns takes it",
             plan.loads.size(), covered, numbers::shuffles::far_lanes)});
  }
  return lost;
}

} // namespace

bool shuffle_could_pay(const Kernel& kernel, const Load& load, int delta, ShuffleMode mode,
                       std::string_view architecture) {
  // The nearest lane that is another one is the one that costs least.
  const target::Profile* profile = target::find_profile(architecture);
  if (profile == nullptr || mode == ShuffleMode::none) return false;
  const Event& event = kernel.trace.events[load.event];
  const target::Pattern p = access_pattern(event, load.lane_stride, load.iteration_stride);
  const bool columns = mode == ShuffleMode::columns;
  return target::shuffle_pays(*profile, candidate(p, delta == 0 ? 0 : 1, columns));
}

void choose_shuffles(Kernel& kernel, LanePlan& plan, ShuffleMode mode,
                     std::string_view architecture) {
  const bool columns = mode == ShuffleMode::columns;
  if (!columns && mode != ShuffleMode::automatic) return; // none: the report shows what could be
  if (!covers_any(plan)) return;
  const target::Profile* profile = target::find_profile(architecture);
  double before = 0, saved = 0;
  for (Load& load : plan.loads) {
    const Event& event = kernel.trace.events[load.event];
    const target::Pattern p = access_pattern(event, load.lane_stride, load.iteration_stride);
    if (profile != nullptr) before += target::access_cycles(*profile, candidate(p));
    if (!load.cover) continue;
    const target::Verdict verdict =
        target::shuffle_verdict(architecture, candidate(p, load.cover->delta, columns));
    if (verdict.pays) {
      saved += verdict.gain();
    } else {
      drop_shuffle(
          kernel, load,
          {profile != nullptr ? Reason::gains_too_little : Reason::chip_unknown, verdict.reason});
    }
  }
  if (!columns) saved -= drop_near(kernel, plan, architecture);
  if (profile == nullptr) return;
  before += store_cycles(kernel, *profile);
  if (target::kernel_pays(*profile, before, before - saved)) return;
  for (Load& load : plan.loads) {
    if (!load.cover) continue;
    drop_shuffle(
        kernel, load,
        {Reason::gains_too_little,
         fmt::format("all accesses together would only go from {:.0f} to {:.0f} cycles a warp",
                     before, before - saved)});
  }
}

} // namespace ptxasw::passes
