// What the profile that the options name says of the kernels of a module.
#pragma once

#include "profile/lookup.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::manager {

// Under which a profile knows the kernel: profile/text.hpp.
[[nodiscard]] std::uint64_t hash_of(const ptx::Module& module, const ptx::Function& kernel);

class KnownKernels {
public:
  // Reads the profile. What is wrong with it, or with a part of it, is a warning, and then nothing
  // is known.
  KnownKernels(const ptx::Module& module, const Options& options);

  [[nodiscard]] profile::Answer answer(std::size_t function) const; // index into Module::functions
  // A kernel's own options, where it differs from its module's; null: those of the module.
  [[nodiscard]] std::unique_ptr<Options> options_for(std::size_t function,
                                                     const Options& module) const;
  // Behind the text of the module the key of what was decided of it.
  [[nodiscard]] const std::string& relevant() const { return lookup_.relevant(); }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
  void look_up(const ptx::Module& module, const Options& options);

  profile::Profile profile_;
  profile::Lookup lookup_;          // in it
  std::vector<std::size_t> places_; // by function: among those that were looked up
  std::vector<std::string> warnings_;
};

// The order of work, "thread-swap:32", that was fastest for all launches of the run together and
// lost none of them; empty: none, or merging blocks gained more.
[[nodiscard]] std::string best_order(const profile::Kernel& run);

// Empty, or why a kernel is left as it is by what a run has shown.
[[nodiscard]] Why why_untouched(const profile::Answer& answer);

} // namespace ptxasw::manager
