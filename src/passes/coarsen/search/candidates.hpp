// Coarsening one kernel: in the way that was asked for, or in the one that pays most.
#pragma once

#include "emulator/emulate.hpp"
#include "profile/profile.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "ptxasw/report.hpp"
#include "symbolic/solver.hpp"
#include "target/profile.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

// The edits that coarsen the kernel in this way, with what came of it in words; none where it is
// not sound.
struct Coarsened {
  std::vector<ptx::Edit> edits;
  Decision outcome;
  std::array<unsigned, 3> grid_divided_by{1, 1, 1}; // by the host
  bool rest_by_itself = false; // what fills no group follows the groups, block by block
};
Coarsened coarsen(emulator::Kernel& kernel, sym::Solver& solver, const Coarsening& how,
                  CoarsenGrid grid, bool paranoid);

// There may be something to choose from.
bool may_coarsen(emulator::Kernel& kernel, sym::Solver& solver, CoarsenGrid grid);

// What there is to choose from, with the work it leaves; no gains yet. Empty where nothing can be
// gained, and then `why` says so.
struct CoarsenChoices {
  CoarsenBaseline original;
  std::vector<CoarsenCandidate> candidates;
  // How many instructions ptxas has to make of one, on average: a double division is a score.
  double code_growth = 1;
  // They are chosen by what a run measured (measured.hpp); null: by the model.
  const profile::Kernel* run = nullptr;
  bool in_order = false; // has loads that keep their order (volatile and the like)
  Why why;               // there is nothing, or nothing could be tried
  std::string refusal;   // what the assembler said of a text that it did not take
  bool decided = false;  // somebody has made up his mind: the first candidate, if it is marked
  std::string_view basis = "candidates tried"; // what they were chosen from, for people
};
// What was decided; `outcome` is what came of the way that was chosen.
Decision decided(const CoarsenChoices& choices, const Decision& outcome);

// Unless all is asked about, kernels are left out that are likely to be too short.
CoarsenChoices coarsen_choices(emulator::Kernel& kernel, sym::Solver& solver,
                               const target::Profile& profile, CoarsenGrid grid,
                               bool asks_all = false);

} // namespace ptxasw::passes
