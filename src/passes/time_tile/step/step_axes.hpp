// How a thread knows its place along each axis: what has the place in it, and what beside it has to
// vanish from all that is read.
#pragma once

#include "passes/time_tile/step/step.hpp"
#include "passes/time_tile/step/step_loops.hpp"

namespace ptxasw::passes {

struct FoundAxes {
  Why refused; // what is below is then not valid
  std::array<Place, 3> places{};
  std::vector<contract::Condition> shape; // of the launch's blocks
  contract::Steps::InLine in_line{};
};

// A new atom stands for the coordinate: known to `meaning` and `places` from here on.
FoundAxes find_axes(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                    StepPlaces& places);

// The same where blocks are rows, of which %ctaid.x is the number, y, and %tid.x the place, x: as
// of a launch with so many threads along x as a block has, and along y as there are blocks.
FoundAxes find_rows_of_blocks(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                              StepPlaces& places);

// The same where a thread has a number in its block and a block one in the grid, of several axes:
//
//     block = %ctaid.y * %nctaid.x + %ctaid.x;   block * (%ntid.x * %ntid.y) + %tid.y * %ntid.x +
//     %tid.x
//
// or either one by columns: as of a launch with all of its threads along x.
FoundAxes find_line_of_threads(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                               StepPlaces& places);

} // namespace ptxasw::passes
