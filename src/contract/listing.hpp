// The versions of a kernel that its contract names, for people: what each is called, and what a
// launch of it does.
#pragma once

#include "contract/contract.hpp"

#include <string>
#include <vector>

namespace ptxasw::contract {

// An entry beside the kernel.
struct Listed {
  std::string entry;              // name in the module
  std::vector<std::string> names; // "y:4"; all block shapes of one entry; "steps:9" of time steps
  std::string what;               // "one block does the work of 4 along y"
  bool is_steps = false;          // launched in the place of several launches
  // Predicted: the most that a launch gains, over the original's time, and in blocks of how many
  // threads; and the least launch that is predicted to gain more than asked for, in waves as in
  // Gain. 0: no launch, or nothing is known.
  double gain = 0, from_waves = 0;
  unsigned threads = 0;
};

// In the order of the contract. `worth_it`: what is gained by less does not count for from_waves.
[[nodiscard]] std::vector<Listed> versions_of(const Contract& contract, double worth_it);

} // namespace ptxasw::contract
