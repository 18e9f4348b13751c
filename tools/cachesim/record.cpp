// Runs a kernel and writes down its accesses to global memory.
#include "cachesim/record.hpp"

#include <fmt/format.h>

namespace ptxasw::cachesim {

tl::expected<Recording, std::string> record(const simt::Program& program, simt::Launch launch,
                                            simt::Memory& memory, std::uint64_t most) {
  const simt::Dim3 grid = launch.grid, block = launch.block;
  Recording result;
  result.threads = {.grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}};
  const std::uint64_t in_block = block.count();
  if (in_block > most || grid.count() > most || grid.count() * in_block > most)
    return tl::make_unexpected(fmt::format("the launch has more than {} threads", most));
  result.stream.resize(grid.count() * in_block);
  std::uint64_t made = 0;
  launch.observer = [&](const simt::Access& access) {
    if (access.space != ptx::Space::global || made > most) return;
    const std::uint64_t at =
        access.block.x + grid.x * (access.block.y + std::uint64_t{grid.y} * access.block.z);
    const std::uint64_t first = at * in_block + std::uint64_t{access.warp} * simt::warp_size;
    for (unsigned lane = 0; lane < simt::warp_size; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      ++made;
      const bool store = access.kind == simt::Access::Kind::store;
      result.stream[first + lane].push_back({access.addresses[lane], access.bytes, store});
    }
  };
  const simt::Result run = simt::run(program, launch, memory);
  if (!run.ok())
    return tl::make_unexpected(fmt::format("{}: {}", simt::name(run.status), run.message));
  if (made > most)
    return tl::make_unexpected(
        fmt::format("the launch makes more than {} accesses; a smaller one shows as much", most));
  return result;
}

} // namespace ptxasw::cachesim
