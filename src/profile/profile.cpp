// Times of several runs as one, and what two versions of a shape tell.
#include "profile/profile.hpp"

#include <algorithm>
#include <tuple>

namespace ptxasw::profile {
namespace {

using std::uint64_t;

uint64_t product(const std::array<unsigned, 3>& sizes) {
  return uint64_t{sizes[0]} * sizes[1] * sizes[2];
}

void add(Time& sum, const Time& more) {
  if (more.samples == 0) return;
  const uint64_t samples = sum.samples + more.samples;
  const auto share = static_cast<double>(more.samples) / static_cast<double>(samples);
  sum.least = sum.samples == 0 ? more.least : std::min(sum.least, more.least);
  sum.mean += share * (more.mean - sum.mean);
  sum.samples = samples;
}

void add(Shape& sum, const Shape& more) {
  if (more.launches > sum.launches) sum.chosen = more.chosen;
  sum.launches += more.launches;
  for (const auto& [name, time] : more.versions)
    add(sum.versions[name], time);
}

void add(Kernel& sum, const Kernel& more) {
  sum.launches += more.launches;
  sum.cooperative += more.cooperative;
  for (const Shape& shape : more.shapes) {
    const auto key = [](const Shape& s) { return std::tie(s.grid, s.block, s.shared); };
    const auto known = std::ranges::find_if(
        sum.shapes, [&](const Shape& other) { return key(other) == key(shape); });
    if (known == sum.shapes.end())
      sum.shapes.push_back(shape);
    else
      add(*known, shape);
  }
}

} // namespace

uint64_t Shape::threads() const {
  return product(grid) * product(block);
}

uint64_t Kernel::all_launches() const {
  uint64_t sum = launches + cooperative;
  for (const Shape& shape : shapes)
    sum += shape.launches;
  return sum;
}

double time_as_it_is(const Shape& shape) {
  const auto time = shape.versions.find(baseline_of(shape));
  return time == shape.versions.end() ? 0 : time->second.least;
}

double gain_of(const Shape& shape, std::string_view name) {
  const auto before = shape.versions.find(baseline_of(shape)), after = shape.versions.find(name);
  if (before == shape.versions.end() || after == shape.versions.end()) return 0;
  if (before->second.samples == 0 || after->second.samples == 0) return 0;
  // The least times: launches wait for each other now and then.
  return after->second.least > 0 ? before->second.least / after->second.least : 0;
}

std::string_view baseline_of(const Shape& shape) {
  return shape.versions.contains("original") ? "original" : "standard";
}

tl::expected<Profile, std::string> merged(std::span<const Profile> runs) {
  if (runs.empty()) return Profile{.runs = 0};
  Profile sum{.chip = runs.front().chip, .runs = 0};
  std::map<std::pair<std::string, uint64_t>, std::size_t> places;
  for (const Profile& run : runs) {
    if (run.chip != sum.chip)
      return tl::unexpected("one is of " + sum.chip.name + " (" + sum.chip.architecture +
                            "), one of " + run.chip.name + " (" + run.chip.architecture +
                            "): two chips do not mix");
    sum.runs += run.runs;
    for (const Kernel& kernel : run.kernels) {
      const auto [place, is_new] =
          places.try_emplace({kernel.name, kernel.text}, sum.kernels.size());
      if (is_new) sum.kernels.push_back({.name = kernel.name, .text = kernel.text});
      add(sum.kernels[place->second], kernel);
    }
  }
  return sum;
}

} // namespace ptxasw::profile
