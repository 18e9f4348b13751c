// T launches of a time step as one, for a host that launches its kernels itself.
//
//   ptxasw opt --steps=auto stencil.ptx -o stencil.steps.ptx
//
// adds to each kernel that is a time step (it reads one array, writes another, and is launched
// again and again with the two exchanged) an entry that does T of them, and a constant
// __ptxasw_launch_KERNEL that says how that is launched. A host reads the constant from the loaded
// module (cuModuleGetGlobal), asks here whether its launch fits, and then does
//
//   while (steps > T) {         // at least one single launch is left for the end
//     launch the entry with fit.grid, fit.block, no dynamic shared memory, and the kernel's own
//       parameters of this launch, one more behind them: fit.threads.data(), 16 bytes;
//     exchange the arrays; steps -= T;
//   }
//   while (steps-- > 0) { launch the kernel; exchange the arrays; }
//
// T is odd, so arrays are exchanged as after a single launch. Afterwards every byte is what single
// launches would have left, as long as nobody else reads or writes the arrays in between.
// Entries for three arrays in rotation, which take a fourth array and come in pairs
// (src/contract/steps.hpp), those for arrays in a structure, and those that read variables of the
// module, are for the launcher alone: they are not listed here.
//
// bench/steps/heat.cpp is such a host. Link ptxasw_api and ptxasw_contract.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw {

struct StepEntry {
  std::string name;                                     // in the module; several T may have one
  unsigned steps = 0;                                   // T
  std::vector<std::pair<unsigned, unsigned>> exchanged; // parameters: read and written
  // It may be launched with programmatic stream serialization (cuLaunchKernelEx), which is faster
  // behind another entry: it waits for what is in front of it before it touches memory.
  bool waits = false;
};

// Most steps first, of as many those that compute least twice, which need the largest launches;
// empty if there are none, or `contract` is not what the constant holds.
std::vector<StepEntry> step_entries(std::string_view contract);

struct StepFit {
  std::string why; // it does not fit: the arrays overlap, ...; nothing else is then valid
  std::array<unsigned, 3> grid{}, block{};
  std::array<std::uint32_t, 4> threads{}; // of the kernel's launch along x, y, z; and T
};

// For launches that begin with this one of the kernel; `parameters` as for cuLaunchKernel.
StepFit fit_steps(std::string_view contract, const StepEntry& entry,
                  const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                  void* const* parameters);

} // namespace ptxasw
