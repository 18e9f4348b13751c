// Counting the granules of a warp request. Lanes are walked in address order, so that each lane
// adds the granules beyond those its predecessor reached; 32 steps, no set.
#include "target/access.hpp"

#include <algorithm>
#include <numeric>

namespace ptxasw::target {
namespace {

std::uint64_t magnitude(std::int64_t stride) {
  // Beyond 4 GiB apart nothing is shared; the clamp keeps the products below from wrapping.
  const auto value =
      stride < 0 ? ~static_cast<std::uint64_t>(stride) + 1 : static_cast<std::uint64_t>(stride);
  return std::min(value, std::uint64_t{1} << 32);
}

// Walks lanes upwards from the lowest address. `reached` is the first granule not yet counted.
struct Walk {
  unsigned granule;
  unsigned count = 0;
  std::uint64_t reached = 0;

  void access(std::uint64_t address, unsigned bytes) {
    const std::uint64_t first = std::max(reached, address / granule);
    const std::uint64_t end = (address + bytes - 1) / granule + 1;
    if (end <= first) return;
    count += static_cast<unsigned>(end - first);
    reached = end;
  }
};

unsigned count_from_lowest(const Request& request, std::uint64_t lowest, unsigned granule) {
  const std::uint64_t stride = magnitude(request.stride), bytes = std::max(1U, request.bytes);
  if (stride <= bytes && request.lanes != 0) { // without gaps
    const std::uint64_t last = lowest + (request.lanes - 1) * stride + bytes - 1;
    return static_cast<unsigned>(last / granule - lowest / granule + 1);
  }
  Walk walk{granule};
  for (unsigned lane = 0; lane < request.lanes; ++lane)
    walk.access(lowest + lane * stride, static_cast<unsigned>(bytes));
  return walk.count;
}

Range over_starts(const Request& request, unsigned alignment, unsigned granule) {
  Range range{~0U, 0};
  const unsigned step = std::max(1U, alignment != 0 ? alignment : request.bytes);
  for (unsigned start = 0; start < granule; start += std::gcd(step, granule)) {
    const unsigned n = granules(request, start, granule);
    range = {std::min(range.least, n), std::max(range.most, n)};
  }
  return range;
}

} // namespace

unsigned granules(const Request& request, std::uint64_t start, unsigned granule) {
  if (request.lanes == 0 || granule == 0) return 0;
  if (request.stride >= 0) return count_from_lowest(request, start % granule, granule);
  // The lowest address belongs to the last lane.
  const std::uint64_t span = magnitude(request.stride) * (request.lanes - 1);
  return count_from_lowest(request, (start % granule + granule - span % granule) % granule,
                           granule);
}

Range sectors(const Request& request, unsigned alignment) {
  return over_starts(request, alignment, sector_bytes);
}

Range lines(const Request& request, unsigned alignment) {
  return over_starts(request, alignment, line_bytes);
}

AccessClass classify(const Pattern& pattern) {
  if (pattern.lane == Lane::unknown) return AccessClass::random;
  if (pattern.lane == Lane::constant) {
    const std::uint64_t stride = magnitude(pattern.stride);
    if (stride == 0) return AccessClass::uniform;
    if (stride == pattern.bytes) return AccessClass::coalesced;
    if (stride < line_bytes) return AccessClass::strided;
  }
  if (pattern.iteration_stride && *pattern.iteration_stride != 0 &&
      magnitude(*pattern.iteration_stride) < sector_bytes)
    return AccessClass::streaming;
  return AccessClass::vertical;
}

Range sectors_of(const Pattern& pattern) {
  if (pattern.lane == Lane::constant) return sectors({pattern.stride, pattern.bytes});
  const unsigned lane = std::max(1U, (pattern.bytes + sector_bytes - 1) / sector_bytes);
  return {lane, warp_lanes * lane};
}

std::string_view name(AccessClass access) {
  switch (access) {
  case AccessClass::uniform: return "uniform";
  case AccessClass::coalesced: return "coalesced";
  case AccessClass::strided: return "strided";
  case AccessClass::vertical: return "vertical";
  case AccessClass::streaming: return "streaming";
  case AccessClass::random: return "random";
  }
  return "random";
}

std::string_view description(AccessClass access) {
  switch (access) {
  case AccessClass::uniform: return "every lane reads the same address";
  case AccessClass::coalesced: return "the lanes cover one contiguous run";
  case AccessClass::strided: return "the lanes leave gaps but share lines";
  case AccessClass::vertical: return "every lane touches a line of its own";
  case AccessClass::streaming:
    return "every lane walks along a row of its own, iteration by iteration";
  case AccessClass::random: return "the address is not affine in the lane";
  }
  return "";
}

} // namespace ptxasw::target
