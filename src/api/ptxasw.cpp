// The public interface: a module in, a report and perhaps another text out.
#include "ptxasw/ptxasw.hpp"

#include "api/kernel_job.hpp"
#include "rewrite/apply.hpp"
#include "rewrite/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>

namespace ptxasw {

namespace {

class Timer {
public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Report describe(const ptx::Module& module) {
  Report report;
  report.file = module.file;
  for (const ptx::Diagnostic& diagnostic : module.diagnostics) {
    const ptx::Position at = module.lines.position(diagnostic.where.begin);
    report.messages.push_back(
        {at.line, at.column, ptx::render(diagnostic, *module.text, module.lines, module.file)});
  }
  const ptx::Coverage coverage = ptx::coverage(module);
  report.statements = coverage.statements;
  report.opaque_statements = coverage.opaque_statements;
  report.bytes = coverage.bytes;
  report.opaque_bytes = coverage.opaque_bytes;
  return report;
}

// The kernel stays as it was, whatever was planned for it.
void take_back(KernelReport& kernel, const std::string& why) {
  kernel.changed = false;
  kernel.reason = why;
  if (!kernel.coarsening.empty()) kernel.coarsening = "not coarsened: " + why;
  if (!kernel.remapping.empty()) kernel.remapping = "not remapped: " + why;
  kernel.grid_divided_by = {1, 1, 1};
}

Optimized run(std::string text, std::string file, const Options& options, bool rewrite,
              const std::vector<std::string>& keep) {
  Optimized result;
  if (text.size() > options.size_limit) {
    result.report.file = file;
    result.report.bytes = text.size();
    result.report.messages.push_back(
        {0, 0,
         fmt::format("{}: {} bytes, more than the size limit of {}; left alone", file, text.size(),
                     options.size_limit)});
    result.text = std::move(text);
    return result;
  }
  Timer parse_timer;
  const ptx::Module module = ptx::parse(std::move(text), std::move(file));
  result.report = describe(module);
  result.report.parse_ms = parse_timer.milliseconds();

  Timer analyze_timer;
  std::vector<rewrite::FunctionEdits> changes; // by kernel of the report
  for (const ptx::Function& function : module.functions) {
    if (function.is_declaration) continue;
    const bool kept = std::ranges::find(keep, function.name) != keep.end();
    api::KernelResult kernel = api::process(module, function, options, rewrite && !kept);
    if (kept) kernel.report.reason = "left as it was on request";
    changes.push_back({static_cast<std::size_t>(&function - module.functions.data()),
                       std::move(kernel.edits),
                       {}});
    result.report.kernels.push_back(std::move(kernel.report));
  }
  result.report.analyze_ms = analyze_timer.milliseconds();

  Timer print_timer;
  result.text = rewrite::apply(module, changes);
  for (std::size_t n = 0; n < changes.size(); ++n) {
    if (!changes[n].refused.empty()) take_back(result.report.kernels[n], changes[n].refused);
  }
  result.changed = std::ranges::any_of(result.report.kernels,
                                       [](const KernelReport& kernel) { return kernel.changed; });
  result.report.print_ms = print_timer.milliseconds();
  return result;
}

// Nothing may escape: a failure of ours must never fail the build.
Optimized guarded(const std::string& text, const std::string& file, const Options& options,
                  bool rewrite, const std::vector<std::string>& keep) {
  try {
    return run(text, file, options, rewrite, keep);
  } catch (const std::exception& error) {
    Optimized result;
    result.text = text;
    result.report.file = file;
    result.report.messages.push_back(
        {0, 0, fmt::format("{}: internal error: {}", file, error.what())});
    return result;
  }
}

} // namespace

std::string_view version() {
  return "0.1.0";
}

Report analyze(std::string text, std::string file, const Options& options) {
  return guarded(text, file, options, false, {}).report;
}

Optimized optimize(std::string text, std::string file, const Options& options) {
  return optimize_except(std::move(text), std::move(file), options, {});
}

Optimized optimize_except(std::string text, std::string file, const Options& options,
                          const std::vector<std::string>& keep) {
  return guarded(text, file, options, rewrites(options), keep);
}

std::string pin_contraction(std::string text, std::string file,
                            const std::map<std::string, Contraction>& choices) {
  try {
    const ptx::Module module = ptx::parse(text, std::move(file));
    std::vector<ptx::Edit> edits;
    for (const ptx::Function& function : module.functions) {
      const auto choice = choices.find(std::string(function.name));
      if (function.is_declaration || choice == choices.end()) continue;
      const ptx::Body body = ptx::resolve(module, function);
      if (body.usable)
        std::ranges::move(rewrite::pin(body, choice->second), std::back_inserter(edits));
    }
    return ptx::print(module, edits);
  } catch (const std::exception&) {
    return text; // unpinned: the comparison of code decides what that means
  }
}

} // namespace ptxasw
