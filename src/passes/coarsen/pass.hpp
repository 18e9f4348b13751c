// Thread-block coarsening (--coarsen): one block does the work of several neighbours. PROOF.md says
// why it is sound.
#pragma once

#include "passes/coarsen/search/candidates.hpp"
#include "passes/pass.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptxasw::passes {

class CoarsenPass : public Pass {
public:
  explicit CoarsenPass(const Options& options);

  void find(Analysed& kernel) override;
  [[nodiscard]] bool has_plan() const override;
  Emitted emit(Analysed& kernel) override;
  void yield(Analysed& kernel, const Emitted& other) override;
  void describe(const Analysed& kernel, KernelReport& report) const override;

  // What there is to choose from, empty where there is no choice. Whoever chooses leaves the marks
  // there.
  [[nodiscard]] CoarsenChoices& choices() { return choices_; }
  // There are candidates, and nobody has chosen one.
  [[nodiscard]] bool is_open() const { return !choices_.candidates.empty() && !choices_.decided; }
  // It could be coarsened, were it known what ptxas folds.
  [[nodiscard]] bool is_barred() const { return barred_; }
  // The edits of one candidate, and nothing else. Of a trial and of what is kept they are the same:
  // written once.
  [[nodiscard]] const Coarsened& emit_as(Analysed& kernel, const Coarsening& how);

  // What was emitted last, by choice: its blocks are merged in launches of so many threads and more
  // (0: in all), and smaller ones run the original body, which must not become another program.
  [[nodiscard]] std::optional<std::uint64_t> merged_from() const { return merged_from_; }
  [[nodiscard]] bool keeps_body() const { return keeps_body_; }

private:
  void list_candidates(Analysed& kernel);
  void keep_timed(const profile::Kernel& run); // those that a run has timed

  Coarsening asked_;
  bool automatic_;
  bool is_launched_ = false; // by itself, and not called
  CoarsenChoices choices_;
  Decision found_; // why there is nothing to choose from, or that nobody was asked
  Coarsened made_;
  std::vector<std::pair<Coarsening, Coarsened>> written_; // those that were tried
  bool emitted_ = false, barred_ = false, keeps_body_ = false;
  std::optional<std::uint64_t> merged_from_;
};

extern const PassRow coarsen_row;

} // namespace ptxasw::passes
