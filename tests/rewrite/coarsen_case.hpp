// A kernel, its plan along some axes, and the coarsened text.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"
#include "rewrite/coarsen.hpp"

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace ptxasw::test {

using Factors = std::array<unsigned, 3>;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string golden_ptx(const std::string& name) {
  return read_file(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx");
}

struct Coarsened {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  reuse::BlockPlan plan;
  rewrite::CoarsenReport report;
  std::string text;

  // Of the kernel's name; empty: of the first kernel.
  Coarsened(std::string source, reuse::BlockOptions options, const std::string& name = "",
            rewrite::CoarsenOptions how = {})
      : module(std::make_shared<const ptx::Module>(ptx::parse(std::move(source), "test.ptx"))),
        kernel(emulator::emulate(*module, function(*module, name), {.time = budget})) {
    sym::Context none;
    sym::Solver solver(kernel.context ? *kernel.context : none, {.paranoid = options.paranoid});
    plan = reuse::find_block_reuse(kernel, solver, options);
    text = ptx::print(*module, rewrite::coarsen(kernel, plan, how, report));
    result = std::make_shared<const ptx::Module>(ptx::parse(text, "coarsened.ptx"));
  }
  Coarsened(std::string source, Factors factors)
      : Coarsened(std::move(source), reuse::BlockOptions{.factors = factors}) {}

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
