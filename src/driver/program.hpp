// What the driver knows of the optimizer: its version, and one call.
#pragma once

#include "ptxasw/ptxasw.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

struct Program {
  std::string_view version;
  Optimized (*optimize)(std::string text, std::string file, const Options& options,
                        const std::vector<std::string>& keep);
  // A safety net far beyond the budgets per kernel, for what ignores them.
  std::chrono::seconds deadline{120};
};

} // namespace ptxasw::driver
