// Every size is tried: there are 32 of them in warps.
#include "target/residency.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::target {

namespace {

using namespace numbers::sm;
constexpr unsigned lanes = 32, most_registers = 255, unit = lanes * register_unit;
constexpr std::array reserved{0U, shared_of_driver}; // for each block: up to sm_75, since

unsigned blocks_with_shared(unsigned bytes, unsigned of_driver, unsigned shared_per_sm) {
  if (bytes == 0) return most_blocks;
  return shared_per_sm /
         ((bytes + coarse_shared_unit - 1) / coarse_shared_unit * coarse_shared_unit + of_driver);
}

// A size that is no multiple of a warp takes the room of the next one that is.
template <class Condition> unsigned first_size(const BlockSizes& sizes, const Condition& holds) {
  for (unsigned threads = sizes.least; threads < sizes.most + lanes; threads += lanes)
    if (const unsigned size = std::min(threads, sizes.most); holds(size)) return size;
  return 0;
}

} // namespace

unsigned resident_blocks(unsigned registers, unsigned threads) {
  const unsigned of_warp = std::max((registers * lanes + unit - 1) / unit, 1U) * unit;
  const unsigned warps = std::max((threads + lanes - 1) / lanes, 1U);
  return std::min(
      {partitions * (registers_of_partition / of_warp) / warps, most_warps / warps, most_blocks});
}

unsigned allocated_registers(unsigned registers) {
  return std::max(1U, (registers + register_unit - 1) / register_unit) * register_unit;
}

unsigned resident_warps(const Profile& profile, unsigned registers, unsigned threads) {
  const unsigned block = std::max(lanes, threads);
  const unsigned blocks =
      std::min({profile.threads_per_sm / block,
                profile.registers_per_sm / (allocated_registers(registers) * block), most_blocks});
  return std::max(1U, blocks) * (block / lanes);
}

unsigned block_that_loses(unsigned before, unsigned after, const BlockSizes& sizes) {
  if (after <= before) return 0;
  return first_size(sizes, [&](unsigned size) {
    return resident_blocks(after, size) < resident_blocks(before, size);
  });
}

unsigned block_that_loses(const Taken& before, const Taken& after, const BlockSizes& sizes,
                          unsigned shared_per_sm) {
  if (after.shared <= before.shared)
    return block_that_loses(before.registers, after.registers, sizes);
  if (shared_per_sm == 0) return std::max(sizes.least, 1U);
  return first_size(sizes, [&](unsigned size) {
    return std::ranges::any_of(reserved, [&](unsigned of_driver) {
      const auto held = [&](const Taken& taken) {
        return std::min(resident_blocks(taken.registers, size),
                        blocks_with_shared(taken.shared, of_driver, shared_per_sm));
      };
      return held(after) < held(before);
    });
  });
}

unsigned block_that_fails(unsigned before, unsigned after, const BlockSizes& sizes) {
  return first_size(sizes, [&](unsigned size) {
    return resident_blocks(before, size) != 0 && resident_blocks(after, size) == 0;
  });
}

unsigned registers_that_keep_blocks(unsigned before, const BlockSizes& sizes) {
  unsigned registers = before;
  while (registers < most_registers && block_that_loses(before, registers + 1, sizes) == 0)
    ++registers;
  return registers;
}

bool needs_more_memory(const Usage& after, const Usage& before) {
  return after.stack > before.stack || after.spill_stores > before.spill_stores ||
         after.spill_loads > before.spill_loads;
}

} // namespace ptxasw::target
