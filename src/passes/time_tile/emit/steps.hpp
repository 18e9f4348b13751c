// T time steps of a stencil at once, its tile on chip: a further entry beside a step kernel.
//
// Each block of the new kernel has a region of the grid, wider than what it writes by what T steps
// read around it. It holds, for every place of the region, a value in a register: an image of the
// elements of `in` and of `out` in turn (of three arrays in rotation two, of the older and the
// newer one). A step is what the kernel does, by its own instructions in their order, place by
// place: it makes the next image, where the kernel's own guards let the thread of that place store;
// elsewhere it has what the buffer of that step has. What stays of the image's centre after T steps
// is stored. Neighbours' values go through shared memory, or from lane to lane; those of a thread's
// own places are its registers. Shared memory is what wide stencils wait for: a thread with several
// columns passes fewer values for each place.
//
// PROOF.md argues that this is sound. It costs the work around the centre and the body of two steps
// for each place of a thread in code; it gains T - 1 of T trips to memory.
#pragma once

#include "contract/contract.hpp"
#include "passes/time_tile/step/step.hpp"

#include <string>

namespace ptxasw::passes {

struct StepShape {
  unsigned count = 5;  // T, odd; of three arrays in rotation a multiple of three. What the entry is
                       // told may be less, if it is odd where this is
  unsigned width = 64; // of the region, along the axis of neighbouring elements
  unsigned strips = 4; // threads of a block: width / columns * strips
  // What one thread owns of the region: at most 64 places.
  unsigned rows = 16;
  unsigned columns = 1; // a power of two
  // Blocks that an SM shall hold at a time, at least; 0: what ptxas makes of it.
  unsigned resident = 0;
  // Neighbours along a row come from lane to lane: a row is at most a warp's. Tiles then have only
  // the rows that other strips read.
  bool lanes = false;
  // Of stencils with neighbours along three axes, which march: planes of a stretch at most. A block
  // then is `strips` warps, one above the other, and a row of the region is a warp's.
  unsigned planes = 0;
};

struct StepEntry {
  Why refused;      // why there is none; nothing else is then valid
  std::string text; // the whole function
  contract::Steps contract;
};

// `name`: of the entry. The kernel's own may be given, to see what an assembler makes of it in its
// place.
StepEntry write_steps(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
                      const std::string& name);

} // namespace ptxasw::passes
