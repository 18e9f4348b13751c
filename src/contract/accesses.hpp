// What a warp's accesses to global memory touch, by how its threads lie: enough for a launcher,
// which knows the block, to say how many sectors of 32 bytes a warp of the original fetches and how
// many one of an entry that puts its threads in another order.
//
// Strides are those of index arithmetic that does not wrap, as in src/target: an estimate, on which
// no result hangs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::contract {

// Bytes between threads that is not known, or hangs on the launch: a sector for each.
inline constexpr std::int64_t far_apart = INT64_MAX;

// The largest distance that is one, and what of an access is counted at most.
inline constexpr std::int64_t farthest = std::int64_t{1} << 40;
inline constexpr unsigned most_alike = 1U << 16, widest_access = 64;

struct Access {
  unsigned count = 1; // so many alike
  unsigned bytes = 4; // of one thread
  // From a thread to the next along x, y and z, over the whole launch.
  std::array<std::int64_t, 3> along{};
  friend bool operator==(const Access&, const Access&) = default;
};

// How many threads of a warp lie along x, y and z.
using Lanes = std::array<unsigned, 3>;
inline constexpr unsigned warp_lanes = 32;

// Of a block of this size, as it is.
[[nodiscard]] Lanes lanes_of(const std::array<unsigned, 3>& block);

// Of an entry whose warps take so many rows along an axis, of as many blocks as that needs: those
// of this grid may have fewer.
struct Rows {
  unsigned count = 0; // 0: warps lie as in the original
  unsigned axis = 1;
  friend bool operator==(const Rows&, const Rows&) = default;
};
[[nodiscard]] Lanes lanes_of(const Rows& rows, const std::array<unsigned, 3>& grid,
                             const std::array<unsigned, 3>& block);

// Of all accesses of one warp: the axis that saves most is followed, the others add up.
[[nodiscard]] double sectors_of(const std::vector<Access>& accesses, const Lanes& lanes);

} // namespace ptxasw::contract
