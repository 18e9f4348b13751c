// What is asked of a launch before several become one: for steps.cpp and sequences.cpp.
#pragma once

#include "contract/contract.hpp"
#include "contract/steps.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::contract {

inline constexpr std::uint64_t vector_bytes = 16;         // that an entry loads and stores at most
inline constexpr std::uint64_t most_threads = 0x7fffffff; // along an axis

inline tl::unexpected<std::string> refused(std::string why) {
  return tl::unexpected<std::string>(std::move(why));
}

// What expressions may ask about a launch of a kernel with these parameters; both stay as they are
// while it is used. Or why it is too large.
[[nodiscard]] tl::expected<Quantities, std::string>
quantities_of(const std::vector<ParameterSlot>& places, const StepLaunch& launch);

// Empty: it holds; or all of them do.
[[nodiscard]] std::string why_not(const Condition& condition, const Quantities& quantities);
[[nodiscard]] std::string why_not(const std::vector<Condition>& conditions,
                                  const Quantities& quantities);

[[nodiscard]] std::optional<TouchedRange> range_of(const Touched& what,
                                                   const Quantities& quantities);

// Each size is between these, and all together are no more (a size of 0 counts as 1).
[[nodiscard]] bool is_shape(const std::array<unsigned, 3>& sizes, unsigned least, unsigned most);

// Blocks along an axis for so many places, each covering some; none: too many.
[[nodiscard]] std::optional<unsigned> blocks_for(Number places, unsigned covers, std::size_t axis);

} // namespace ptxasw::contract
