// Global memory of a launch: a set of allocations at addresses that the caller may choose.
//
// Every byte knows whether it has been given a value. Undefined bytes make the values loaded from
// them undefined; the machine follows those through registers and back to memory, so that padding
// may be copied but a result that depends on it can be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

struct Allocation {
  std::string name;
  std::uint64_t base = 0;
  std::vector<std::uint8_t> data;
  std::vector<std::uint8_t> defined; // one flag per byte
  bool writable = true;
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= base && address - base <= data.size() &&
           bytes <= data.size() - (address - base);
  }
};

class Memory {
public:
  // Places `data` at `base`. False: something else is there already, or the range leaves the global
  // part of the address space.
  bool place(std::string name, std::uint64_t base, std::vector<std::uint8_t> data);
  // The same at an address of our choice, a multiple of `alignment`; allocations made this way are
  // far enough apart that a small overrun hits nothing.
  std::uint64_t allocate(std::string name, std::vector<std::uint8_t> data,
                         std::uint64_t alignment = 256);
  // Bytes without a value yet.
  std::uint64_t allocate_undefined(std::string name, std::uint64_t size,
                                   std::uint64_t alignment = 256);

  [[nodiscard]] Allocation* find(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] Allocation* find(std::string_view name);
  [[nodiscard]] const Allocation* find(std::string_view name) const;
  // In order of address.
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return allocations_; }
  [[nodiscard]] std::vector<Allocation>& allocations() { return allocations_; }

private:
  std::vector<Allocation> allocations_;
};

// The first byte that has a value on the left and not the same one on the right. Bytes that are
// undefined on the left may hold anything on the right.
struct Difference {
  std::string allocation;
  std::uint64_t offset = 0, address = 0;
  std::uint8_t left = 0, right = 0;
  bool right_defined = true;
};
std::optional<Difference> first_difference(const Memory& left, const Memory& right);

} // namespace ptxasw::simt
