// A module through all passes.
//
//   recall         what was decided for this very text before; then nothing is asked
//   parse          once; where multiply-adds are pinned, only what was changed is read
//   emulate        each kernel once (KernelJob), kept as long as something about it is open, also
//                  for its pinned text, where no address hangs on what was pinned (carry_over.hpp)
//   choose         which coarsening pays, with the assembler and the cost model
//   contraction    which products the assembler fuses, of kernels that are to be rewritten
//   finish         the edits of all passes that go together (manager/passes.hpp), and the report;
//                  passes that yielded run over what came of the others, in changed kernels only
//   print          once; read back, since what we cannot read nobody should have to
//   judge          the machine code of each copy against the original's, where the assembler has a
//                  choice (oracle/validation.hpp)
//   settle         the text is assembled to be kept; a kernel that might not launch goes back, or
//                  is coarsened in the way that is next best, if one pays
//
// The assembler is asked nothing twice (oracle/memoized.hpp).
#pragma once

#include "manager/passes.hpp"
#include "ptx/module.hpp"
#include "ptxasw/ptxasw.hpp"

namespace ptxasw::manager {

// What the entries of the kernels' own names are to be, where further entries are made.
enum class OwnEntries : std::uint8_t {
  rewritten, // what the options make of them
  as_they_came,
};

// `rewrite` false: analysis only. The assembler may be missing. Throws what goes wrong inside.
Optimized run(const std::string& text, const std::string& file, const Options& options,
              bool rewrite, Assembler* assembler, OwnEntries own = OwnEntries::rewritten);

// What came of these kernels of a module (none are named: of all) under other options: nothing is
// kept of it. Without an assembler they are analyzed only; only these passes are run.
Report tried(const std::shared_ptr<const ptx::Module>& module,
             const std::vector<std::string>& kernels, const Options& options, Assembler* assembler,
             const PassList& passes = all_passes());

} // namespace ptxasw::manager
