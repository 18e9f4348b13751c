// A kernel, its remap as planned, and the remapped text.
#pragma once

#include "passes/remap/remap.hpp"
#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"

namespace ptxasw::test {

struct Remapped {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  passes::RemapPlan plan;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Remapped(std::string source, const Remap& remap, const std::string& name = "")
      : module(parsed(std::move(source))), kernel(emulate(*module, name)),
        plan(passes::plan_remap(kernel, remap)) {
    text = applied(kernel, passes::remap(kernel, plan));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "remapped.ptx"));
  }
};

} // namespace ptxasw::test
