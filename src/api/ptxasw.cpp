// The public doors: nothing may escape them, since a failure of ours must never fail a build.
#include "ptxasw/hints.hpp"
#include "ptxasw/versions.hpp"

#include "manager/hints.hpp"
#include "manager/optimize.hpp"

#include <fmt/format.h>

#include <exception>

namespace ptxasw {
namespace {

Optimized guarded(const std::string& text, const std::string& file, const Options& options,
                  bool rewrite, Assembler* assembler,
                  manager::OwnEntries own = manager::OwnEntries::rewritten) {
  try {
    return manager::run(text, file, options, rewrite, assembler, own);
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
  return PTXASW_VERSION;
}

Report analyze(const std::string& text, const std::string& file, const Options& options) {
  return guarded(text, file, options, false, nullptr).report;
}

Optimized optimize(const std::string& text, const std::string& file, const Options& options,
                   Assembler* assembler) {
  return guarded(text, file, options, rewrites(options), assembler);
}

Optimized with_versions(const std::string& text, const std::string& file, const Options& options,
                        Assembler& assembler) {
  return guarded(text, file, options, rewrites(options), &assembler,
                 manager::OwnEntries::as_they_came);
}

void find_hints(const std::string& text, const Options& options, Assembler* assembler,
                Report& report) {
  try {
    manager::find_hints(text, options, assembler, report);
  } catch (const std::exception& error) {
    report.messages.push_back(
        {0, 0, fmt::format("{}: internal error: {}", report.file, error.what())});
  }
}

} // namespace ptxasw
