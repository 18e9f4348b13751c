// A kernel whose threads go along an axis, place by place, as the same kernel with a thread for
// each of these places:
//
//   for (y = first; y < end; ++y) { ... }       becomes       y = first + %ctaid.y; if (y < end)
//   ...
//
// Steps are looked for in that kernel; it is never launched. PROOF.md, "A thread that goes along an
// axis", says why that is the same.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <memory>
#include <optional>

namespace ptxasw::passes {

struct Swept {
  // Of a loop over places: why it is none of these. What is below is then not valid.
  Why refused;
  std::shared_ptr<const ptx::Module> module; // none: the kernel has no such loop
  emulator::Kernel kernel;
  std::optional<Sweep> sweep;
};

// Of what a kernel knows along it nothing is read: y, z, or none.
std::optional<unsigned> free_axis(const ptx::Body& body);

Swept sweep(const emulator::Kernel& kernel, const emulator::Budget& budget = {});

} // namespace ptxasw::passes
