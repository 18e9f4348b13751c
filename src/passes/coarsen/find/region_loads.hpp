// Loads in regions that some copies may pass by.
//
// In a region (calls.hpp) one copy after the other runs the same code, and not all of them may be
// there. Of one that is `if (guard) { ... }`, nothing but straight-line code behind a branch, it is
// known who was: the register of the branch's guard still tells. So a load D of copy c takes what a
// load S of copy c - 1 has loaded in the same region if that copy entered it, and is done if not:
//
//     @%p_of_c_minus_1 ld D;  @!%p_of_c_minus_1 mov D, S;
//
// Conditions, and where each is checked:
//   the region is such a one: nothing in it branches, waits or calls            RegionLoads
//   its guard is not written in it                                              RegionLoads
//   S and D are done whenever the region is entered                             may_supply
//   nothing else in the region writes S's registers                             may_supply
//   copy c writes no bytes of D in the region ahead of it, and orders nothing   may_supply
//   the addresses and what is loaded                                            block.cpp
#pragma once

#include "emulator/emulate.hpp"
#include "passes/coarsen/find/calls.hpp"

#include <span>
#include <vector>

namespace ptxasw::passes {

class RegionLoads {
public:
  RegionLoads(const emulator::Kernel& kernel, std::span<const Region> regions);

  // Loads of the conditional region around an instruction: itself ahead of the others.
  [[nodiscard]] std::vector<ptx::InstId> beside(ptx::InstId load) const;
  [[nodiscard]] bool may_supply(const emulator::Event& s, const emulator::Event& d) const;

private:
  [[nodiscard]] const Region* around(ptx::InstId inst) const;

  const emulator::Kernel& k_;
  std::vector<Region> conditional_; // in program order
};

// Moves in a conditional region that write what their register holds already: the same move stands
// ahead of it in the region, or in front of the branch in the same block, and nothing between them
// writes either register. (Of a loop whose body is conditional, the rest of its iterations leaves
// such of its counter.)
std::vector<ptx::InstId> repeated_moves(const emulator::Kernel& kernel, const Region& region);

// The branch around a conditional region that an instruction stands in.
ptx::InstId entry_of(const ptx::Body& body, std::span<const Region> regions, const ptx::Inst& inst);

} // namespace ptxasw::passes
