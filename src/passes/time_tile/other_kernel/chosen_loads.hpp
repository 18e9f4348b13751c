// A load of an address that data choose, as a branch with a load on either side:
//
//   k = u > 0 ? i - 1 : i + 1; c = in[k];    becomes    if (u > 0) c = in[i - 1]; else c = in[i +
//   1];
//
// Steps are looked for in that kernel; it is never launched. PROOF.md, "Loads that hang on data",
// says why that is the same.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"

#include <memory>

namespace ptxasw::passes {

struct ChosenLoads {
  Why refused;                               // the kernel is then not valid
  std::shared_ptr<const ptx::Module> module; // none: there are no such loads
  emulator::Kernel kernel;
};

ChosenLoads choose_loads(const emulator::Kernel& kernel, const emulator::Budget& budget = {});

} // namespace ptxasw::passes
