// Tree reductions within a warp (--warp-reduce): their last steps by shuffles, without barriers.
// PROOF.md says why it is sound.
#pragma once

#include "passes/pass.hpp"
#include "passes/warp_reduce/choose.hpp"

namespace ptxasw::passes {

class WarpReducePass : public Pass {
public:
  void find(Analysed& kernel) override;
  [[nodiscard]] bool has_plan() const override { return !found_.plan.stretches.empty(); }
  Emitted emit(Analysed& kernel) override;
  void yield(Analysed& kernel, const Emitted& other) override;
  void describe(const Analysed& kernel, KernelReport& report) const override;
  // A tree is found as well where one block does the work of several.
  [[nodiscard]] bool is_deferred() const override { return deferred_; }

private:
  TreeReductionChoice found_;
  Decision outcome_;
  bool deferred_ = false;
};

extern const PassRow warp_reduce_row;

} // namespace ptxasw::passes
