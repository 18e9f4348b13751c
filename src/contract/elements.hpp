// Elements of an array by their addresses: what a step stores, what a kernel copies, and whether
// the one is among the other.
#pragma once

#include "contract/contract.hpp"
#include "contract/expression.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::contract {

// Elements of so many bytes at first + sum of n * stride, for all 0 <= n < count.
struct PlacedElements {
  struct Along {
    std::uint64_t stride = 0, count = 0; // at least 1 and 2; counts that are 1 are left out
    friend bool operator==(const Along&, const Along&) = default;
  };
  std::uint64_t first = 0, bytes = 0;
  std::vector<Along> along; // ascending strides
  // All of them are in [first, end()).
  [[nodiscard]] std::uint64_t end() const;
  // They are all the bytes there.
  [[nodiscard]] bool is_whole() const { return along.empty(); }
  friend bool operator==(const PlacedElements&, const PlacedElements&) = default;
};

// None: there is no such element, a stride is negative, or a number is not known or too large for
// an address. What lies one behind the other becomes one larger element if `merges`.
[[nodiscard]] std::optional<PlacedElements>
place(const Elements& elements, const Quantities& quantities, std::uint64_t base, bool merges);

// Is each byte of `some` one of `all`? Where it is hard to tell, no.
[[nodiscard]] bool contains(const PlacedElements& all, const PlacedElements& some);

} // namespace ptxasw::contract
