// The plan has every load; those that stay have their reason.
#include "passes/shuffle/pass.hpp"

#include "passes/shuffle/choose.hpp"
#include "passes/shuffle/shuffle.hpp"

#include <map>

namespace ptxasw::passes {
namespace {

// What comes of it, as far as that does not hang on the machine code.
Decision decision_of(const LanePlan& plan) {
  std::map<Reason, unsigned> counts;
  Reason most = Reason::no_loads;
  for (const Load& load : plan.loads) {
    if (load.cover) return {Status::done, Reason::none, {}};
    if (++counts[load.kept.reason] > counts[most]) most = load.kept.reason;
  }
  return refusal(most, {});
}

} // namespace

void ShufflePass::find(Analysed& kernel) {
  const Options& options = kernel.options;
  LaneOptions lanes{.max_delta = options.shuffle_max_delta,
                    .shared = options.shuffle_shared,
                    .no_index_wrap = kernel.facts.assumed("no-index-wrap"),
                    .paranoid = options.paranoid,
                    .block = kernel.facts.block_shape(),
                    .could_pay = {}};
  if (!options.details && options.shuffle != ShuffleMode::all)
    lanes.could_pay = [&](const Load& load, int delta) {
      return shuffle_could_pay(kernel.kernel, load, delta, options.shuffle,
                               kernel.facts.architecture());
    };
  found_ = find_lane_reuse(kernel.kernel, kernel.solver, lanes);
  choose_shuffles(kernel.kernel, found_, options.shuffle, kernel.facts.architecture());
  if (options.shuffle != ShuffleMode::none && covers_any(found_))
    kernel.planned = "its loads are taken from other lanes";
  made_ = found_;
}

bool ShufflePass::has_plan() const {
  return covers_any(found_);
}

Emitted ShufflePass::emit(Analysed& kernel) {
  made_ = found_;
  if (kernel.options.shuffle == ShuffleMode::none) return {};
  return {.edits = shuffle(kernel.kernel, made_, kernel.options.emit), .changes = uses_loads};
}

void ShufflePass::yield(Analysed& kernel, const Emitted& other) {
  made_ = found_;
  for (Load& load : made_.loads)
    if (load.cover) drop_shuffle(kernel.kernel, load, {Reason::other_rewrite, other.claim});
}

void ShufflePass::describe(const Analysed& kernel, KernelReport& report) const {
  if (kernel.options.shuffle != ShuffleMode::none) report.shuffling = decision_of(made_);
}

const PassRow shuffle_row{.name = "shuffle",
                          .needs = uses_loads,
                          .decision = &KernelReport::shuffling,
                          .undone = "",
                          .start = start<ShufflePass>};

} // namespace ptxasw::passes
