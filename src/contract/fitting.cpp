// Numbers of a launch.
#include "contract/fitting.hpp"

#include <algorithm>
#include <cstring>

namespace ptxasw::contract {
namespace {

constexpr Number most_blocks_x = 0x7fffffff, most_blocks = 0xffff;

// As many as there are, up to 64.
std::optional<std::uint64_t> bits_of(const std::vector<ParameterSlot>& places,
                                     const ParameterBytes& parameters, unsigned part) {
  if (number_of(part) >= places.size()) return std::nullopt;
  const unsigned size = places[number_of(part)].size;
  const auto* const bytes = static_cast<const unsigned char*>(parameters(number_of(part)));
  if (bytes == nullptr || byte_of(part) >= size) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes + byte_of(part),
              std::min<std::size_t>(size - byte_of(part), sizeof value));
  return value;
}

} // namespace

tl::expected<Quantities, std::string> quantities_of(const std::vector<ParameterSlot>& places,
                                                    const StepLaunch& launch) {
  Quantities quantities;
  quantities.shared = launch.shared;
  quantities.parameter = [&](unsigned number) {
    return bits_of(places, launch.parameters, number);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    quantities.block[axis] = launch.block[axis];
    const std::uint64_t threads = std::uint64_t{launch.grid[axis]} * launch.block[axis];
    if (threads == 0 || threads > most_threads)
      return tl::unexpected<std::string>("the grid is too large");
    quantities.threads[axis] = threads;
  }
  return quantities;
}

std::string why_not(const Condition& condition, const Quantities& quantities) {
  const auto value = evaluate(condition.value, quantities);
  return value && *value >= 0 ? "" : condition.otherwise;
}

std::string why_not(const std::vector<Condition>& conditions, const Quantities& quantities) {
  for (const Condition& condition : conditions)
    if (std::string why = why_not(condition, quantities); !why.empty()) return why;
  return {};
}

bool is_shape(const std::array<unsigned, 3>& sizes, unsigned least, unsigned most) {
  std::uint64_t all = 1;
  for (const unsigned size : sizes) {
    if (size < least || size > most) return false;
    all *= std::max(size, 1U);
  }
  return all <= most;
}

std::optional<TouchedRange> range_of(const Touched& what, const Quantities& quantities) {
  const auto base = quantities.parameter(what.parameter);
  const auto begin = evaluate(what.begin, quantities), end = evaluate(what.end, quantities);
  if (!base || !begin || !end) return std::nullopt;
  const Number first = *base + *begin, last = *base + *end;
  if (first < 0 || last < first || last > Number{~std::uint64_t{0}}) return std::nullopt;
  return TouchedRange{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last),
                      what.written};
}

std::optional<unsigned> blocks_for(Number places, unsigned covers, std::size_t axis) {
  const Number blocks = (places + covers - 1) / covers;
  if (places > Number{most_threads} || blocks > (axis == 0 ? most_blocks_x : most_blocks))
    return std::nullopt;
  return static_cast<unsigned>(blocks);
}

} // namespace ptxasw::contract
