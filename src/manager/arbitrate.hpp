// Which of the rewrites that are proposed for a kernel are done: those that come first, as long as
// what they touch has not been taken by another one.
#pragma once

#include "ptx/parse.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::manager {

// What a rewrite changes; two that touch the same do not go together.
enum Touched : unsigned {
  touches_loads = 1,  // which values loads bring, and in which lane
  touches_blocks = 2, // which block does which work
};

// What came of a proposal.
struct Made {
  std::vector<ptx::Edit> edits; // none: nothing
  unsigned touched = 0;         // of the above
  std::string claim;            // for others: "its blocks are merged"
};

struct Proposal {
  unsigned needs = 0;         // not proposed any more when one of these has been taken
  std::function<Made()> make; // proves, and writes the edits
  std::function<void(const std::string& claim)>
      refuse; // another one has what it needs, and says so
};

// The edits of all that go together; first come, first served.
std::vector<ptx::Edit> arbitrate(std::span<const Proposal> proposals);

} // namespace ptxasw::manager
