// The best version along each axis, blocks of other shapes, and of each what it gains.
#include "manager/version_candidates.hpp"

#include "passes/coarsen/cost/launched.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace ptxasw::manager {

using contract::Kind;
using contract::Rest;
using contract::Variant;

namespace {

constexpr std::array<unsigned, 5> block_sizes{64, 128, 256, 512, 1024};
constexpr std::array<unsigned, 3> copy_counts{2, 4, 8};
// Blocks of another shape that a launcher may try, of kernels that ask for their place along one,
// two or three axes.
constexpr std::array<std::array<unsigned, 3>, 4> lines{
    {{128, 0, 0}, {256, 0, 0}, {512, 0, 0}, {1024, 0, 0}}};
constexpr std::array<std::array<unsigned, 3>, 6> planes{
    {{128, 1, 0}, {256, 1, 0}, {512, 1, 0}, {32, 4, 0}, {32, 8, 0}, {64, 8, 0}}};
constexpr std::array<std::array<unsigned, 3>, 6> boxes{
    {{128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {32, 8, 1}, {32, 4, 4}, {1, 2, 64}}};

// "block:32x8x1"
std::string name_of_block(const std::array<unsigned, 3>& block) {
  return fmt::format("block:{}x{}x{}", block[0], std::max(block[1], 1U), std::max(block[2], 1U));
}

// With what it gains in launches of all blocks and sizes.
VersionCandidate version_of(const target::Profile& profile, const CoarsenBaseline& original,
                            const CoarsenCandidate& candidate, double believed) {
  using numbers::variants::usual_threads;
  using numbers::variants::usual_waves;
  VersionCandidate version{.how = candidate.how, .gains = {}};
  version.how.least_threads = 0;
  for (const unsigned threads : block_sizes) {
    contract::Gain& gain = version.gains.emplace_back(contract::Gain{.threads = threads});
    for (std::size_t n = 0; n < contract::waves.size(); ++n) {
      const double waves = contract::waves[n];
      gain.by_waves[n] =
          believed * passes::launched_gain(profile, original, candidate, threads, waves);
      version.best = std::max(version.best, gain.by_waves[n]);
      if (threads >= usual_threads && waves >= usual_waves) version.usual += gain.by_waves[n];
    }
  }
  return version;
}

// What a launcher counts on: less than that of many copies, and where that is too little the kernel
// as it is (launch/choose/model.cpp).
double counted(const VersionCandidate& version, double gain) {
  namespace launch = numbers::launch;
  if (version.how.copies() >= launch::many_copies)
    gain /= version.how.factors[0] > 1 ? launch::worth_many_along_x : launch::worth_many;
  return gain < launch::worth_it_small ? 1 : gain;
}

// In launches of usual blocks one of the others is never much worse. Those along other axes are
// for other grids.
bool is_dominated(const VersionCandidate& version, const std::vector<VersionCandidate>& versions) {
  for (std::size_t n = 0; n < version.gains.size(); ++n) {
    if (version.gains[n].threads < numbers::variants::usual_threads) continue;
    for (std::size_t k = 0; k < contract::waves.size(); ++k) {
      double best = 0;
      for (const VersionCandidate& other : versions) {
        bool alike = &other != &version;
        for (unsigned axis = 0; axis < 3; ++axis)
          alike &= (other.how.factors[axis] > 1) == (version.how.factors[axis] > 1);
        if (alike) best = std::max(best, counted(other, other.gains[n].by_waves[k]));
      }
      if (counted(version, version.gains[n].by_waves[k]) > numbers::variants::least_lead * best)
        return false;
    }
  }
  return true;
}

// Of the most copies first: these are the longest.
void drop_dominated(std::vector<VersionCandidate>& versions) {
  for (std::size_t n = versions.size(); n-- > 0;)
    if (is_dominated(versions[n], versions))
      versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(n));
}

} // namespace

std::vector<VersionCandidate> best_candidates(const target::Profile& profile,
                                              const passes::CoarsenChoices& choices) {
  CoarsenBaseline original = choices.original;
  const double believed = choices.in_order ? numbers::variants::in_order : 1;
  original.bounded = true; // the launcher asks the driver whether a block launches
  struct Pair {
    VersionCandidate somewhere, usually;
  };
  std::map<unsigned, Pair> best;
  VersionCandidate beside_x; // for grids of one block along x
  for (const CoarsenCandidate& candidate : choices.candidates) {
    const unsigned copies = candidate.how.copies();
    if (std::ranges::find(copy_counts, copies) == copy_counts.end()) continue;
    if (!passes::why_not(original, candidate).empty()) continue;
    const VersionCandidate version = version_of(profile, original, candidate, believed);
    if (version.best <= numbers::variants::least_gain) continue;
    auto& [somewhere, usually] = best[copies];
    if (version.how.factors[0] == 1 && version.best > beside_x.best) beside_x = version;
    if (version.best > somewhere.best) somewhere = version;
    if (version.usual > usually.usual) usually = version;
  }
  std::vector<VersionCandidate> result;
  for (auto& [copies, pair] : best) {
    const bool alike = pair.usually.how.factors == pair.somewhere.how.factors;
    result.push_back(std::move(pair.somewhere));
    if (!alike) result.push_back(std::move(pair.usually));
  }
  const auto along_x = [](const VersionCandidate& version) { return version.how.factors[0] > 1; };
  if (beside_x.best > 0 && std::ranges::all_of(result, along_x))
    result.push_back(std::move(beside_x));
  drop_dominated(result);
  return result;
}

std::optional<Asked> asked_gains(const oracle::Changed& kernel, const target::Profile& profile) {
  if (!kernel.merged_from) return std::nullopt;
  const double held = static_cast<double>(profile.processors) * profile.threads_per_sm;
  contract::Gain standard{.threads = block_sizes.front()}, original = standard;
  for (std::size_t n = 0; n < contract::waves.size(); ++n) {
    const bool is_small = contract::waves[n] * held < static_cast<double>(*kernel.merged_from);
    standard.by_waves[n] = is_small ? numbers::variants::asked_for_size : 1;
    original.by_waves[n] = is_small ? 1 : 0;
  }
  return Asked{{standard}, {original}};
}

std::vector<contract::Gain> gains_of_standard(const oracle::Changed& kernel,
                                              const target::Profile& profile) {
  if (auto asked = asked_gains(kernel, profile)) return std::move(asked->standard);
  contract::Gain usual{.threads = block_sizes.front()};
  usual.by_waves.fill(numbers::variants::standard);
  return {usual};
}

std::vector<Variant> shapes_of(const std::array<bool, 3>& axes) {
  std::vector<Variant> shapes;
  const auto add = [&](std::array<unsigned, 3> block) {
    if (!axes[1] && axes[2]) std::swap(block[1], block[2]);
    shapes.push_back({.name = name_of_block(block),
                      .kind = Kind::reshaped,
                      .rest = Rest::reshaped,
                      .block = block,
                      .gains = {}});
  };
  if (axes[1] && axes[2])
    std::ranges::for_each(boxes, add);
  else if (axes[1] || axes[2])
    std::ranges::for_each(planes, add);
  else
    std::ranges::for_each(lines, add);
  return shapes;
}

} // namespace ptxasw::manager
