// One pool per type; ptxas does the real register allocation, so nothing is ever handed back.
#include "passes/shared/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

Registers::Registers(const ptx::Module& module, std::string_view stem) : prefix_(stem) {
  for (unsigned n = 1; module.text->find(prefix_) != std::string::npos; ++n) {
    prefix_ = fmt::format("{}{}", stem, n);
  }
}

std::string Registers::make(std::string_view type) {
  auto pool = std::ranges::find(pools_, type, &Pool::type);
  if (pool == pools_.end()) {
    pools_.push_back({std::string(type)});
    pool = pools_.end() - 1;
  }
  return fmt::format("{}_{}_{}", prefix_, pool->type, pool->count++);
}

std::string Registers::declarations() const {
  std::string text;
  for (const Pool& pool : pools_) {
    text += fmt::format("\t.reg .{} \t{}_{}_<{}>;\n", pool.type, prefix_, pool.type, pool.count);
  }
  return text;
}

} // namespace ptxasw::passes
