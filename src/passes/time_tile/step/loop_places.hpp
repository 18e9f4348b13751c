// Whether a loop goes on where it counts from the place of a thread:
//
//   for (row = y - 1; row <= y + 1; ++row) for (column = x - 1; column <= x + 1; ++column) ...
//
// Over whole numbers y - 1 + k <= y + 1 hangs on k alone. It is what the machine computes unless a
// sum wraps: of no thread of the launch, a condition. For loop_iterations.cpp.
#pragma once

#include "passes/time_tile/step/step_loops.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

class LoopPlaces {
public:
  explicit LoopPlaces(emulator::Kernel& kernel);

  // Of a comparison: how it ends for all threads of each launch that meets `conditions`. None: that
  // is not known.
  struct Decided {
    bool holds = false;
    std::vector<contract::Condition> conditions;
  };
  [[nodiscard]] std::optional<Decided> decide(sym::Term condition) const;

private:
  void find(emulator::Kernel& kernel);
  [[nodiscard]] bool add_for_all(std::vector<contract::Condition>& conditions,
                                 const InRange& range) const;

  sym::Context& c_;
  StepPlaces places_;
  std::vector<contract::Condition> known_;        // of blocks, and of rows
  std::optional<IntegerPolynomialReader> reader_; // none: threads have no places
};

} // namespace ptxasw::passes
