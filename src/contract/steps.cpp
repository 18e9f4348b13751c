// Where an entry of several steps may be used: what its launches touch, and how each follows.
#include "contract/steps.hpp"

#include "contract/fitting.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ptxasw::contract {
namespace {

// All bytes are the same but for pointers that move.
bool alike_elsewhere(const void* a, const void* b, unsigned number, unsigned size,
                     const std::vector<unsigned>& moving) {
  const auto *first = static_cast<const unsigned char*>(a),
             *second = static_cast<const unsigned char*>(b);
  for (unsigned begin = 0; begin < size;) {
    unsigned end = size;
    for (const unsigned part : moving)
      if (number_of(part) == number && byte_of(part) >= begin) end = std::min(end, byte_of(part));
    if (std::memcmp(first + begin, second + begin, end - begin) != 0) return false;
    begin = end + sizeof(std::uint64_t);
  }
  return true;
}

// The only array that a launch writes; or no parameter.
unsigned next_of(const Steps& steps) {
  if (steps.rotation) return steps.rotation->next;
  return steps.swaps.size() == 1 ? steps.swaps[0].out : ~0U;
}

// Of one line of blocks, each one line of threads.
bool count_by_block(Quantities& quantities, const StepLaunch& launch) {
  if (quantities.threads[1] != 1 || quantities.threads[2] != 1) return false;
  quantities.threads = {launch.block[0], launch.grid[0], 1};
  return true;
}

// All of them, one behind the other; or why not.
std::string count_in_line(Quantities& quantities, const Steps::InLine& in_line,
                          const StepLaunch& launch) {
  const bool is_line = quantities.threads[2] == 1 && (in_line.blocks || launch.grid[1] == 1) &&
                       (in_line.threads || launch.block[1] == 1);
  if (!is_line) return "its threads are no line";
  const std::uint64_t all = quantities.threads[0] * quantities.threads[1]; // below 2^62
  if (all > most_threads) return "the grid is too large";
  quantities.threads = {all, 1, 1};
  return {};
}

} // namespace

bool overlap(const TouchedRange& a, const TouchedRange& b) {
  return (a.written || b.written) && a.begin < b.end && b.begin < a.end;
}

tl::expected<FittedSteps, std::string> fit(const Contract& contract, const Steps& steps,
                                           const StepLaunch& launch) {
  auto known = quantities_of(contract.places, launch);
  if (!known) return refused(known.error());
  if (steps.by_block && !count_by_block(*known, launch)) return refused("its blocks are no rows");
  if (steps.in_line.any())
    if (std::string why = count_in_line(*known, steps.in_line, launch); !why.empty())
      return refused(std::move(why));
  const Quantities& quantities = *known;
  FittedSteps made{.block = steps.block, .threads = {0, 0, 0, steps.count}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto places = steps.has_extents() ? evaluate(steps.extents[axis], quantities)
                                            : Number{quantities.threads[axis]};
    if (!places || *places < 1) return refused("nothing is stored");
    const auto blocks = blocks_for(*places, steps.covers[axis], axis);
    if (!blocks) return refused("the grid is too large");
    made.threads[axis] = static_cast<std::uint32_t>(*places);
    made.grid[axis] = *blocks;
  }
  if (std::string why = why_not(steps.conditions, quantities); !why.empty())
    return refused(std::move(why));
  const unsigned next = next_of(steps);
  for (const Touched& what : steps.touched) {
    const auto range = range_of(what, quantities);
    if (!range) return refused("what is read and written is not known");
    for (const TouchedRange& other : made.ranges)
      if (overlap(*range, other)) return refused("the arrays overlap");
    made.ranges.push_back(*range);
    if (next == what.parameter) made.next = *range;
  }
  if (steps.rotation && !made.next) return refused("what is read and written is not known");
  if (const auto base = steps.stored ? quantities.parameter(steps.swaps[0].out) : std::nullopt)
    made.stored = place(*steps.stored, quantities, *base, false).value_or(PlacedElements{});
  return made;
}

tl::expected<FittedCopy, std::string> fit_copy(const Contract& contract, const StepLaunch& launch) {
  const auto quantities = quantities_of(contract.places, launch);
  if (!quantities) return refused(quantities.error());
  const CopyKernel& copy = *contract.copy;
  if (std::string why = why_not(copy.conditions, *quantities); !why.empty())
    return refused(std::move(why));
  const auto from = quantities->parameter(copy.from), to = quantities->parameter(copy.to);
  const auto read = from ? place(copy.elements, *quantities, *from, true) : std::nullopt,
             written = to ? place(copy.elements, *quantities, *to, true) : std::nullopt;
  if (!read || !written) return refused("what is copied is not known");
  return FittedCopy{*read, written->first};
}

bool follows(const Contract& contract, const Steps& steps, const StepLaunch& before,
             const StepLaunch& next) {
  if (before.grid != next.grid || before.block != next.block || before.shared != next.shared)
    return false;
  if (contract.places.size() != contract.parameters) return false;
  const std::vector<unsigned> pointers = moving(steps);
  for (unsigned number = 0; number < contract.places.size(); ++number) {
    const void *a = before.parameters(number), *b = next.parameters(number);
    if (a == nullptr || b == nullptr ||
        !alike_elsewhere(a, b, number, contract.places[number].size, pointers))
      return false;
  }
  return std::ranges::all_of(pointers, [&](unsigned part) {
    return address_in(before.parameters, part) ==
           address_in(next.parameters, moves_to(steps, part));
  });
}

unsigned moves_to(const Steps& steps, unsigned part) {
  for (const Swap& swap : steps.swaps) {
    if (part == swap.in) return swap.out;
    if (part == swap.out) return swap.in;
  }
  if (const auto& rotation = steps.rotation) {
    if (part == rotation->old) return rotation->next;
    if (part == rotation->now) return rotation->old;
    if (part == rotation->next) return rotation->now;
  }
  return part;
}

std::vector<unsigned> moving(const Steps& steps) {
  std::vector<unsigned> parts;
  for (const Swap& swap : steps.swaps)
    parts.insert(parts.end(), {swap.in, swap.out});
  if (const auto& rotation = steps.rotation)
    parts.insert(parts.end(), {rotation->old, rotation->now, rotation->next});
  return parts;
}

std::uint64_t address_in(const ParameterBytes& parameters, unsigned part) {
  std::uint64_t value = 0;
  std::memcpy(&value,
              static_cast<const unsigned char*>(parameters(number_of(part))) + byte_of(part),
              sizeof value);
  return value;
}

bool move_alike(const Steps& a, const Steps& b) {
  return a.swaps == b.swaps && a.rotation == b.rotation;
}

// The first entry leaves the program's older arrays as they were, the second one writes them.
std::array<StepArrays, 2> paired(const Rotation& rotation, const ParameterBytes& parameters,
                                 std::uint64_t fourth) {
  const auto address = [&](unsigned part) { return address_in(parameters, part); };
  const std::uint64_t old = address(rotation.old), now = address(rotation.now),
                      next = address(rotation.next);
  return {{{.read_old = old, .read_now = now, .write_old = fourth, .write_now = next},
           {.read_old = fourth, .read_now = next, .write_old = old, .write_now = now}}};
}

// `begin` is aligned to vectors; elements of the fourth are as next's are.
std::uint64_t fourth_at(const FittedSteps& fitted, std::uint64_t next, std::uint64_t begin) {
  const std::uint64_t first = fitted.next->begin;
  return begin + first % vector_bytes - (first - next);
}

std::uint64_t fourth_bytes(const FittedSteps& fitted) {
  return fitted.next->end - fitted.next->begin + vector_bytes;
}

} // namespace ptxasw::contract
