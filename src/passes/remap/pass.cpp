// Of what was asked for; auto proposes.
#include "passes/remap/pass.hpp"

#include "passes/remap/choose.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptxasw::passes {

RemapPass::RemapPass(const Options& options, const ptx::Function& function)
    : asked_(!options.remaps.empty()) {
  if (function.is_entry) wanted_ = remap_of(options, function.name);
}

void RemapPass::find(Analysed&) {}

Emitted RemapPass::emit(Analysed& kernel) {
  made_.reset();
  outcome_ = {};
  if (wanted_.kind == RemapKind::none) return {};
  Remapped done = remap(kernel.kernel, wanted_, kernel.facts);
  outcome_ = std::move(done.outcome);
  made_ = std::move(done.remap);
  if (!made_) return {};
  const bool moves = moves_threads(made_->kind);
  return {.edits = std::move(done.edits),
          .changes = moves ? uses_blocks | uses_loads : uses_blocks,
          .claim = moves ? "its threads do each other's work" : "its blocks are remapped"};
}

void RemapPass::yield(Analysed&, const Emitted& other) {
  made_.reset();
  outcome_ = {};
  if (wanted_.kind != RemapKind::none)
    outcome_ = refusal(Reason::other_rewrite,
                       fmt::format("not remapped ({}): {} already", text_of(wanted_), other.claim));
}

void RemapPass::describe(const Analysed&, KernelReport& report) const {
  report.remapping = outcome_;
}

const PassRow remap_row{.name = "remap",
                        .needs = uses_blocks,
                        .decision = &KernelReport::remapping,
                        .undone = "not remapped",
                        .start = start<RemapPass>};

} // namespace ptxasw::passes
