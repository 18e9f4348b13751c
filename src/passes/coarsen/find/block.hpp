// The coverage query along the block axis.
//
// A coarsened kernel runs C copies of its body side by side in one thread ("in lockstep"): every
// segment of code (block_order.hpp; often a single instruction) stands there for copy 0, copy 1,
// ... before the next one begins. The copies differ in %ctaid of the coarsened axes only. A load D
// of copy c is covered when an earlier load S of some copy c' read the very bytes that D needs:
//
//     address of S in copy c'  =  address of D in copy c
//
// and then D is no instruction at all. Conditions, and where each is checked:
//   the kernel may be coarsened at all                                 block_rules.hpp
//   S is run before D on every path, in the same trip of its loops     precedes
//   S took effect in copy c' whenever D does in copy c                 source_executed
//   copy c itself has not written the bytes since S                    undisturbed
//   S's register still has the value, or a copy is kept                CopyLoad::needs_copy
//   same width and kind of value                                       same_shape
//   the addresses                                                      BlockShift, Bounds, match
// Where copies diverge, each runs a region by itself, and other conditions hold: region_loads.hpp.
// Why that is enough is worked out in src/passes/coarsen/PROOF.md.
//
// An axis is cut into copies by whole blocks (%ctaid.y + c) or, where a kernel uses %ctaid.y and
// %tid.y only as %ctaid.y*%ntid.y + %tid.y, by rows: the thread takes C consecutive values of that
// sum. Rows are what a block of several rows needs to share loads, and the same thing as blocks
// when %ntid.y is 1.
#pragma once

#include "analysis/replica_divergence.hpp"
#include "emulator/emulate.hpp"
#include "passes/coarsen/find/block_bound.hpp"
#include "passes/coarsen/find/block_order.hpp"
#include "passes/shared/block_shift.hpp"
#include "symbolic/solver.hpp"

#include <array>
#include <optional>
#include <vector>

namespace ptxasw::passes {

// Where the value of one load of one copy comes from.
struct Source {
  std::size_t load = 0; // index into BlockPlan::loads
  unsigned copy = 0;
};

struct CopyLoad {
  std::optional<Source> from; // none: the load is done
  bool bounded = false;       // rests on BlockPlan::bound
  bool needs_copy = false;    // the source's register does not keep the value
  // Of a region that the source's copy may have passed by: then the load is done
  // (region_loads.hpp).
  bool if_entered = false;
  sym::ProofKind proof = sym::ProofKind::none;
};

struct BlockLoad {
  std::size_t event = 0;
  // One entry for each copy; a single one if the result is the same in all.
  std::vector<CopyLoad> copies;
};

struct BlockOptions {
  std::array<unsigned, 3> factors{1, 1, 1};
  bool rows = true; // where possible
  bool meet = true; // also kernels whose threads meet (block_uniform.hpp)
  // Also where threads that do not meet diverge in loops, or by what they have loaded: in regions,
  // which share loads.
  bool regions = false;
  CopyOrder order = CopyOrder::copies;
  bool paranoid = false;
};

struct BlockPlan {
  Why refused; // why the kernel cannot be coarsened so; nothing else is then valid
  std::array<Axis, 3> axes;
  std::vector<std::array<unsigned, 3>> copies; // offsets along the axes; copy 0 has none
  analysis::ReplicaDivergence replica_divergence;
  std::vector<Region> regions; // in program order
  // All threads of a block take one form, so they may meet (block_uniform.hpp). Only then:
  bool uniform = false;
  std::vector<std::uint32_t> own; // symbols of shared memory of which each copy has its own
  Schedule schedule;
  std::vector<BlockLoad> loads;  // in program order
  IndexBound bound;              // to be checked on entry, unless empty
  std::array<sym::Term, 3> rows; // by axis that is cut by rows: the atom that stands for the row

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(copies.size()); }
};

// A plan with the copies, their variance and the reason against it, if there is one; no loads yet.
BlockPlan plan_copies(emulator::Kernel& kernel, const BlockOptions& options);

// The whole plan.
BlockPlan find_block_reuse(emulator::Kernel& kernel, sym::Solver& solver,
                           const BlockOptions& options);

} // namespace ptxasw::passes
