// Versions of kernels for a launcher, beside kernels that stay as they are.
#pragma once

#include "ptxasw/ptxasw.hpp"

namespace ptxasw {

// What options.variants and options.steps ask for stands beside the kernels, and what the other
// options make of a kernel does so as well: the entry of its own name is the kernel as it came, of
// which the assembler makes what it made of it before. Contracts say how the entries are launched
// (src/contract/CONTRACT.md). The assembler is asked to keep the result, if anything is changed.
Optimized with_versions(const std::string& text, const std::string& file, const Options& options,
                        Assembler& assembler);

} // namespace ptxasw
