// A kernel, its plan along some axes, and the coarsened text.
#pragma once

#include "passes/coarsen/emit/coarsen.hpp"
#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"

#include <array>

namespace ptxasw::test {

using Factors = std::array<unsigned, 3>;

struct Coarsened {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  passes::BlockPlan plan;
  passes::CoarsenReport report;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Coarsened(std::string source, passes::BlockOptions options, const std::string& name = "",
            passes::CoarsenOptions how = {})
      : module(parsed(std::move(source))), kernel(emulate(*module, name)) {
    sym::Context none;
    sym::Solver solver(kernel.context ? *kernel.context : none, {.paranoid = options.paranoid});
    plan = passes::find_block_reuse(kernel, solver, options);
    text = applied(kernel, passes::coarsen(kernel, plan, how, report));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "coarsened.ptx"));
  }
  Coarsened(std::string source, Factors factors)
      : Coarsened(std::move(source), passes::BlockOptions{.factors = factors}) {}
};

} // namespace ptxasw::test
