// The gain model: cycles of the load/store pipe before and after.
#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ptxasw::target {
namespace {

// Whether it pays hangs on the launch.
bool depends_on_stride(const ShuffleCandidate& candidate) {
  return candidate.lane == Lane::parametric && !candidate.far_apart;
}

// Lines per request of `lanes` lanes. A parametric stride is that of an array, which may be one
// word wide, unless lanes are promised to be far apart. Of an address that is not affine only what
// the sector range promises is known.
double lines_touched(const ShuffleCandidate& candidate, unsigned lanes) {
  const double sectors_per_line = static_cast<double>(line_bytes) / sector_bytes;
  const double share = static_cast<double>(lanes) / warp_lanes;
  const double fewest = std::max(1.0, candidate.sectors.least / sectors_per_line * share);
  const double most = std::max(fewest, static_cast<double>(candidate.sectors.most));
  if (candidate.lane_stride) {
    const Request request{*candidate.lane_stride, candidate.bytes, lanes};
    return std::clamp(lines(request).middle(), fewest, most);
  }
  if (candidate.lane == Lane::parametric && candidate.far_apart)
    return std::clamp<double>(lanes, fewest, most);
  return fewest;
}

double shuffle_cycles(const Profile& profile, const ShuffleCandidate& candidate) {
  if (candidate.delta == 0) return 0; // a register move, which ptxas mostly removes
  const auto corner_lanes = static_cast<unsigned>(
      std::min<long>(std::abs(static_cast<long>(candidate.delta)), warp_lanes));
  const unsigned words = std::max(1U, (candidate.bytes + 3) / 4);
  return words * profile.shuffle.cycles + profile.guard.cycles + profile.corner.cycles +
         (lines_touched(candidate, corner_lanes) - 1) * profile.line.cycles;
}

std::string_view provenance(const Profile& profile) {
  return profile.measured() ? "measured" : "estimated";
}

std::string reason(const Profile& profile, const Verdict& verdict, double lines) {
  std::string numbers =
      fmt::format("the load costs {:.1f} cycles ({:.3g} line{}), a guarded shuffle {:.1f} ({}, {})",
                  verdict.load_cycles, lines, lines == 1 ? "" : "s", verdict.shuffle_cycles,
                  profile.architecture, provenance(profile));
  if (verdict.pays) return numbers;
  return "would not pay: " + numbers + "; --shuffle=all takes it anyway";
}

} // namespace

double access_cycles(const Profile& profile, const ShuffleCandidate& access) {
  return profile.load.cycles + (lines_touched(access, warp_lanes) - 1) * profile.line.cycles;
}

bool kernel_pays(const Profile& profile, double cycles_before, double cycles_after) {
  return cycles_before >= profile.kernel_margin * cycles_after;
}

Verdict shuffle_verdict(const Profile& profile, const ShuffleCandidate& candidate) {
  Verdict verdict;
  verdict.load_cycles = access_cycles(profile, candidate);
  verdict.shuffle_cycles = shuffle_cycles(profile, candidate);
  verdict.pays = verdict.load_cycles >= profile.margin * verdict.shuffle_cycles;
  verdict.reason = candidate.delta == 0 ? "the value is in a register of the same lane"
                   : depends_on_stride(candidate)
                       ? "it pays only where lanes lie far apart, and how far is known at run time "
                         "only; --shuffle=columns takes it"
                       : reason(profile, verdict, lines_touched(candidate, warp_lanes));
  return verdict;
}

Verdict shuffle_verdict(std::string_view architecture, const ShuffleCandidate& candidate) {
  if (const Profile* profile = find_profile(architecture))
    return shuffle_verdict(*profile, candidate);
  Verdict verdict;
  verdict.reason = fmt::format("no cost profile for {}; --shuffle=all takes it anyway",
                               architecture.empty() ? "this target" : architecture);
  return verdict;
}

} // namespace ptxasw::target
