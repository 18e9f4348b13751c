// Loop-carried reuse (--loop-carry): a register carries a loaded value to the next iteration.
// PROOF.md says why it is sound.
#pragma once

#include "passes/loop_carry/search.hpp"
#include "passes/pass.hpp"

namespace ptxasw::passes {

class LoopCarryPass : public Pass {
public:
  explicit LoopCarryPass(const Options& options) : way_(rotation_without_limit(options)) {}

  void find(Analysed& kernel) override;
  [[nodiscard]] bool has_plan() const override { return !found_.plan.loops.empty(); }
  Emitted emit(Analysed& kernel) override;
  void yield(Analysed& kernel, const Emitted& other) override;
  void describe(const Analysed& kernel, KernelReport& report) const override;

  // How many iterations are written one after another, in how many registers.
  [[nodiscard]] LoopCarryCandidate& way() { return way_; }
  // The edits of another way, and nothing else.
  [[nodiscard]] std::vector<ptx::Edit> emit_as(Analysed& kernel,
                                               const LoopCarryCandidate& way) const;
  // What was emitted last.
  [[nodiscard]] const LoopCarryPlan& emitted() const { return made_.plan; }
  [[nodiscard]] bool is_emitted() const { return emitted_; }

private:
  LoopCarryCandidate way_;
  LoopCarryChoice found_, made_;
  bool emitted_ = false;
};

extern const PassRow loop_carry_row;

} // namespace ptxasw::passes
