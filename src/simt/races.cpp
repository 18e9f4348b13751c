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
                                           std::uint64_t bytes, const Thread& thread, Kind kind) {
  const bool writes = kind == Kind::write || kind == Kind::ordered_write;
  const bool ordered = kind == Kind::ordered_read || kind == Kind::ordered_write;
  const bool constant = kind == Kind::constant_read;
  std::optional<Thread> found;
  const auto check = [&](const Touch& before, bool at_any_time = false) {
    if (!before.valid || (before.ordered && ordered)) return;
    if (at_any_time || !in_order(before.thread, thread)) found = before.thread;
  };
  for (std::uint64_t at = address; at < address + bytes; ++at) {
    auto& page = pages_[(space << 40) ^ (at / page_bytes)];
    if (!page) page = std::make_unique<Page>();
    Cell& cell = (*page)[at % page_bytes];
    const Touch now{thread, true, ordered};
    check(cell.write, constant);
    if (constant) cell.constant_read = now;
    if (writes) {
      check(cell.read);
      check(cell.other_read);
      check(cell.constant_read, true);
      cell.write = now;
      cell.read = cell.other_read = {};
    } else {
      if (cell.read.valid && !same_thread(cell.read.thread, thread)) cell.other_read = cell.read;
      cell.read = now;
    }
  }
  return found;
}

} // namespace ptxasw::simt
