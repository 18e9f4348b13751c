// ptxasw: the public interface.
//
//   ptxasw::Optimized result = ptxasw::optimize(text, "kernel.ptx", options);
//   if (result.changed) write(result.text);
//
// Nothing here throws; bad input is reported in the Report and passes through unchanged. The
// functions hold no global state and may be called from several threads.
#pragma once

#include "ptxasw/assembler.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/report.hpp"

#include <string>
#include <string_view>

namespace ptxasw {

std::string_view version(); // "0.1.0"

// Every kernel's accesses, nothing rewritten.
Report analyze(const std::string& text, const std::string& file, const Options& options = {});

struct Optimized {
  std::string text; // the input bytes when !changed
  bool changed = false;
  Report report;
};
// The assembler is asked which products it fuses, which coarsening pays, and whether what comes
// of it may be kept; without one, what hangs on its answers is left out, and the report says so.
Optimized optimize(const std::string& text, const std::string& file, const Options& options = {},
                   Assembler* assembler = nullptr);

} // namespace ptxasw
