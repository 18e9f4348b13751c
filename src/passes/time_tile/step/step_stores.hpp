// What a step stores, as elements of arrays: for step.cpp.
#pragma once

#include "passes/time_tile/step/step_conditions.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "passes/time_tile/step/step_pins.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <optional>

namespace ptxasw::passes {

// Finds the arrays that are stored to, and adds them to the plan.
class StepStores {
public:
  StepStores(emulator::Kernel& kernel, const StepRegion& region, StepPlan& plan,
             const IntegerPolynomialReader& reader, StepSizes& sizes, const StepPlaces& places)
      : k_(kernel), region_(region), plan_(plan), reader_(reader), sizes_(sizes), places_(places) {}

  // Empty, or why the stores are none of a step. `pins`: of one of several launches, else none.
  Why run(const StepPins& pins, bool may_have_fields);

private:
  Why add_all(const StepPins& pins);
  [[nodiscard]] Why why_no_element(const emulator::Event& event, const ptx::Inst& inst) const;
  Why add(const emulator::Event& event, const StepPins& pins);
  std::optional<IntegerPolynomialReader::Place> place_of(const emulator::Event& event,
                                                         const Bounded& where);
  bool add(StepArray element, const Bounded& where, const StepPins& pins);

  emulator::Kernel& k_;
  const StepRegion& region_;
  StepPlan& plan_;
  const IntegerPolynomialReader& reader_;
  StepSizes& sizes_;
  const StepPlaces& places_;
  std::multimap<ptx::InstId, unsigned> groups_; // of stores: the numbers of their arrays
};

// A thread may come to the load behind a store to the array.
bool is_behind_store(const analysis::Cfg& cfg, const StepArray& array, ptx::InstId load);

} // namespace ptxasw::passes
