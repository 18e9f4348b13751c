// Which coarsening pays most? Asked of an assembler and of the cost model together.
//
// Each kernel lists its candidates (CoarsenChoices). The n-th text to try has every such kernel in
// the form of its n-th candidate; the assembler takes them side by side, and from what
// it says and from the machine code comes what the model needs to know: registers, spills,
// instructions and latency (passes/coarsen/cost/cost.hpp). A second round holds the most promising
// candidates to fewer registers. Every text is the parsed module with other edits: nothing is
// parsed or emulated again.
//
// What is chosen depends on the text, the options and the assembler alone: how much is tried is
// limited by a count of instructions, never by a clock.
#pragma once

#include "passes/coarsen/search/candidates.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::passes {

// A kernel with candidates among which somebody has to choose.
struct CoarsenSearched {
  std::string name;
  CoarsenChoices* choices = nullptr; // the marks of what is chosen are left here
  std::function<std::vector<ptx::Edit>(const Coarsening&)> emit; // that form and nothing else
};

// Options::effort says how much is asked. Leaves the choices in the kernels, and the number of
// trials and their time in the report.
void choose_coarsenings(const ptx::Module& module, std::span<const CoarsenSearched> kernels,
                        const Options& options, Assembler& assembler, Report& report);

// The candidate that was chosen could not be kept (multiply-adds were pinned since it was tried):
// is there another one that pays? It is chosen then.
bool choose_another(const ptx::Module& module, CoarsenChoices& choices, const Reverted& back,
                    const Options& options);

} // namespace ptxasw::passes
