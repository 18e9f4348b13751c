// The configuration that was asked for, or the candidate that is marked as chosen.
#include "passes/coarsen/pass.hpp"

#include "passes/coarsen/cost/cost.hpp"
#include "passes/coarsen/search/measured.hpp"
#include "target/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

CoarsenPass::CoarsenPass(const Options& options)
    : asked_{options.coarsen, options.coarsen_order, options.coarsen_registers,
             options.coarsen_least_threads},
      // With --variants a launcher chooses, and knows how large a launch is.
      automatic_(options.coarsen_auto && asked_.copies() == 1) {}

bool CoarsenPass::has_plan() const {
  return is_launched_ && (automatic_ || asked_.copies() != 1);
}

void CoarsenPass::find(Analysed& kernel) {
  is_launched_ = kernel.function.is_entry;
  if (!automatic_ || kernel.options.variants) return;
  const target::Profile* profile = target::find_profile(kernel.facts.architecture());
  const RemapKind remap = remap_of(kernel.options, kernel.function.name).kind;
  if (!is_launched_)
    found_ = refusal(Reason::not_a_kernel, "not coarsened: nothing launches it by itself");
  else if (profile == nullptr)
    found_ = refusal(Reason::chip_unknown, fmt::format("not coarsened: nothing is known of {}",
                                                       kernel.facts.architecture()));
  else if (!kernel.planned.empty())
    found_ = refusal(Reason::other_rewrite, "not coarsened: " + kernel.planned);
  else if (remap != RemapKind::none && remap != RemapKind::automatic)
    found_ = refusal(Reason::other_rewrite, "not coarsened: its work is to be remapped");
  else if (kernel.barring() != 0) {
    const Why why = kernel.why_bits_could_change();
    found_ = refusal(why.reason, "not coarsened: " + why.text);
    barred_ = may_coarsen(kernel.kernel, kernel.solver, kernel.options.coarsen_grid);
  } else {
    list_candidates(kernel);
  }
}

void CoarsenPass::list_candidates(Analysed& kernel) {
  const Options& options = kernel.options;
  const target::Profile& profile = *target::find_profile(kernel.facts.architecture());
  const bool is_known = kernel.run != nullptr; // which launches are small, and what they lose
  choices_ =
      coarsen_choices(kernel.kernel, kernel.solver,
                      options.coarsen_large || is_known ? for_large_launches(profile) : profile,
                      options.coarsen_grid, options.effort == Effort::thorough || is_known);
  if (is_known) keep_timed(*kernel.run);
  for (CoarsenCandidate& candidate : choices_.candidates)
    if (candidate.how.least_threads != 0 && options.coarsen_least_threads != 0)
      candidate.how.least_threads = options.coarsen_least_threads;
  CoarsenBaseline& original = choices_.original;
  original.bounded = kernel.facts.is_bounded();
  original.resident = kernel.facts.launches().resident;
  original.shared_per_sm = profile.shared_per_sm;
  original.tuned = kernel.facts.is_tuned();
  original.threads = kernel.facts.threads();
  found_ = choices_.candidates.empty()
               ? refusal(choices_.why.reason, "not coarsened: " + choices_.why.text)
               : refusal(Reason::ptxas_not_asked, "not coarsened: ptxas was not asked");
}

void CoarsenPass::keep_timed(const profile::Kernel& run) {
  choices_.run = &run;
  const bool any = !choices_.candidates.empty();
  std::erase_if(choices_.candidates, [&](const CoarsenCandidate& candidate) {
    return !is_timed(run, candidate.how.factors);
  });
  if (any && choices_.candidates.empty())
    choices_.why = {Reason::never_gained, "the profile has no time of a candidate"};
}

Emitted CoarsenPass::emit(Analysed& kernel) {
  made_ = {};
  emitted_ = keeps_body_ = false;
  merged_from_.reset();
  Coarsening how = asked_;
  const bool chosen = !choices_.candidates.empty();
  if (chosen) {
    if (!choices_.candidates.front().chosen) return {};
    how = choices_.candidates.front().how;
  }
  if (!is_launched_ || how.copies() == 1) return {};
  made_ = emit_as(kernel, how);
  emitted_ = true;
  if (chosen && !made_.edits.empty()) {
    merged_from_ = how.least_threads;
    keeps_body_ = how.least_threads != 0 && !kernel.options.coarsen_large &&
                  (choices_.run == nullptr || (choices_.candidates.front().body_changed.empty() &&
                                               has_smaller(*choices_.run, how.least_threads)));
  }
  return {.edits = std::move(made_.edits),
          .changes = uses_blocks | uses_loads,
          .claim = "its blocks are merged",
          .again = true};
}

void CoarsenPass::yield(Analysed&, const Emitted&) {
  made_ = {};
  emitted_ = keeps_body_ = false;
  merged_from_.reset();
}

void CoarsenPass::describe(const Analysed&, KernelReport& report) const {
  report.coarsening = emitted_ ? made_.outcome : found_;
  if (emitted_) {
    report.grid_divided_by = made_.grid_divided_by;
    report.grid_rest_by_itself = made_.rest_by_itself;
  }
  if (choices_.decided) report.coarsening = decided(choices_, report.coarsening);
  report.weighed = {choices_.original, choices_.candidates};
}

const Coarsened& CoarsenPass::emit_as(Analysed& kernel, const Coarsening& how) {
  const auto found = std::ranges::find(written_, how, &std::pair<Coarsening, Coarsened>::first);
  if (found != written_.end()) return found->second;
  written_.emplace_back(how, coarsen(kernel.kernel, kernel.solver, how, kernel.options.coarsen_grid,
                                     kernel.options.paranoid));
  return written_.back().second;
}

const PassRow coarsen_row{.name = "coarsen",
                          .needs = uses_blocks | uses_loads,
                          .decision = &KernelReport::coarsening,
                          .undone = "not coarsened",
                          .start = start<CoarsenPass>};

} // namespace ptxasw::passes
