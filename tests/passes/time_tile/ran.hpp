// A launch of a module's kernel: what it leaves in memory, and what it touches.
#pragma once

#include "simt/machine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::test {

struct Ran {
  std::string error;
  simt::Memory memory;
  std::set<std::pair<bool, std::uint64_t>> touched; // stored, or loaded
};

// `arguments`: allocated in that memory.
inline Ran ran(const std::shared_ptr<const ptx::Module>& module, const std::string& kernel,
               simt::Dim3 grid, simt::Dim3 block,
               const std::function<std::vector<simt::Argument>(simt::Memory&)>& arguments) {
  Ran made;
  simt::Launch launch{.grid = grid, .block = block, .arguments = arguments(made.memory)};
  launch.observer = [&](const simt::Access& access) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((access.mask >> lane & 1) != 0)
        made.touched.emplace(access.kind == simt::Access::Kind::store, access.addresses[lane]);
  };
  const auto function = std::ranges::find_if(module->functions, [&](const ptx::Function& one) {
    return one.is_entry && one.name.find(kernel) != std::string_view::npos;
  });
  const auto program = simt::compile(module, std::string(function->name));
  if (!program) {
    made.error = program.error();
    return made;
  }
  const simt::Result result = simt::run(**program, launch, made.memory);
  if (!result.ok()) made.error = result.message;
  return made;
}

} // namespace ptxasw::test
