// A kernel with a tile in shared memory as the same kernel without: each load of the tile becomes
// one of the element of global memory that some thread of the block put there (tile_reads.hpp).
// What is left of filling the tile is left out. Steps are looked for in that kernel; it is never
// launched.
//
// The shape of the blocks, and that no index wraps, are conditions on the launch.
#pragma once

#include "passes/time_tile/other_kernel/chosen_loads.hpp"
#include "passes/time_tile/other_kernel/enough_threads.hpp"
#include "passes/time_tile/other_kernel/idle_barriers.hpp"
#include "passes/time_tile/other_kernel/joined_guards.hpp"
#include "passes/time_tile/other_kernel/sweep.hpp"
#include "passes/time_tile/other_kernel/unroll.hpp"
#include "passes/time_tile/step/step.hpp"

#include <memory>
#include <span>

namespace ptxasw::passes {

struct Untiled {
  Why refused; // what is below is then not valid
  std::shared_ptr<const ptx::Module> module;
  emulator::Kernel kernel;
  std::vector<contract::Condition> conditions;
};

// Stores and loads of shared memory.
bool has_tile(const ptx::Body& body);

// Of blocks of these shapes, if any of them fits; or else of the likely ones.
Untiled untile(const emulator::Kernel& kernel, const emulator::Budget& budget = {},
               std::span<const BlockShape> shapes = {});

// A kernel as steps are looked for in it: without barriers at which nothing is handed on, without
// loops of a known length, without guards of several ways, without loads of which data choose the
// address, with threads in the place of a loop over places, with one place for each thread, and
// without a tile.
class StepKernel {
public:
  explicit StepKernel(emulator::Kernel& kernel, const emulator::Budget& budget = {},
                      std::span<const BlockShape> launched = {});

  [[nodiscard]] emulator::Kernel& kernel();
  StepPlan find(Motion motion = Motion::exchanged, unsigned choice = 0);

private:
  void add_conditions(StepPlan& plan) const;

  emulator::Kernel& kernel_;
  Why refused_;
  std::optional<OtherKernel> without_barriers_;
  Unrolled unrolled_;
  std::optional<JoinedGuards> joined_;
  ChosenLoads chosen_;
  Swept swept_;
  std::optional<Untiled> untiled_;
  // Of a kernel with loops of which nothing else makes a step: without these.
  std::optional<EnoughThreads> enough_;
  Why without_loops_; // why that is no step
  std::unique_ptr<StepKernel> of_enough_;
};

} // namespace ptxasw::passes
