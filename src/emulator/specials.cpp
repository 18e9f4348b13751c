// Bounds from the PTX ISA (chapter 10) and from the compute-capability limits that hold for every
// GPU: at most 1024 threads a block, 1024 along x and y, 64 along z; grids of at most 2^31-1 blocks
// along x, 65535 along y and z.
#include "emulator/specials.hpp"

#include "analysis/uniformity.hpp"
#include "emulator/emulate.hpp"

namespace ptxasw::emulator {

namespace {

struct Bounds {
  std::uint64_t lo = 0, hi = ~std::uint64_t{0};
};

Bounds bounds_of(ptx::Special id, std::array<std::uint32_t, 3> shape) {
  using enum ptx::Special;
  const auto below = [](std::uint32_t known, std::uint32_t limit) {
    return Bounds{0, (known != 0 ? known : limit) - 1};
  };
  switch (id) {
  case tid_x: return below(shape[0], 1024);
  case tid_y: return below(shape[1], 1024);
  case tid_z: return below(shape[2], 64);
  case ntid_x:
  case ntid_y: return {1, 1024};
  case ntid_z: return {1, 64};
  case ctaid_x: return {0, 0x7ffffffe};
  case ctaid_y:
  case ctaid_z: return {0, 65534};
  case nctaid_x: return {1, 0x7fffffff};
  case nctaid_y:
  case nctaid_z: return {1, 65535};
  case laneid: return {0, 31};
  default: return {};
  }
}

std::uint64_t known_value(ptx::Special id, std::array<std::uint32_t, 3> shape) {
  using enum ptx::Special;
  switch (id) {
  case ntid_x: return shape[0];
  case ntid_y: return shape[1];
  case ntid_z: return shape[2];
  case warp_size: return 32;
  default: return 0;
  }
}

} // namespace

bool fixed_while_running(ptx::Special id) {
  using enum ptx::Special;
  return !ptx::is_clock(id) && id != smid && id != nsmid && id != warpid && id != nwarpid &&
         id != other;
}

sym::Term special_value(sym::Context& context, ptx::Special id,
                        std::array<std::uint32_t, 3> shape) {
  const ptx::SpecialInfo& info = ptx::info(id);
  if (const std::uint64_t known = known_value(id, shape))
    return context.constant(info.width, known);
  const Bounds bounds = bounds_of(id, shape);
  if (bounds.lo == bounds.hi) return context.constant(info.width, bounds.lo);
  return context.atom({.name = std::string(info.name),
                       .width = info.width,
                       .uniformity = static_cast<sym::Uniformity>(analysis::uniformity_of(id)),
                       .kind = static_cast<std::uint32_t>(AtomKind::special),
                       .tag = static_cast<std::uint32_t>(id),
                       .lo = bounds.lo,
                       .hi = bounds.hi});
}

} // namespace ptxasw::emulator
