// The CUDA devices of this machine.
#pragma once

#include <string>
#include <vector>

namespace ptxasw::tool {

// "sm_90", ...: each kind once, as the driver says. Empty: there is no driver, or no device.
[[nodiscard]] std::vector<std::string> chips_here();

} // namespace ptxasw::tool
