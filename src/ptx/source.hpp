// Places in a PTX text, and messages that point at them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::ptx {

// Half-open byte range [begin, end) of a module's text.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin == end; }
  friend bool operator==(const Range&, const Range&) = default;
};

// One-based line and column (columns count bytes, as ptxas and g++ do).
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

enum class Severity : std::uint8_t { note, warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  Range where;
  std::string message; // what was found and what was expected, no trailing full stop
};

// Start offsets of the lines of a text, for offset -> position look-ups in logarithmic time.
class LineTable {
public:
  LineTable() = default;
  explicit LineTable(std::string_view text);
  [[nodiscard]] Position position(std::uint32_t offset) const;
  // The text of a line (one-based) without its line end.
  [[nodiscard]] std::string_view line(std::string_view text, std::uint32_t number) const;

private:
  std::vector<std::uint32_t> starts_{0};
};

// "file:line:column: error: message", the line, and a caret under the column.
std::string render(const Diagnostic& diagnostic, std::string_view text, const LineTable& lines,
                   std::string_view file);

} // namespace ptxasw::ptx
