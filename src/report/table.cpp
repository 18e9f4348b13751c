// Laying out a text table with wrapping cells.
#include "report/table.hpp"

#include "words/words.hpp"

#include <algorithm>

namespace ptxasw::report {
namespace {

constexpr std::size_t gap = 2;        // spaces between columns
constexpr std::size_t narrowest = 16; // a wrapping column keeps at least this

std::size_t longest_line(std::string_view cell) {
  return std::ranges::max(words::split(cell, '\n'), {}, &std::string_view::size).size();
}

std::vector<std::string> cell_lines(std::string_view cell, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view line : words::split(cell, '\n'))
    std::ranges::move(wrap(line, width), std::back_inserter(lines));
  return lines;
}

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

// Where to break a text that is longer than `width`: behind the last of `after` that still fits.
std::size_t break_behind(std::string_view text, std::size_t width, std::string_view after) {
  const auto at = text.substr(0, width).find_last_of(after);
  return at == std::string_view::npos ? 0 : at + 1;
}

} // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 1);
  while (text.size() > width) {
    // A space may stand just behind the last column, where it disappears.
    std::size_t at = break_behind(text, width + 1, " ");
    if (at < width / 3) at = std::max(at, break_behind(text, width, "+*,(:"));
    if (at == 0) at = width;
    std::string line(text.substr(0, at));
    trim_right(line);
    lines.push_back(std::move(line));
    text.remove_prefix(at);
  }
  lines.emplace_back(text);
  return lines;
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), {}});
}

void Table::note(std::string text) {
  if (!rows_.empty() && !text.empty()) rows_.back().notes.push_back(std::move(text));
}

void Table::rule() {
  rules_.push_back(rows_.size());
}

// 0 for a column that is not drawn.
std::vector<std::size_t> Table::widths(std::size_t room) const {
  std::vector<std::size_t> result(columns_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      result[c] = std::max(result[c], longest_line(row.cells[c]));
  std::size_t fixed = 0;
  std::vector<std::size_t> flexible;
  for (std::size_t c = 0; c < result.size(); ++c) {
    if (result[c] == 0) continue;
    result[c] = std::max(result[c], columns_[c].head.size());
    fixed += gap;
    if (columns_[c].wraps)
      flexible.push_back(c);
    else
      fixed += result[c];
  }
  // Narrow ones first: what they leave goes to the wider ones.
  std::stable_sort(flexible.begin(), flexible.end(),
                   [&](std::size_t a, std::size_t b) { return result[a] < result[b]; });
  std::size_t left = room + gap > fixed ? room + gap - fixed : 0;
  for (std::size_t i = 0; i < flexible.size(); ++i) {
    auto& width = result[flexible[i]];
    width = std::min(width, std::max(narrowest, left / (flexible.size() - i)));
    left -= std::min(left, width);
  }
  return result;
}

std::string Table::render(unsigned width, unsigned indent, const Paint& paint) const {
  const auto columns = widths(width > indent ? width - indent : 0);
  std::string out;
  const auto put_line = [&](std::string line) {
    trim_right(line);
    out += std::string(indent, ' ') + line + '\n';
  };
  // One line across the columns; cell(c) gives its text, dress(c, text) the same in colour.
  const auto put_cells = [&](auto&& cell, auto&& dress) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] == 0) continue;
      const std::string text = cell(c);
      const std::string space(columns[c] - std::min(columns[c], text.size()), ' ');
      const std::string dressed = dress(c, text);
      line += (columns_[c].align == Align::left ? dressed + space : space + dressed) +
              std::string(gap, ' ');
    }
    put_line(std::move(line));
  };
  const auto plain = [](std::size_t, const std::string& text) { return text; };
  const auto put_rule = [&] {
    put_cells([&](std::size_t c) { return std::string(columns[c], '-'); }, plain);
  };

  put_cells([&](std::size_t c) { return columns_[c].head; }, plain);
  put_rule();
  const std::size_t note_indent = columns.empty() ? 0 : columns.front() + gap;
  const std::size_t note_used = indent + note_indent + gap;
  const std::size_t note_width =
      std::max(narrowest, width - std::min<std::size_t>(width, note_used));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (std::find(rules_.begin(), rules_.end(), r) != rules_.end()) put_rule();
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(cell_lines(rows_[r].cells[c], std::max<std::size_t>(columns[c], 1)));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l)
      put_cells([&](std::size_t c) { return l < cells[c].size() ? cells[c][l] : std::string(); },
                [&](std::size_t c, const std::string& text) {
                  return paint && !text.empty() ? paint(r, c, text) : text;
                });
    for (const auto& note : rows_[r].notes) {
      std::size_t depth = note_indent;
      for (const auto& line : wrap(note, note_width)) {
        put_line(std::string(depth, ' ') + line);
        depth = note_indent + gap;
      }
    }
  }
  return out;
}

} // namespace ptxasw::report
