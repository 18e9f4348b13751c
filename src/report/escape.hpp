// Text inside SVG.
#pragma once

#include <string>
#include <string_view>

namespace ptxasw::report {

// Text for the inside of an element or an attribute; what is no UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

} // namespace ptxasw::report
