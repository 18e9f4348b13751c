// Which commit the program was built from.
#pragma once

#include <string_view>

namespace ptxasw::driver {

std::string_view commit(); // "1b2c3d4e5f60"; empty where the build did not know

} // namespace ptxasw::driver
