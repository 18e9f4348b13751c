// The picture of a kernel's loads: one strip per load, one cell per lane, laid over the addresses
// so that what a lane reads and what its neighbour already holds stand in one column.
#pragma once

#include "ptxasw/report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::report {

// A load and how many lanes its addresses lie beyond those of the first load of its family.
struct Strip {
  const AccessReport* access = nullptr;
  int offset = 0;
};

// A load that stays and those that take their values from it.
using Family = std::vector<Strip>;

// Every load of the kernel, in program order of the loads that stay.
std::vector<Family> families(const KernelReport& kernel);

inline constexpr std::size_t most_strips = 100; // in one picture; what comes later is left out

// An <svg> element without ids or styles of its own: the page's style sheet dresses its classes.
// Empty when the kernel has no loads.
std::string lanes_svg(const KernelReport& kernel);

// Text for HTML and XML, safe in elements and quoted attributes.
std::string escaped(std::string_view text);

} // namespace ptxasw::report
