// What a step's loads read, case by case: for step.cpp.
#pragma once

#include "passes/time_tile/step/step_conditions.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "passes/time_tile/step/step_pins.hpp"
#include "passes/time_tile/step/step_reads.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <string_view>
#include <vector>

namespace ptxasw::passes {

// Reads addresses under the conditions that they are chosen by and the branches in front of them.
class StepLoads {
public:
  // The plan's stores are known.
  StepLoads(emulator::Kernel& kernel, const StepRegion& region, const StepPlan& plan,
            const IntegerPolynomialReader& reader, const StepSizes& sizes, const StepPlaces& places)
      : k_(kernel), c_(*kernel.context), region_(region), plan_(plan), reader_(reader),
        sizes_(sizes), places_(places) {}

  Why refused; // what run() found is then not valid
  // `stage`: of one of several launches, which may read an array that it stores to.
  std::vector<StepRead> run(const StepPins* stage = nullptr);
  std::vector<contract::Variable> variables; // that are read at a constant offset

  // What the branches say that lead to a block, beside the guards; as far as it is bounds.
  struct Facts {
    Bounded bounded;
    bool is_all = true; // nothing else
  };
  [[nodiscard]] Facts facts_of(analysis::BlockId block) const;

private:
  void add(const emulator::Event& event);
  bool add_variable(const emulator::Event& event);
  void refuse(Reason reason, const emulator::Event& event, std::string_view why);
  void sort_cases(StepRead& read, std::vector<AddressCase> cases) const;
  void fix_points(StepRead& read) const;

  emulator::Kernel& k_;
  sym::Context& c_;
  const StepRegion& region_;
  const StepPlan& plan_;
  const IntegerPolynomialReader& reader_;
  const StepSizes& sizes_;
  const StepPlaces& places_;
  std::vector<StepRead> reads_;
  const StepPins* stage_ = nullptr;
};

} // namespace ptxasw::passes
