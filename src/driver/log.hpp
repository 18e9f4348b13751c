// PTXASW_LOG=FILE: what each call did, one JSON object per line.
#pragma once

#include "driver/process.hpp"
#include "ptxasw/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::driver {

struct InputRecord {
  std::string path;
  std::size_t bytes = 0;
  std::uint64_t hash = 0;
  bool changed = false;
  Report report;
};

struct LogRecord {
  std::string version;                // ours
  std::string settings;               // " --shuffle=all"
  std::string ptxas;                  // path of the real one
  std::string ptxas_version;          // "13.0.88"
  std::vector<std::string> arguments; // as we got them
  std::string action;                 // "passed through", "rewritten", "fell back"
  std::string reason;                 // why not rewritten, or what made us fall back
  std::vector<InputRecord> inputs;
  std::vector<Reverted> reverted; // by the register guard
  std::string output;
  std::optional<std::uint64_t> output_hash;
  Ended ended;
  double optimize_ms = 0, total_ms = 0;
  double own_processor_ms = 0, ptxas_processor_ms = 0; // of this process, and of all that it ran
};

// One line, with its line end.
std::string to_json_line(const LogRecord& record);

// A single write to a file opened for appending, so that lines of concurrent calls do not mix.
bool append_line(const std::string& path, const std::string& line);

// "13.0.88" out of what --version printed.
std::string version_number(std::string_view text);

} // namespace ptxasw::driver
