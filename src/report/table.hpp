// A text table whose cells wrap: columns take the room their contents need, flexible columns share
// what the page leaves, and a column without contents is not drawn.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::report {

enum class Align : bool { left, right };

struct Column {
  std::string head;
  Align align = Align::left;
  bool wraps = false; // may become narrower than its longest cell
};

class Table {
public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns; missing ones are empty. A line feed in a cell starts a new line.
  void row(std::vector<std::string> cells);
  void rule(); // a line across, before the next row
  // Text of its own under the last row, over the full width from the second column on.
  void note(std::string text);

  // Each line starts with `indent` spaces and is at most `width` columns where the columns allow.
  // `paint`, if given, dresses the finished text of a cell's line, for colour.
  using Paint = std::function<std::string(std::size_t row, std::size_t column, std::string_view)>;
  [[nodiscard]] std::string render(unsigned width, unsigned indent = 0,
                                   const Paint& paint = {}) const;

private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t room) const;

  std::vector<Column> columns_;
  struct Row {
    std::vector<std::string> cells, notes;
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> rules_; // row indices
};

// Breaks text into lines of at most `width` bytes: after spaces, else after an operator or comma of
// an address term, else anywhere.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

} // namespace ptxasw::report
