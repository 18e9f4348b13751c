// Entries that may be launched before the grid in front of them has ended.
//
// `griddepcontrol.wait` as the first instruction: every thread waits until the grids in front have
// ended and what they wrote is visible, and touches nothing before. Then whoever launches the entry
// may allow programmatic stream serialization: its blocks are there when the last blocks in front
// leave, and the gap between two launches is hidden. A launch without that attribute is as before.
// PROOF.md says why it is sound, and what a launcher must see to.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/reason.hpp"

#include <cstdint>

namespace ptxasw::passes::launch_early {

struct Plan {
  Why refused;
  std::uint32_t at =
      0; // into the module's text: the first instruction, or the label in front of it
};

// May this kernel begin early?
Plan find(const ptx::Module& module, const ptx::Function& kernel);
ptx::Edit emit(const Plan& plan);

} // namespace ptxasw::passes::launch_early
