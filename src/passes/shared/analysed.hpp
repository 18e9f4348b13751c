// A kernel that has been emulated, as a pass sees it.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "passes/shared/function_facts.hpp"
#include "profile/profile.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "symbolic/solver.hpp"

#include <optional>
#include <string>

namespace ptxasw::passes {

// All that it refers to must outlive it.
struct Analysed {
  emulator::Kernel& kernel;
  sym::Solver& solver;
  const ptx::Function& function;
  const Options& options;
  const FunctionFacts& facts;
  const profile::Kernel* run = nullptr; // what a run measured of it; null: nothing
  bool is_validated = false;            // machine code will be compared with the original's
  std::string planned;  // what passes that have looked already will do with its loads
  std::string unpinned; // why it could not be written down what ptxas fuses

  // The latitude of ptxas to compute otherwise.
  [[nodiscard]] const Latitude& latitude();
  // Approximate functions that may be folded in one place and not in another, and products that may
  // be made one with another; of those that fold alike, machine code shows whether they are.
  [[nodiscard]] unsigned barring();
  // Why the bits of results could change although each operation stays what it is; empty if they
  // cannot.
  [[nodiscard]] Why why_bits_could_change();

  std::optional<Latitude> counted; // by freedom()
};

inline Decision refusal(Reason reason, const std::string& text) {
  return {Status::refused, reason, text};
}

} // namespace ptxasw::passes
