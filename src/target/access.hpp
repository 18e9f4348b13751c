// What one load or store of a warp asks of the memory system: how many 32-byte sectors and
// 128-byte lines its lanes touch, and what kind of access that makes it. Pure arithmetic on the
// lane stride; the rest of the optimizer only brings the stride.
#pragma once

#include "ptxasw/report.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxasw::target {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned sector_bytes = 32; // what L1 asks of L2
inline constexpr unsigned line_bytes = 128;  // what one L1 tag stands for

// Fewest and most; the two are equal when the answer is exact.
struct Range {
  unsigned least = 0, most = 0;
  [[nodiscard]] constexpr bool exact() const { return least == most; }
  [[nodiscard]] constexpr double middle() const { return (least + most) / 2.0; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

// `lanes` lanes, lane l at address start + l * stride, each `bytes` wide.
struct Request {
  std::int64_t stride = 0;
  unsigned bytes = 4;
  unsigned lanes = warp_lanes;
};

// How many aligned granules (32: sectors, 128: lines, 1: bytes) the request touches when lane 0 is
// at `start` (only its remainder by the granule matters). Exact.
unsigned granules(const Request& request, std::uint64_t start, unsigned granule);

// The same over every start that is a multiple of `alignment`; 0 means the access width, which PTX
// demands of every address. An alignment of a granule or more gives an exact answer.
Range sectors(const Request& request, unsigned alignment = 0);
Range lines(const Request& request, unsigned alignment = 0);

// How the address depends on the lane.
enum class Lane : std::uint8_t {
  constant,   // affine in %tid.x with a stride known now
  parametric, // affine, but the stride is a parameter or another warp-uniform value
  unknown,    // not affine
};

struct Pattern {
  Lane lane = Lane::unknown;
  std::int64_t stride = 0; // bytes, when constant
  unsigned bytes = 4;      // width of the access
  std::optional<std::int64_t>
      iteration_stride; // bytes per trip of the innermost loop, if affine in it
};

// The first of these that holds:
//   uniform    constant stride 0: one address for the whole warp
//   coalesced  constant stride of +-width: the warp covers a contiguous run
//   strided    any other constant stride below a line (128 bytes): neighbours share lines
//   streaming  a line or more (or parametric) between lanes, but less than a sector (and not 0)
//              between trips of the innermost loop: each lane walks along its own row, and a sector
//              that one trip fetched serves the next ones
//   vertical   a line or more (or parametric) between lanes: every lane is in a line of its own
//   random     not affine in the lane
AccessClass classify(const Pattern& pattern);

// The sectors of a pattern: those of its stride when constant, else 1 to 32 times those of a lane.
Range sectors_of(const Pattern& pattern);

std::string_view name(AccessClass access);        // "coalesced"
std::string_view description(AccessClass access); // one sentence for people

} // namespace ptxasw::target
