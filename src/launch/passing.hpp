// Launches that go through as they came, for good: as each thread remembers them.
//
// What a launcher costs a launch of three microseconds is lines of the cache that the driver has
// displaced since the one before. Of a launch that is remembered here nothing else is touched: not
// its kernel, its shape or its context. Contexts do not count, since the launch that the program
// asked for is right in each.
#pragma once

#include "launch/request.hpp"

#include <cstdint>

namespace ptxasw::launch {

// `epoch`: Kernels::epoch, behind which handles stand for the same kernels.
[[nodiscard]] bool is_passing(const Request& request, std::uint64_t epoch);
void remember_passing(const Request& request, std::uint64_t epoch);

} // namespace ptxasw::launch
