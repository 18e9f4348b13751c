// A module through the whole pipeline.
//
//   parse          once; a module whose multiply-adds were pinned is another text, and parsed again
//   emulate        each kernel once (KernelJob), kept as long as something about it is open
//   contraction    which products the assembler fuses, where rewritten kernels would hang on that
//   choose         which coarsening pays, with the assembler and the cost model
//   finish         the edits of all rewrites that go together (arbitrate), and the report
//   print          once; read back, since what we cannot read nobody should have to
//   settle         the text is assembled to be kept; a kernel that might not launch goes back
#pragma once

#include "ptxasw/ptxasw.hpp"

namespace ptxasw::pipeline {

// `rewrite` false: analysis only. The assembler may be missing. Throws what goes wrong inside.
Optimized run(std::string text, std::string file, const Options& options, bool rewrite,
              Assembler* assembler);

} // namespace ptxasw::pipeline
