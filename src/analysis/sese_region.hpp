// Stretches of the text with one way in and one way out.
#pragma once

#include "analysis/cfg.hpp"

#include <optional>

namespace ptxasw::analysis {

// Instructions [first, end) that are entered at the first one only, and left only for the one
// behind the last, whatever jumps there are inside.
struct SeseRegion {
  ptx::InstId first = 0, end = 0;
};

// The smallest one that holds `part`, which must not be empty and end where a block ends. None if
// a thread may end inside it.
std::optional<SeseRegion> closed_around(const Cfg& cfg, SeseRegion part);

} // namespace ptxasw::analysis
