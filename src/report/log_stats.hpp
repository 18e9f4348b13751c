// A build in numbers, from its log (PTXASW_LOG).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::report {

struct LogStats {
  std::uint64_t calls = 0, files = 0, files_rewritten = 0, kernels = 0, kernels_rewritten = 0;
  std::uint64_t broken = 0;                                  // lines that could not be read
  std::map<std::string, std::uint64_t, std::less<>> actions; // "rewritten", "passed through", ...
  std::map<std::string, std::uint64_t, std::less<>> passes;  // kernels that each rewrote
  std::map<std::string, std::uint64_t, std::less<>> reasons; // codes, of kernels left as they were
  std::map<std::string, std::uint64_t, std::less<>> left;    // why whole calls were left alone
  double predicted = 0;                                      // geometric mean; 0: nothing is known
  double total_ms = 0, optimize_ms = 0, own_cpu_ms = 0, ptxas_cpu_ms = 0;
};

// None where the text is no such log. A line that is broken is counted.
std::optional<LogStats> stats_of_log(std::string_view log);

// For people, the most frequent first; and as JSON.
std::string stats_as_text(const LogStats& stats);
std::string stats_as_json(const LogStats& stats);

} // namespace ptxasw::report
