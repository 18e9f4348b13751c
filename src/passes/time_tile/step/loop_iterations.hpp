// How often a loop goes round, where the kernel's own numbers tell: for unroll.cpp.
#pragma once

#include "passes/time_tile/polynomial/block_reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::passes {

inline constexpr const char* too_long = "a loop goes round too often";

// What has to be known of a loop to write its iterations one behind the other.
struct LoopIterations {
  std::string refused; // the iterations are then not known
  // By iteration, as many as any thread does: some thread that does it does not go on. True of the
  // last one.
  std::vector<bool> ends;
  std::vector<contract::Condition> conditions; // of launches in which that is so
};

class LoopPlaces;

// `number`: of the kernel's loops. `shape`: see unroll.hpp. `places`: of loops that count from the
// place of a thread.
LoopIterations find_iterations(const emulator::Kernel& kernel, std::uint32_t number,
                               const BlockShape& shape, const LoopPlaces* places = nullptr);

// That an iteration is followed by another one, as it decides at its end. Invalid: not known.
sym::Term goes_on(const emulator::Kernel& kernel, const analysis::Loop& loop);

} // namespace ptxasw::passes
