// What the store has of a program, for people.
#pragma once

#include <string>

namespace ptxasw::tool {

// "7 versions of this program for sm_90 are in the store", or that there are none; without the
// libraries that it loads, and for the chip that `ptxasw prepare` would take. Empty: it cannot be
// read.
[[nodiscard]] std::string what_is_kept(const std::string& program);

} // namespace ptxasw::tool
