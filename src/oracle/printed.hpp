// What became of a module, and of which of its kernels. What is reported is written from it;
// nothing is decided by what a report says.
#pragma once

#include "ptxasw/ptxasw.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::oracle {

struct Changed {
  std::string kernel;
  // Its blocks are merged, as --coarsen=auto chose, in launches of so many threads and more, and
  // nothing else is changed.
  std::optional<std::uint64_t> merged_from;
  // Smaller ones run the body as it stands, and ptxas must not have made another program of it.
  bool keeps_body = false;
};

struct Printed {
  Optimized made;
  std::vector<Changed> changed;
};

} // namespace ptxasw::oracle
