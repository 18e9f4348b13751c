// The text that a rewrite of one kernel gives; every name in it has to mean what it was meant to.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/apply.hpp"

#include <stdexcept>

namespace ptxasw::test {

inline std::string applied(const emulator::Kernel& kernel, std::vector<ptx::Edit> edits) {
  const ptx::Module& module = *kernel.body.module;
  passes::FunctionEdits change{
      static_cast<std::size_t>(kernel.body.function - module.functions.data()),
      std::move(edits),
      {}};
  std::string text = passes::apply(module, std::span(&change, 1)).text;
  if (!change.refused.empty()) throw std::runtime_error(change.refused);
  return text;
}

} // namespace ptxasw::test
