// Entries and grids from the contract that a module carries.
#include "ptxasw/steps.h"

#include "contract/steps.hpp"

#include <algorithm>

namespace ptxasw {

std::vector<StepEntry> step_entries(std::string_view contract) {
  std::vector<StepEntry> entries;
  const auto read = contract::decode(contract);
  if (!read) return entries;
  for (const contract::Steps& steps : read->steps) {
    const auto is_in_structure = [&](unsigned part) {
      return read->places[contract::number_of(part)].size > sizeof(std::uint64_t);
    };
    if (steps.rotation || !steps.variables.empty() ||
        std::ranges::any_of(contract::moving(steps), is_in_structure))
      continue;
    StepEntry& made = entries.emplace_back(StepEntry{steps.entry, steps.count, {}, steps.waits});
    for (const contract::Swap& swap : steps.swaps)
      made.exchanged.emplace_back(swap.in, swap.out);
  }
  return entries;
}

StepFit fit_steps(std::string_view contract, const StepEntry& entry,
                  const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                  void* const* parameters) {
  const auto read = contract::decode(contract);
  if (!read) return {.why = read.error()};
  const auto steps = std::ranges::find_if(read->steps, [&](const contract::Steps& one) {
    return one.entry == entry.name && one.count == entry.steps;
  });
  if (steps == read->steps.end() || steps->rotation)
    return {.why = "the contract has no such entry"};
  const auto fitted = contract::fit(
      *read, *steps,
      {grid, block, [&](unsigned number) -> const void* { return parameters[number]; }});
  if (!fitted) return {.why = fitted.error()};
  return {.why = "", .grid = fitted->grid, .block = fitted->block, .threads = fitted->threads};
}

} // namespace ptxasw
