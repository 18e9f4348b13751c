// What the driver knows of the optimizer: its version, and one call. The optimizer has what it
// makes assembled by the assembler's keep(), and what it returns is what was kept last.
#pragma once

#include "ptxasw/ptxasw.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace ptxasw::driver {

struct Program {
  std::string_view version;
  Optimized (*optimize)(const std::string& text, const std::string& file, const Options& options,
                        Assembler* assembler);
  // A safety net far beyond the budgets per kernel, for what ignores them.
  std::chrono::seconds deadline{120};
  std::size_t memory = std::size_t{4} << 30; // bytes of address space, likewise
};

} // namespace ptxasw::driver
