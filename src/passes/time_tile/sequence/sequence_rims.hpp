// Launches of kernels along a line, or that are moved, as stages of two dimensions (rims.hpp), and
// when several stages may stand for one launch.
//
// The launch does all of its stores for one thread behind the other, and its threads in any order;
// the stages do a store for all threads, then the next one. That is the same if of each two stages
// of it no place of one touches an element that one of the other stores to, or (of each pair of
// accesses of which one stores)
//   they are those of one thread, in the order of the stages: rows of one axis; where a row and a
//     column cross, their coordinates tell: a condition
//   both store one value
// Boxes of places are compared, so that is a condition on the launch, too.
#pragma once

#include "contract/sequences.hpp"
#include "passes/time_tile/sequence/rims.hpp"
#include "passes/time_tile/sequence/sequence.hpp"

#include <memory>
#include <span>
#include <vector>

namespace ptxasw::passes {

class SequenceRims {
public:
  SequenceRims(std::span<emulator::Kernel* const> kernels, const contract::SeenSequence& seen);

  // By launch: its stages; empty: the launch is one, by its own kernel.
  void add(std::vector<std::shared_ptr<Rim>> rims);
  // Stages in the place of launches.
  [[nodiscard]] std::span<emulator::Kernel* const> kernels() const { return stages_; }
  [[nodiscard]] const contract::SeenSequence& seen() const { return made_; }
  // Parts of stages become those of launches, conditions of rims those of their launches.
  void give_back(SequencePlan& plan);

private:
  void add_classes();
  void add_to_launch(SequencePlan& plan) const;
  void order(SequencePlan& plan, std::size_t first, std::size_t second) const;

  const std::span<emulator::Kernel* const> launches_;
  const contract::SeenSequence& seen_;
  std::vector<emulator::Kernel*> stages_;
  std::vector<std::shared_ptr<Rim>> rims_; // by stage; null: it is a launch
  std::vector<unsigned> launch_of_;        // by stage
  contract::SeenSequence made_;
};

} // namespace ptxasw::passes
