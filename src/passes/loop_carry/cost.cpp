// Verdicts from cycles of accesses; ways from how long a value waits with the warps that fit.
#include "passes/loop_carry/cost.hpp"

#include "target/residency.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

LoopCarryVerdict loop_carry_verdict(const target::Profile& profile, const LoopCarryWork& work) {
  LoopCarryVerdict verdict;
  verdict.pays = !work.checked && !work.wide && work.before >= profile.rotate_margin * work.after &&
                 work.registers <= profile.rotate_registers;
  verdict.reason = fmt::format(
      "its accesses go from {:.1f} to {:.1f} cycles an iteration, in {} more "
      "registers{}{}",
      work.before, work.after, work.registers, work.checked ? ", with a check of its index" : "",
      work.wide ? ", of wide values" : "");
  return verdict;
}

unsigned loop_carry_limit(unsigned original, const std::optional<BlockSizes>& resident) {
  if (!resident) return target::registers_for_any_block;
  return std::min(target::registers_for_any_block,
                  target::registers_that_keep_blocks(original, *resident));
}

namespace {

constexpr unsigned small_block = 128; // which wastes the fewest registers

// Cycles of an SM for each value that a warp stores, were it to wait for nothing but its own
// instructions and loads. Its path is known.
double waiting(const target::Profile& profile, const Usage& usage) {
  const double warps = target::resident_warps(profile, usage.registers, small_block);
  return usage.path->latency / std::max(1U, usage.path->stores) / warps;
}

} // namespace

LoopCarryCandidate choose_buffers(const target::Profile& profile, const Usage& original,
                                  std::span<const LoopCarryTrial> trials) {
  const LoopCarryTrial* best = &trials.front();
  for (const LoopCarryTrial& trial : trials.subspan(1)) {
    if (!trial.usage || !trial.usage->path || target::needs_more_memory(*trial.usage, original))
      continue;
    if (!best->usage || !best->usage->path ||
        waiting(profile, *trial.usage) < waiting(profile, *best->usage))
      best = &trial;
  }
  return best->way;
}

} // namespace ptxasw::passes
