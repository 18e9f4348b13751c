// Entries that do several launches of a time step at once (--steps), for a launcher or a host that
// reads the launch contract.
//
// Each kernel that is a step (passes/time_tile/step/step.hpp) gets one. One that writes an array
// and reads two others gets a further one, for a program in which the three rotate. They are made
// from a text in which ptxas' choice of fused products is written down, where there is one, and
// kept if they become the same floating-point operations as the kernel does
// (oracle/validation.hpp).
#pragma once

#include "contract/contract.hpp"
#include "emulator/kept.hpp"
#include "passes/time_tile/step/step.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::passes {

struct StepEntries {
  std::string text;                          // of the functions
  std::vector<contract::Steps> steps;        // empty: there are none
  std::optional<contract::CopyKernel> copy;  // of one that does nothing else; there are no entries
  std::vector<contract::Sequence> sequences; // whose first stage it is
  [[nodiscard]] bool any() const { return !steps.empty() || copy || !sequences.empty(); }
  std::string outcome;           // in words, for the report
  Reason against = Reason::none; // where there is no entry
};

// Writes down which products the assembler fuses in these kernels: the text in which that is done,
// if there is one, and why it is not done in others.
struct PinnedText {
  std::optional<ptx::Module> module;
  std::map<std::string, std::string, std::less<>> refused; // empty words: it is done
};
using PinText =
    std::function<PinnedText(const ptx::Module& module, const std::vector<std::string>& kernels)>;

// By kernel. `module`: as the compiler made it.
std::map<std::string, StepEntries, std::less<>>
make_step_entries(const ptx::Module& module, const Options& options, const PinText& pin,
                  emulator::Emulations& kept, Assembler& assembler);

// "a time step from parameter 0 to 1, reads (-1,0,0) (0,0,0) (1,0,0)", or why it is none.
std::string describe_step(const StepPlan& plan);
// A step of three arrays in rotation for which entries are made.
bool is_wave(const StepPlan& rotated);
// Of the same kernel, if its arrays rotate: "; or a time step of three arrays in rotation from
// parameter 1 to 2, reads (-1,0,0) (1,0,0), of the older array 0 reads (0,0,0)"; empty if it is
// no wave.
std::string or_describe(const StepPlan& rotated);

} // namespace ptxasw::passes
