// Our own options as they reach a drop-in: the environment variable PTXASW_FLAGS first, then
// --ptxasw-NAME[=VALUE] among the arguments, the later one winning. A mistake in them must not fail
// somebody's build: it is complained about and ignored.
#pragma once

#include "ptxasw/options.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

struct Settings {
  Options options;
  std::vector<std::string> given;      // NAME[=VALUE], those that were accepted
  std::vector<std::string> complaints; // one line each

  // " --shuffle=all", for the version line: callers that cache by it see when settings change.
  [[nodiscard]] std::string text() const;
};

// `flags` is separated by blanks; names may carry --, --ptxasw- or nothing.
Settings read_settings(std::string_view flags, std::span<const std::string> own_options);

} // namespace ptxasw::driver
