// Ways that part and meet again in front of the stores, while some thread leaves between:
//
//     if (a && c == 0) goto store; if (!(b && c == 1)) return; store: ...
//
// as one guard, of which both conditions are computed by all:
//
//     if (!(a && c == 0) && !(b && c == 1)) return; ...
//
// Branches that always go one way are jumps. Steps are looked for in that kernel; it is never
// launched. PROOF.md, "Guards of several ways", says why that is the same.
#pragma once

#include "passes/time_tile/other_kernel/other_kernel.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

struct JoinedGuards {
  OtherKernel other;
  // By instruction of the other kernel: the one that it is; ptx::none: it is new.
  std::vector<ptx::InstId> origin;
};

// None: there are no such ways, or no two of them can be joined.
std::optional<JoinedGuards> join_guards(const emulator::Kernel& kernel,
                                        const emulator::Budget& budget = {});

} // namespace ptxasw::passes
