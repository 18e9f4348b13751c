// Kernels whose threads, one behind the other along x, are the places of a grid row by row:
//
//     i = %ctaid.x * %ntid.x + %tid.x;  if (i >= nx * ny) return;  x = i % nx;  y = i / nx;
//
// x and y are then the coordinates of step.hpp, over a grid of nx by ny places. Each of these has a
// thread if the launch has as many (a condition), and no other thread gets to the stores: a guard
// says so exactly, whatever the sizes are.
#pragma once

#include "passes/time_tile/step/step.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

struct FoundRows {
  StepRows rows;
  // Of StepRegion::guards: it says no more than that a place is in some row. None: more.
  std::optional<std::size_t> guard;
  std::vector<InRange> ranges; // of what is the same for all places: have to hold
};

// `meaning`: as the reader has it, of a kernel that knows the number of its thread along x alone.
// `places`: what threads are in terms of these. None: no such kernel.
std::optional<FoundRows> find_rows(emulator::Kernel& kernel, const StepRegion& region,
                                   const Meaning& meaning, const StepPlaces& places);

// That what is read is the number that the machine has, for all threads of a launch.
bool hold_for_all(const IntegerPolynomialReader& reader, const std::vector<InRange>& ranges);

} // namespace ptxasw::passes
