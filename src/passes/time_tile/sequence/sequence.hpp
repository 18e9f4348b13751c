// A time step that is several launches: stages, each of which stores to arrays that others read.
//
//     v(x) = v(x) + f(u(x - 1), u(x), u(x + 1));    then    u(x) = u(x) + v(x)
//
// The program launches them in turn, over and over, with the same parameters. A place in the grid
// is the same thread of each stage, and has one element of each array: so T passes through all
// stages can be computed on chip for a region, array by array in one place each
// (sequence_writer.hpp).
//
// Conditions beside those of a step (step.hpp), of each stage:
//   an array that it stores to it reads at its own place alone, or
//     where none of its places is (step_pins.hpp)                   find_stage
//   what it reads of others' arrays is theirs at constant offsets   find_stage, by elements as
//   the elements of an array are the same in each stage             its own parameters have them
//   no stage leaves a torus that another one reads around           find_periods
// A launch of a kernel along a line may be several stages, each a row or a column of arrays whose
// elements the other stages have (rims.hpp).
// A parameter that varies from pass to pass is part of stored values alone, and of where arrays are
// read that nobody stores to.
// Which parameters of stages are one array, or one size, is what the program was seen to launch
// (contract::SeenSequence); that they are so again is asked of each launch
// (contract/sequences.hpp).
#pragma once

#include "contract/sequences.hpp"
#include "passes/time_tile/sequence/rims.hpp"
#include "passes/time_tile/step/step.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ptxasw::passes {

struct SequencePlan {
  Why refused; // nothing else is then valid
  struct Stage {
    StepPlan plan;
    unsigned launch = 0;      // that it is, or is part of
    std::shared_ptr<Rim> rim; // which part: one of rims.hpp; null: the kernel does nothing else
    std::array<contract::Expression, 3> extents; // of a rim: places that have a thread
    std::vector<unsigned> arrays; // by array of the plan: which of the sequence's it is
    [[nodiscard]] bool stores(unsigned array) const; // of the sequence
  };
  std::vector<Stage> stages;
  // Along such an axis places are taken modulo a size, in all stages; as a stage's parameters have
  // it.
  struct Period {
    std::size_t stage = 0;
    IntegerPolynomial size;
  };
  std::array<std::optional<Period>, 3> periods;
  // As far as its region is concerned: the arrays that some stage stores to, and what a pass reads
  // beside a place. Elements are those of the first stage that stores to them.
  StepPlan region;
  // By array. Parts are those of launches.
  std::vector<contract::Sequence::Part> pointers;
  // By array: which tile in shared memory has it where it is read beside a place. Arrays have one
  // in common if no stage needs both.
  std::vector<unsigned> tiles;
  std::vector<contract::Sequence::Equal> equal;
  bool same_threads = false;                     // that all launches have as many is asked of them
  std::vector<contract::Sequence::Part> varying; // parameters that each pass has its own value of
  // The first stage of a launch: they have their parameters in common.
  [[nodiscard]] std::size_t stage_of(unsigned launch) const;
};

// Which tile an array has, of whose stages and arrays all else is known.
std::vector<unsigned> shared_tiles(const SequencePlan& plan);

// `kernels`: of the launches, in their order.
SequencePlan find_sequence(std::span<emulator::Kernel* const> kernels,
                           const contract::SeenSequence& seen);

} // namespace ptxasw::passes
