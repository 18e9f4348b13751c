// One function, emulated once and kept with the plans of its passes: the candidates among which
// somebody has to choose, the edits of each of them, and, when all is decided, what becomes of it.
#pragma once

#include "emulator/kept.hpp"
#include "manager/passes.hpp"
#include "passes/coarsen/search/search.hpp"
#include "passes/loop_carry/search.hpp"
#include "passes/pin_fma/search.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "ptxasw/report.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::manager {

// What is to become of a function.
enum class Purpose : std::uint8_t {
  analyze,
  rewrite,
  rewrite_validated, // and the machine code will be judged (oracle/validation.hpp)
};

struct KernelResult {
  KernelReport report;
  std::vector<ptx::Edit> edits; // empty: leave the function as it is
  // Would be rewritten, were it known which products ptxas fuses.
  bool waits_for_contraction = false;
  bool rotated = false; // or would be, as above
  PassList emitted;     // whose edits these are
  PassList deferred;    // may find as much in the text that comes of these edits
  // Its blocks are merged, as --coarsen=auto chose, in launches of so many threads and more, and
  // nothing else is changed.
  std::optional<std::uint64_t> merged_from;
  bool keeps_body = false;       // which smaller ones run: it must not have become another program
  std::optional<Remap> remapped; // in this order
  std::vector<PassStatistics> statistics; // since the last result
};

// Nothing here throws; a function that cannot be handled has no ways, no edits, and a reason in its
// report. Module, function and options must outlive the job.
class KernelJob {
public:
  // Emulates the function, or takes it from `kept` and gives it back in the end, and finds what it
  // shares. `run`: what a run measured of it, if anything.
  KernelJob(const ptx::Module& module, const ptx::Function& function, const Options& options,
            const PassList& passes, Purpose purpose, emulator::Emulations* kept = nullptr,
            const profile::Kernel* run = nullptr);
  // The same function in another text, with pinned multiply-adds, in lines of the same numbers.
  // What was found by emulating it is taken from the earlier job, which is of no use then, unless
  // the addresses may hang on what was changed.
  KernelJob(const ptx::Module& module, const ptx::Function& function, const Options& options,
            const PassList& passes, Purpose purpose, KernelJob& earlier);
  ~KernelJob();
  KernelJob(KernelJob&& other) noexcept;
  KernelJob& operator=(KernelJob&& other) noexcept;

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] bool is_emulated() const; // for this job, and not taken from another one
  [[nodiscard]] passes::Launches launches() const;

  // The candidates of --coarsen, empty where there is nothing to choose from. Whoever has chosen
  // leaves the marks there.
  [[nodiscard]] passes::CoarsenChoices& candidates();
  // The edits of one of them, and nothing else.
  [[nodiscard]] passes::Coarsened coarsened(const Coarsening& how);
  // For whoever chooses; the job must stay where it is meanwhile.
  [[nodiscard]] passes::CoarsenSearched coarsen_searched();

  // How its loops are rotated, if they are.
  [[nodiscard]] passes::LoopCarryCandidate rotation() const;
  void rotate(const passes::LoopCarryCandidate& way);
  // A limit of registers may be written down for that: it has no directives of its own.
  [[nodiscard]] bool may_limit_loop_carry() const;
  [[nodiscard]] passes::LoopCarrySearched rotation_searched();

  // What came of asking which products are fused in it.
  void describe(const passes::Pinning::Kernel& pinning);

  // What becomes of it with what is decided. A reason to leave it alone overrules everything.
  KernelResult finish(const Why& leave = {});

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace ptxasw::manager
