// A kernel, its plan along some axes, and the coarsened text.
#pragma once

#include "rewrite/applied.hpp"
#include "rewrite/case.hpp"
#include "rewrite/coarsen/coarsen.hpp"

#include <array>

namespace ptxasw::test {

using Factors = std::array<unsigned, 3>;

struct Coarsened {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  reuse::BlockPlan plan;
  rewrite::CoarsenReport report;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Coarsened(std::string source, reuse::BlockOptions options, const std::string& name = "",
            rewrite::CoarsenOptions how = {})
      : module(parsed(std::move(source))), kernel(emulate(*module, name)) {
    sym::Context none;
    sym::Solver solver(kernel.context ? *kernel.context : none, {.paranoid = options.paranoid});
    plan = reuse::find_block_reuse(kernel, solver, options);
    text = applied(kernel, rewrite::coarsen(kernel, plan, how, report));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "coarsened.ptx"));
  }
  Coarsened(std::string source, Factors factors)
      : Coarsened(std::move(source), reuse::BlockOptions{.factors = factors}) {}
};

} // namespace ptxasw::test
