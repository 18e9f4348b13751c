// Counted in sectors of one warp that begins where a sector does.
#include "contract/accesses.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ptxasw::contract {
namespace {

constexpr double sector_bytes = 32;

double rounded_up(double bytes) {
  return std::max(1.0, static_cast<double>(
                           static_cast<std::int64_t>((bytes + sector_bytes - 1) / sector_bytes)));
}

// Sectors of `lanes` threads, each `stride` from the one before, that begin with a sector.
double sectors_along(std::int64_t stride, unsigned bytes, unsigned lanes) {
  const double each = rounded_up(bytes);
  if (stride == far_apart) return lanes * each;
  const double distance = std::abs(static_cast<double>(stride));
  return std::min(lanes * each, rounded_up((lanes - 1) * distance + bytes));
}

} // namespace

Lanes lanes_of(const std::array<unsigned, 3>& block) {
  Lanes lanes{1, 1, 1};
  unsigned left = warp_lanes;
  for (std::size_t axis = 0; axis < lanes.size(); ++axis) {
    lanes[axis] = std::clamp(block[axis], 1U, left);
    left = std::max(left / lanes[axis], 1U);
  }
  return lanes;
}

Lanes lanes_of(const Rows& rows, const std::array<unsigned, 3>& grid,
               const std::array<unsigned, 3>& block) {
  if (rows.count == 0) return lanes_of(block);
  const unsigned of_block = std::max(block[rows.axis], 1U);
  const unsigned blocks = std::min((rows.count - 1) / of_block + 1, grid[rows.axis]);
  Lanes lanes{1, 1, 1};
  lanes[rows.axis] = std::clamp(blocks * of_block, 1U, warp_lanes);
  lanes[0] = std::clamp(warp_lanes / lanes[rows.axis], 1U, std::max(block[0], 1U));
  return lanes;
}

double sectors_of(const std::vector<Access>& accesses, const Lanes& lanes) {
  double sum = 0;
  for (const Access& access : accesses) {
    const double all = 1.0 * lanes[0] * lanes[1] * lanes[2];
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < lanes.size(); ++axis)
      least = std::min(least, sectors_along(access.along[axis], access.bytes, lanes[axis]) * all /
                                  lanes[axis]);
    sum += access.count * least;
  }
  return sum;
}

} // namespace ptxasw::contract
