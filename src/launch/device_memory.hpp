// Whose memory it is that a program's arrays lie in.
#pragma once

#include "contract/steps.hpp"
#include "launch/driver.hpp"

#include <cstdint>
#include <vector>

namespace ptxasw::launch {

// Memory that only this device can reach, as far as the driver tells. `known`: addresses that it
// has been asked about; entries for different numbers of steps touch mostly the same.
[[nodiscard]] bool is_private(const contract::TouchedRange& range, int device,
                              std::vector<std::uint64_t>& known);

} // namespace ptxasw::launch
