// Whose memory it is that a program's arrays lie in, and which chip that is.
#pragma once

#include "contract/steps.hpp"
#include "launch/driver/driver.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::launch {

// Memory that only this device can reach, as far as the driver tells. `known`: addresses that it
// has been asked about; entries for different numbers of steps touch mostly the same.
[[nodiscard]] bool is_private(const contract::TouchedRange& range, int device,
                              std::vector<std::uint64_t>& known);

// "NVIDIA H200"; empty where the driver does not tell.
[[nodiscard]] std::string name_of(CUdevice device);
// Of the device of the thread's context.
[[nodiscard]] std::string chip_of_context();

// The process has no primary context but that of the current context's device.
[[nodiscard]] bool is_only_device();

} // namespace ptxasw::launch
