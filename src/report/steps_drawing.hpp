// The picture of a tile that several time steps are done in: places from left to right, steps from
// top to bottom.
#pragma once

#include "ptxasw/report.hpp"

#include <string>

namespace ptxasw::report {

// An <svg> element for the page's style sheet, as lanes_svg makes it. Empty without a tile.
std::string steps_svg(const KernelReport& kernel);

} // namespace ptxasw::report
