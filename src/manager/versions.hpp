// A module with further entries for its kernels, for a launcher to choose from (--variants).
//
// Beside each kernel, as the options made it, stand the kernel as it was (if the options changed
// it), coarsened forms whose grid the launcher divides, of two, four and eight copies those that
// the model likes best (and one that leaves x alone, since grids are often one block wide), and
// forms with another order of work that the access classes speak for. A launch contract behind them
// says how each is launched (contract/CONTRACT.md).
//
// All forms are made from one text, in which ptxas' choice of fused products is written down where
// anything hangs on it, so that they compute the same bits.
#pragma once

#include "emulator/kept.hpp"
#include "manager/optimize.hpp"
#include "oracle/printed.hpp"
#include "ptx/parse.hpp"

#include <memory>
#include <optional>

namespace ptxasw::manager {

// How a kernel is coarsened for a launcher.
Options for_launcher(Options options);

// `standard` is what the options made of `original`, and what is returned where there are no
// versions or the assembler does not take them. `made`: the module of its text, where it is known.
// The assembler is asked to keep the result. Where own entries stay as they came, `standard` is a
// further entry, and the text of `original` is what is returned. `kept`: what is known of its
// kernels.
Optimized with_versions(oracle::Printed standard, std::optional<ptx::Module> made,
                        const std::shared_ptr<const ptx::Module>& original, const Options& options,
                        Assembler& assembler, emulator::Emulations& kept, OwnEntries own);

} // namespace ptxasw::manager
