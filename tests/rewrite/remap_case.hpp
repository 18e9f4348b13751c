// A kernel, its remap as planned, and the remapped text.
#pragma once

#include "rewrite/applied.hpp"
#include "rewrite/case.hpp"
#include "rewrite/remap/remap.hpp"

namespace ptxasw::test {

struct Remapped {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  reuse::RemapPlan plan;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Remapped(std::string source, const Remap& remap, const std::string& name = "")
      : module(parsed(std::move(source))), kernel(emulate(*module, name)),
        plan(reuse::plan_remap(kernel, remap)) {
    text = applied(kernel, rewrite::remap(kernel, plan));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "remapped.ptx"));
  }
};

} // namespace ptxasw::test
