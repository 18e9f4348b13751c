// Blocks or threads do each other's work, in an order that suits caches (--remap). PROOF.md says
// why it is sound.
#pragma once

#include "passes/pass.hpp"

#include <optional>

namespace ptxasw::passes {

class RemapPass : public Pass {
public:
  RemapPass(const Options& options, const ptx::Function& function);

  // All is proven when it is emitted: nothing is for one that has to yield.
  void find(Analysed& kernel) override;
  [[nodiscard]] bool has_plan() const override { return asked_; }
  Emitted emit(Analysed& kernel) override;
  void yield(Analysed& kernel, const Emitted& other) override;
  void describe(const Analysed& kernel, KernelReport& report) const override;

  // What was emitted last.
  [[nodiscard]] const std::optional<Remap>& emitted() const { return made_; }

private:
  bool asked_; // for any kernel
  Remap wanted_;
  std::optional<Remap> made_;
  Decision outcome_;
};

extern const PassRow remap_row;

} // namespace ptxasw::passes
