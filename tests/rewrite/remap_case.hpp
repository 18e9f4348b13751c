// A kernel, its remap as planned, and the remapped text.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"
#include "rewrite/remap.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

namespace ptxasw::test {

struct Remapped {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  reuse::RemapPlan plan;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Remapped(std::string source, const Remap& remap, const std::string& name = "")
      : module(std::make_shared<const ptx::Module>(ptx::parse(std::move(source), "test.ptx"))),
        kernel(emulator::emulate(*module, function(*module, name), {.time = budget})),
        plan(reuse::plan_remap(kernel, remap)) {
    text = ptx::print(*module, rewrite::remap(kernel, plan));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "remapped.ptx"));
  }

private:
  static constexpr std::chrono::seconds budget{30}; // whatever else the machine is doing

  static const ptx::Function& function(const ptx::Module& module, const std::string& name) {
    for (const ptx::Function& f : module.functions) {
      if (f.is_entry && !f.is_declaration && (name.empty() || f.name == name)) return f;
    }
    throw std::runtime_error("no such kernel");
  }
};

} // namespace ptxasw::test
