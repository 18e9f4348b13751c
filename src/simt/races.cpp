// One record per byte, in pages made as they are touched.
#include "simt/races.hpp"

namespace ptxasw::simt {

namespace {

bool same_thread(const Races::Thread& a, const Races::Thread& b) {
  return a.block == b.block && a.number == b.number;
}

bool in_order(const Races::Thread& before, const Races::Thread& now) {
  if (before.block != now.block) return false;
  if (before.number == now.number || before.block_epoch != now.block_epoch) return true;
  return before.number / 32 == now.number / 32 && before.warp_epoch != now.warp_epoch;
}

} // namespace

std::optional<Races::Thread> Races::access(std::uint64_t space, std::uint64_t address,
                                           std::uint64_t bytes, const Thread& thread, bool writes,
                                           bool ordered) {
  std::optional<Thread> found;
  const auto check = [&](const Touch& before) {
    if (before.valid && !(before.ordered && ordered) && !in_order(before.thread, thread))
      found = before.thread;
  };
  for (std::uint64_t at = address; at < address + bytes; ++at) {
    auto& page = pages_[(space << 40) ^ (at / page_bytes)];
    if (!page) page = std::make_unique<Page>();
    Cell& cell = (*page)[at % page_bytes];
    check(cell.write);
    if (writes) {
      check(cell.read);
      check(cell.other_read);
      cell = {{thread, true, ordered}, {}, {}};
      continue;
    }
    if (cell.read.valid && !same_thread(cell.read.thread, thread)) cell.other_read = cell.read;
    cell.read = {thread, true, ordered};
  }
  return found;
}

} // namespace ptxasw::simt
