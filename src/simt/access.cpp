// Loads and stores: from lane addresses to bytes, with every check on the way.
#include "simt/engine.hpp"

#include "semantics/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ptxasw::simt {

namespace {

using ptx::Space;

constexpr std::uint64_t sector_bytes = 32;

// Distinct 32-byte sectors of a warp's request.
unsigned count_sectors(const std::array<std::uint64_t, warp_size>& addresses, std::uint32_t mask,
                       std::uint64_t bytes) {
  std::array<std::uint64_t, std::size_t{2} * warp_size>
      sectors; // no access is wider than one sector
  std::size_t count = 0;
  bool sorted = true;
  const auto add = [&](std::uint64_t sector) {
    if (count != 0 && sectors[count - 1] == sector) return;
    sorted = sorted && (count == 0 || sectors[count - 1] < sector);
    sectors[count++] = sector;
  };
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t first = addresses[lane] / sector_bytes;
    const std::uint64_t last = (addresses[lane] + bytes - 1) / sector_bytes;
    add(first);
    if (last != first) add(last);
  });
  if (sorted) return static_cast<unsigned>(count);
  const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(sectors.begin(), end);
  return static_cast<unsigned>(std::unique(sectors.begin(), end) - sectors.begin());
}

std::uint64_t read_bytes(const std::uint8_t* from, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes); // the host is little-endian, as the GPU is
  return value;
}

bool all_defined(const std::uint8_t* defined, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    if (defined[i] == 0) return false;
  return true;
}

} // namespace

// Fills addresses_ with the generic addresses of the active lanes.
bool Engine::addresses(const Warp& warp, const Operands& operands, const Ins& ins,
                       std::uint32_t mask) {
  if (!reject_undefined(warp, ins, operands.undefined_lanes(ins.address) & mask, "the address is"))
    return false;
  const std::uint64_t* base = operands.row(ins.address);
  const std::uint64_t window = sem::window_base(ins.space);
  const auto offset = static_cast<std::uint64_t>(ins.offset);
  const std::uint64_t bytes = std::uint64_t{ins.elements} * ins.element_bytes;
  std::uint32_t misaligned = 0;
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t address = base[lane] + offset;
    if ((address & (bytes - 1)) != 0) misaligned |= 1U << lane;
    addresses_[lane] = address + window;
  });
  if (misaligned == 0) return true;
  fail(Result::Status::undefined, warp, misaligned, ins,
       fmt::format("address {:#x} is not a multiple of {}", addresses_[lowest(misaligned)], bytes));
  return false;
}

std::optional<Bytes> Engine::reach(Warp& warp, const Frame& frame, const Ins& ins, Space space,
                                   unsigned lane, std::uint64_t address, std::uint64_t bytes,
                                   bool writes) {
  if (space == Space::generic || space == Space::global) {
    if (last_allocation_ != nullptr && last_allocation_->contains(address, bytes) &&
        (!writes || last_allocation_->writable)) {
      const std::uint64_t at = address - last_allocation_->base;
      return Bytes{&last_allocation_->data[at], &last_allocation_->defined[at]};
    }
    space = sem::space_of(address);
  }
  const std::uint64_t at = address - sem::window_base(space);
  const auto inside = [&](std::vector<std::uint8_t>& data, std::vector<std::uint8_t>& defined,
                          std::uint64_t size, std::uint64_t first) -> std::optional<Bytes> {
    if (at > size || bytes > size - at) return std::nullopt;
    return Bytes{&data[first + at], &defined[first + at]};
  };
  std::optional<Bytes> found;
  std::string_view why = "lies outside of every allocation";
  switch (space) {
  case Space::global:
    if (Allocation* hit = memory_.find(address, bytes)) {
      last_allocation_ = hit;
      found = Bytes{&hit->data[address - hit->base], &hit->defined[address - hit->base]};
      if (writes && !hit->writable) {
        found.reset();
        why = "lies in memory that must not be written";
      }
    }
    break;
  case Space::shared:
    found = inside(warp.block->shared, warp.block->shared_defined, warp.block->shared.size(), 0);
    why = "lies outside of the block's shared memory";
    break;
  case Space::local:
    found = inside(warp.stack, warp.stack_defined, frame.stack_base + frame.code->stack_size,
                   lane * warp.stack_capacity);
    why = "lies outside of the thread's local memory";
    break;
  case Space::const_:
    if (!writes) found = inside(constants_, constants_defined_, constants_.size(), 0);
    why = "lies outside of the constants, or is written";
    break;
  case Space::param:
    if (!writes) found = inside(parameters_, parameters_defined_, parameters_.size(), 0);
    why = "lies outside of the kernel's parameters, or is written";
    break;
  default: break;
  }
  if (!found)
    fail(Result::Status::undefined, warp, 1U << lane, ins,
         fmt::format("address {:#x} {}", address, why));
  return found;
}

// Counts a request and shows it to the observer.
void Engine::observe(Access::Kind kind, const Warp& warp, const Ins& ins, std::uint32_t mask,
                     unsigned bytes) {
  Space space = ins.space;
  if (space == Space::generic) space = sem::space_of(addresses_[lowest(mask)]);
  Counts& counts = result_.counts;
  if (space == Space::global && kind == Access::Kind::load) {
    ++counts.global_load_requests;
    counts.global_load_sectors += count_sectors(addresses_, mask, bytes);
  } else if (space == Space::global && kind == Access::Kind::store) {
    ++counts.global_store_requests;
    counts.global_store_sectors += count_sectors(addresses_, mask, bytes);
  }
  if (space == Space::global && kind != Access::Kind::load) ++counts.global_writes;
  if (launch_.report_races && (space == Space::global || space == Space::shared))
    find_races(kind, warp, ins, mask, bytes);
  if (!launch_.observer) return;
  launch_.observer({kind, space, ins.inst, warp.block->index, warp.index, mask, bytes, addresses_});
}

void Engine::find_races(Access::Kind kind, const Warp& warp, const Ins& ins, std::uint32_t mask,
                        unsigned bytes) {
  const ptx::Modifiers& m = ins.inst->mods;
  const bool ordered = kind == Access::Kind::atomic || m.order != ptx::Order::weak;
  Races::Kind touch = ordered ? Races::Kind::ordered_write : Races::Kind::write;
  if (kind == Access::Kind::load)
    touch = m.nc      ? Races::Kind::constant_read
            : ordered ? Races::Kind::ordered_read
                      : Races::Kind::read;
  for_lanes(mask, [&](unsigned lane) {
    const Block& block = *warp.block;
    const Races::Thread thread{block.linear, warp.index * warp_size + lane, block.epoch,
                               warp.epoch};
    const bool shared = sem::space_of(addresses_[lane]) == Space::shared;
    const auto other =
        races_.access(shared ? block.linear + 1 : 0, addresses_[lane], bytes, thread, touch);
    if (other)
      fail(Result::Status::undefined, warp, 1U << lane, ins,
           fmt::format("data race at address {:#x} with thread {} of block {}", addresses_[lane],
                       other->number, other->block));
  });
}

void Engine::load(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
                  std::uint32_t mask) {
  if (!addresses(warp, operands, ins, mask)) return;
  const auto dst = frame.code->dst(ins);
  const unsigned size = ins.element_bytes;
  sem::ConcreteDomain domain;
  for_lanes(mask, [&](unsigned lane) {
    const auto bytes = reach(warp, frame, ins, ins.space, lane, addresses_[lane],
                             std::uint64_t{size} * ins.elements, false);
    if (!bytes) return;
    for (std::size_t e = 0; e < dst.size(); ++e) {
      const std::uint8_t* from = bytes->data + e * size;
      sem::Bits raw = read_bytes(from, std::min(size, 8U));
      if (size > 8) raw |= sem::Bits{read_bytes(from + 8, 8)} << 64;
      const sem::Bits value = sem::extend_loaded(domain, ins.type, raw, dst[e].width);
      write(frame, dst[e], lane, static_cast<std::uint64_t>(value),
            static_cast<std::uint64_t>(value >> 64), !all_defined(bytes->defined + e * size, size));
    }
  });
  if (result_.ok()) observe(Access::Kind::load, warp, ins, mask, size * ins.elements);
}

void Engine::store(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
                   std::uint32_t mask) {
  if (!addresses(warp, operands, ins, mask)) return;
  const std::span src(&frame.code->places[ins.src.first], ins.elements);
  const unsigned size = ins.element_bytes;
  sem::ConcreteDomain domain;
  std::uint32_t undefined = 0;
  for_lanes(mask, [&](unsigned lane) {
    const auto bytes = reach(warp, frame, ins, ins.space, lane, addresses_[lane],
                             std::uint64_t{size} * ins.elements, true);
    if (!bytes) return;
    for (std::size_t e = 0; e < src.size(); ++e) {
      const sem::Bits sum = operands.wide_lane(src[e], lane) + ins.data_offset;
      const sem::Bits value = sem::truncate_stored(domain, ins.type, sum, src[e].width);
      const bool defined = !operands.is_undefined(src[e], lane);
      if (!defined && sem::space_of(addresses_[lane]) == Space::global) undefined |= 1U << lane;
      std::memcpy(bytes->data + e * size, &value, size);
      std::memset(bytes->defined + e * size, defined ? 1 : 0, size);
    }
  });
  if (!result_.ok()) return;
  if (!reject_undefined(warp, ins, undefined, "global memory receives")) return;
  observe(Access::Kind::store, warp, ins, mask, size * ins.elements);
}

// cp.async. Operands: destination in shared memory, source in global memory, and how many bytes of
// it to take or whether to take none (the rest is zeros). The source is read at once, a legal time
// for it; the destination is undefined until the lane waits for the copy, and written then.
void Engine::copy(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
                  std::uint32_t mask) {
  const auto src = frame.code->src(ins);
  if (!addresses(warp, operands, ins, mask)) return;
  const unsigned size = ins.element_bytes;
  for_lanes(mask, [&](unsigned lane) {
    std::uint64_t wanted = size;
    if (src.size() > 1) {
      const std::uint64_t said = operands.lane(src[1], lane);
      wanted = src[1].width != 1 ? said : said != 0 ? 0 : size; // a predicate: leave it all out?
    }
    const auto taken = static_cast<unsigned>(std::min<std::uint64_t>(wanted, size));
    const std::uint64_t to =
        operands.lane(src[0], lane) + static_cast<std::uint64_t>(ins.copy_offset);
    std::array<std::uint8_t, 16> data{}, defined{};
    defined.fill(1);
    if (taken != 0) {
      const auto from =
          reach(warp, frame, ins, Space::global, lane, addresses_[lane], taken, false);
      if (!from) return;
      std::copy_n(from->data, taken, data.begin());
      std::copy_n(from->defined, taken, defined.begin());
    }
    const std::uint64_t address = to + sem::window_base(Space::shared);
    const auto bytes = reach(warp, frame, ins, Space::shared, lane, address, size, true);
    if (!bytes) return;
    std::fill_n(bytes->defined, size, 0);
    warp.copies.push_back({lane, size, warp.copy_groups[lane], address, data, defined, ins.inst});
  });
  if (result_.ok()) observe(Access::Kind::load, warp, ins, mask, size);
}

// The copies that lanes wait for are written, in the order in which they began.
void Engine::land(Warp& warp, Frame& frame, const Ins& ins, std::uint32_t mask) {
  std::erase_if(warp.copies, [&](const PendingCopy& copy) {
    if ((mask >> copy.lane & 1) == 0) return false;
    if (!ins.all_copies && copy.group + ins.groups_left >= warp.copy_groups[copy.lane])
      return false;
    const auto bytes = reach(warp, frame, ins, Space::shared, copy.lane, copy.to, copy.bytes, true);
    if (!bytes) return true;
    std::copy_n(copy.data.begin(), copy.bytes, bytes->data);
    std::copy_n(copy.defined.begin(), copy.bytes, bytes->defined);
    return true;
  });
}

} // namespace ptxasw::simt
