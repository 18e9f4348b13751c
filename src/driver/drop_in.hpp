// ptxasw in the place of ptxas: the whole story of one call.
#pragma once

#include "driver/mode.hpp"
#include "driver/program.hpp"

namespace ptxasw::driver {

// The exit code for main. Usually it does not return: the process becomes the real ptxas.
int drop_in(const Invocation& call, const Program& program, Environment environment);

} // namespace ptxasw::driver
