// Coarsening one kernel: in the way that was asked for, or in the one that pays most.
#pragma once

#include "cost/profile.hpp"
#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/report.hpp"
#include "symbolic/solver.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace ptxasw::api {

// The edits that coarsen the kernel in this way, with what came of it in words; none where it is
// not sound.
struct Coarsened {
  std::vector<ptx::Edit> edits;
  std::string outcome;
  std::array<unsigned, 3> grid_divided_by{1, 1, 1}; // by the host
};
Coarsened coarsen(emulator::Kernel& kernel, sym::Solver& solver, const Coarsening& how,
                  CoarsenGrid grid, bool paranoid);

// There may be something to choose from.
bool may_coarsen(emulator::Kernel& kernel, sym::Solver& solver);

// What there is to choose from, with the work it leaves; no gains yet. Empty where nothing can be
// gained, and then `why` says so.
struct CoarsenChoices {
  CoarsenBaseline original;
  std::vector<CoarsenCandidate> candidates;
  std::string why;
};
CoarsenChoices coarsen_choices(emulator::Kernel& kernel, sym::Solver& solver,
                               const cost::Profile& profile);

} // namespace ptxasw::api
