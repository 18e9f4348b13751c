// Allocations are kept sorted by address; look-ups are binary searches.
#include "simt/memory.hpp"

#include "semantics/windows.hpp"

#include <algorithm>

namespace ptxasw::simt {

namespace {

constexpr std::uint64_t first_address = std::uint64_t{1} << 36;
constexpr std::uint64_t gap = std::uint64_t{1} << 16;

} // namespace

bool Memory::place(std::string name, std::uint64_t base, std::vector<std::uint8_t> data) {
  if (base >= sem::first_window || data.size() > sem::first_window - base) return false;
  const auto next = std::ranges::upper_bound(allocations_, base, {}, &Allocation::base);
  if (next != allocations_.end() && next->base - base < data.size()) return false;
  if (next != allocations_.begin()) {
    const Allocation& before = *std::prev(next);
    if (base - before.base < std::max<std::size_t>(before.data.size(), 1)) return false;
  }
  std::vector<std::uint8_t> defined(data.size(), 1);
  allocations_.insert(next, {std::move(name), base, std::move(data), std::move(defined), true});
  return true;
}

std::uint64_t Memory::allocate(std::string name, std::vector<std::uint8_t> data,
                               std::uint64_t alignment) {
  std::uint64_t base = first_address;
  for (const Allocation& a : allocations_)
    if (a.base + a.data.size() + gap > base) base = a.base + a.data.size() + gap;
  base = (base + alignment - 1) / alignment * alignment;
  return place(std::move(name), base, std::move(data)) ? base : 0;
}

std::uint64_t Memory::allocate_undefined(std::string name, std::uint64_t size,
                                         std::uint64_t alignment) {
  const std::uint64_t base =
      allocate(std::move(name), std::vector<std::uint8_t>(size, 0xa5), alignment);
  if (Allocation* made = find(base, size)) std::ranges::fill(made->defined, std::uint8_t{0});
  return base;
}

Allocation* Memory::find(std::uint64_t address, std::uint64_t bytes) {
  const auto next = std::ranges::upper_bound(allocations_, address, {}, &Allocation::base);
  if (next == allocations_.begin()) return nullptr;
  Allocation& candidate = *std::prev(next);
  return candidate.contains(address, bytes) ? &candidate : nullptr;
}

Allocation* Memory::find(std::string_view name) {
  const auto found = std::ranges::find(allocations_, name, &Allocation::name);
  return found == allocations_.end() ? nullptr : &*found;
}

const Allocation* Memory::find(std::string_view name) const {
  const auto found = std::ranges::find(allocations_, name, &Allocation::name);
  return found == allocations_.end() ? nullptr : &*found;
}

std::optional<Difference> first_difference(const Memory& left, const Memory& right) {
  for (const Allocation& l : left.allocations()) {
    const Allocation* r = right.find(l.name);
    if (r != nullptr && l.data == r->data && l.defined == r->defined) continue;
    for (std::size_t i = 0; i < l.data.size(); ++i) {
      if (!l.defined[i]) continue;
      const bool there = r != nullptr && i < r->data.size();
      const bool defined = there && r->defined[i] != 0;
      const std::uint8_t value = there ? r->data[i] : std::uint8_t{0};
      if (!defined || value != l.data[i])
        return Difference{l.name, i, l.base + i, l.data[i], value, defined};
    }
  }
  return std::nullopt;
}

} // namespace ptxasw::simt
