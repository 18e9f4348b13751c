// The instructions that guards and stored values are computed by, which an entry copies: up to
// coordinates and to loads of the arrays that the steps carry.
#pragma once

#include "passes/time_tile/step/step.hpp"
#include "passes/time_tile/step/step_reads.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ptxasw::passes {

class StepSlice {
public:
  // All that leads to the block is guards and bounds of the place.
  using HasAll = std::function<bool(analysis::BlockId)>;

  // Of the plan: its guards, arrays, forks and places.
  StepSlice(const emulator::Kernel& kernel, const StepRegion& region, StepPlan& plan,
            HasAll has_all)
      : k_(kernel), body_(kernel.body), region_(region), plan_(plan), has_all_(std::move(has_all)) {
  }

  // Into the plan, with what a mask changes there; or why something cannot be copied. `others`:
  // reads of arrays that do not move.
  Why run(std::span<const StepRead* const> others);

private:
  void refuse(Reason reason, std::string why);
  void refuse(Reason reason, const ptx::Inst& inst, std::string_view why);
  void check_guard(ptx::InstId id, std::span<const StepRead* const> others);
  void add_mask(ptx::InstId id, std::span<const StepRead* const> others);
  [[nodiscard]] std::size_t definitions_of(ptx::InstId id) const;
  std::vector<ptx::InstId> slice_of(std::span<const ptx::Arg> roots);
  void check_order(std::span<const ptx::InstId> slice);
  bool may_be_copied(ptx::InstId id);
  void find_late(std::span<const StepRead* const> others);
  [[nodiscard]] bool is_chosen_by_data(ptx::InstId table) const;

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const StepRegion& region_;
  StepPlan& plan_;
  const HasAll has_all_;
  Why refused_;
  std::vector<std::vector<ptx::InstId>> on_way_; // by register: what writes it on the way
};

} // namespace ptxasw::passes
