// Which shape an entry for several time steps gets: the fastest as measured, of those that the
// kernel's own registers leave possible.
//
// Regions want to be large (each computes its halo again), and threads want many places (they pass
// fewer values on), so registers decide. What a kernel takes is known when ptxas has been asked:
// shapes are tried in the measured order, and the first one is taken that fits into shared memory
// and for which ptxas has to keep next to nothing in memory.
#pragma once

#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/step/step.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/report.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

// The best first. `count`: of so many steps; where three arrays rotate of the next multiple of
// three below.
std::vector<passes::StepShape> step_shapes(const StepPlan& plan,
                                           std::optional<unsigned> count = {});

// For launches so small that the first of those has no block for each processor: as many steps, in
// smaller regions. None where the first one has such regions itself.
std::optional<passes::StepShape> small_step_shape(const StepPlan& plan);

// Of a stencil with neighbours along three axes: a region, and into stretches of how many planes at
// most a grid is cut, the longest first. Long ones compute less anew, short ones give small grids
// enough blocks.
struct MarchShape {
  passes::StepShape shape;
  struct Stretch {
    unsigned planes = 0, blocks_each = 1; // as in contract::Steps
  };
  std::vector<Stretch> stretches;
};

// The largest regions first; none where no shape was found that is faster than single launches.
std::vector<MarchShape> march_shapes(const StepPlan& plan, std::optional<unsigned> count = {});

// Threads of a launch from which on these are faster.
std::uint64_t least_march(const StepPlan& plan);

// For the report: one block's line of neighbouring elements.
StepTile tile_of(const StepPlan& plan, const passes::StepShape& shape);

// Not empty: the text of an entry is longer than what stays in the caches of instructions.
Why why_too_long(std::string_view text);

// A thread's places stay in registers, but for a few of the path along rims.
bool stays_in_registers(const Usage& usage);

} // namespace ptxasw::passes
