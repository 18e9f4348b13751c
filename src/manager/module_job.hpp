// A module with the jobs of its functions, from the parsed text to the one that is to be kept.
//
// Decisions about a kernel are made by choosing among its ways, by pinning its multiply-adds, and
// by refusals; what follows from them (edits, report, text) is derived, and can be derived again.
#pragma once

#include "manager/decisions.hpp"
#include "manager/kernel_job.hpp"
#include "manager/profile_of.hpp"
#include "oracle/printed.hpp"
#include "passes/shared/apply.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::manager {

// A module, and what it took to read it.
struct Input {
  std::shared_ptr<const ptx::Module> module;
  unsigned parses = 0;
  double milliseconds = 0;
};
// What is to be done in it.
struct Sequence {
  PassList passes;
  std::vector<std::string> kernels; // in these; the others are not looked at. Empty: in all
};
// What passes may find in the text that came of others.
struct Deferred {
  std::string kernel;
  PassList passes;
};

class ModuleJob {
public:
  // Emulations are taken from `kept`, if it is given, and given back in the end. `known`: what a
  // profile says of the kernels.
  ModuleJob(Input input, const Options& options, const Sequence& sequence, Purpose purpose,
            emulator::Emulations* kept = nullptr, const KnownKernels* known = nullptr);
  // The same module with pinned multiply-adds, in lines of the same numbers. What was decided
  // before stays so, and what was emulated is kept where no address hangs on what was pinned.
  ModuleJob(passes::Pinning& pinning, ModuleJob& earlier);
  ModuleJob(const ModuleJob&) = delete;
  ModuleJob& operator=(const ModuleJob&) = delete;

  [[nodiscard]] const ptx::Module& module() const { return *module_; }

  // Which coarsening pays, by the assembler and the cost model.
  void choose(Assembler& assembler);
  // The ways that were chosen for an earlier call; false, with nothing done, where they do not fit.
  bool take(const Remembered& remembered);
  // The ways that are chosen now, for a later call.
  [[nodiscard]] std::vector<Remembered::KernelDecision> ways();
  // The same of how loops are rotated, where that was chosen.
  [[nodiscard]] std::map<std::string, passes::LoopCarryCandidate, std::less<>> rotations() const;

  // Kernels that would be rewritten, were it known what ptxas fuses.
  [[nodiscard]] std::vector<std::string> waiting() const;
  // Of kernels that are rewritten.
  [[nodiscard]] std::vector<Deferred> deferred();
  // The module that print() prints, if it is changed. The job is of no use then.
  [[nodiscard]] std::optional<ptx::Module> take_made();
  // What came of asking, where the text stays the same.
  void describe(const passes::Pinning& pinning);
  // Kernels that are rewritten and as they are leave the assembler a choice.
  [[nodiscard]] std::vector<std::string> to_validate() const;
  // Kernels that would not compute with the same operations stay as they are.
  void validate(Assembler& assembler);
  // These are left as they are, and no others but those that were refused, or left for good.
  void leave(const std::vector<Reverted>& reverted);
  // Another way for those of them that have one; the others are left for good, and returned.
  std::vector<Reverted> choose_again(const std::vector<Reverted>& reverted);

  // What an assembler would have to be asked next, for people.
  [[nodiscard]] std::vector<std::string> questions();
  // The module with the edits of all its kernels.
  [[nodiscard]] oracle::Printed print();
  [[nodiscard]] passes::Launches launches(std::string_view name) const;

private:
  struct Kernel {
    std::size_t function = 0;         // index into Module::functions
    std::unique_ptr<Options> options; // its own; null: the module's
    std::optional<KernelJob> job;     // none: nothing will be done about it
    KernelResult result;
    passes::Launches launches;
    Why refused; // why it is left as it is, whatever else is decided
    Why left;    // the same, of one that was reverted
    bool had_candidates = false;
  };
  struct Applied {
    std::vector<passes::FunctionEdits> changes; // by kernel
    passes::Rewritten made;
  };

  void parsed(std::shared_ptr<const ptx::Module> module);
  [[nodiscard]] std::string_view name(const Kernel& kernel) const {
    return module_->functions[kernel.function].name;
  }
  void finish(Kernel& kernel, const Why& leave = {});
  void finish_decided();
  [[nodiscard]] std::vector<std::string> edited() const; // kernels that are rewritten
  [[nodiscard]] std::vector<KernelJob*> open_jobs();
  const Applied& applied();

  Options options_;
  PassList passes_;
  Purpose purpose_;
  std::shared_ptr<const ptx::Module> module_;
  std::vector<Kernel> kernels_;
  std::optional<Applied> applied_; // none: something has been decided since
  Report report_;                  // of the module, without its kernels
};

} // namespace ptxasw::manager
