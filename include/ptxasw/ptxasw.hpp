// ptxasw: the public interface.
//
//   ptxasw::Optimized result = ptxasw::optimize(text, "kernel.ptx", options);
//   if (result.changed) write(result.text);
//
// Nothing here throws; bad input is reported in the Report and passes through unchanged. The
// functions hold no global state and may be called from several threads.
#pragma once

#include "ptxasw/options.hpp"
#include "ptxasw/report.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw {

std::string_view version(); // "0.1.0"

// Every kernel's accesses, nothing rewritten.
Report analyze(std::string text, std::string file, const Options& options = {});

struct Optimized {
  std::string text; // the input bytes when !changed
  bool changed = false;
  Report report;
};
Optimized optimize(std::string text, std::string file, const Options& options = {});

// The same as optimize, but with the kernels named in `keep` left alone. The driver uses it to take
// back a kernel whose registers would keep it from launching.
Optimized optimize_except(std::string text, std::string file, const Options& options,
                          const std::vector<std::string>& keep);

// Writes down, in the named kernels, which products ptxas is to fuse (see KernelReport::fusable).
// The caller must make sure that it is what ptxas does by itself: assemble both, compare the code.
std::string pin_contraction(std::string text, std::string file,
                            const std::map<std::string, Contraction>& choices);

} // namespace ptxasw
