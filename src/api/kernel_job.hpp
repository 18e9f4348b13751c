// One function through the whole pipeline: emulate, find reuse, choose, rewrite, report.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/report.hpp"

#include <vector>

namespace ptxasw::api {

struct KernelResult {
  KernelReport report;
  std::vector<ptx::Edit> edits; // empty: leave the function as it is
};

// Never throws; a function that cannot be handled comes back without edits and with a reason.
// `rewrite` false: analysis only.
KernelResult process(const ptx::Module& module, const ptx::Function& function,
                     const Options& options, bool rewrite);

} // namespace ptxasw::api
