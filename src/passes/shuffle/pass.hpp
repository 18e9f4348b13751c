// Lane reuse (--shuffle): loads whose value another lane has become shuffles.
#pragma once

#include "passes/pass.hpp"
#include "passes/shuffle/lane.hpp"

namespace ptxasw::passes {

class ShufflePass : public Pass {
public:
  void find(Analysed& kernel) override;
  [[nodiscard]] bool has_plan() const override;
  Emitted emit(Analysed& kernel) override;
  void yield(Analysed& kernel, const Emitted& other) override;
  void describe(const Analysed& kernel, KernelReport& report) const override;

  // What was emitted last, with every load of the kernel.
  [[nodiscard]] const LanePlan& emitted() const { return made_; }

private:
  LanePlan found_, made_;
};

extern const PassRow shuffle_row;

} // namespace ptxasw::passes
