// Offsets to lines and columns, and messages with the line they speak of.
#include "ptx/source.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ptxasw::ptx {

namespace {

// Longer lines (tables of bytes) are cut around the place of interest.
constexpr std::size_t excerpt_width = 160;

std::string_view severity_name(Severity severity) {
  switch (severity) {
  case Severity::note: return "note";
  case Severity::warning: return "warning";
  case Severity::error: break;
  }
  return "error";
}

// Printable ASCII and tabs as they are; anything else would upset terminals and logs.
std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return c != '\t' && (c < ' ' || c > '~'); }, '?');
  return result;
}

} // namespace

LineTable::LineTable(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(static_cast<std::uint32_t>(at + 1));
}

Position LineTable::position(std::uint32_t offset) const {
  const auto after = std::ranges::upper_bound(starts_, offset);
  const auto line = static_cast<std::uint32_t>(after - starts_.begin());
  return {line, offset - starts_[line - 1] + 1};
}

std::string_view LineTable::line(std::string_view text, std::uint32_t number) const {
  if (number == 0 || number > starts_.size()) return {};
  const std::size_t begin = starts_[number - 1];
  const std::size_t end = number < starts_.size() ? starts_[number] - 1 : text.size();
  std::string_view line = text.substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string render(const Diagnostic& diagnostic, std::string_view text, const LineTable& lines,
                   std::string_view file) {
  const Position at = lines.position(diagnostic.where.begin);
  std::string_view line = lines.line(text, at.line);
  std::size_t column = std::min<std::size_t>(at.column - 1, line.size());
  if (line.size() > excerpt_width) {
    const std::size_t from = column > excerpt_width / 2 ? column - excerpt_width / 2 : 0;
    line = line.substr(from, excerpt_width);
    column -= from;
  }
  std::string excerpt = printable(line);
  // The caret line repeats the tabs, so that it lines up at any tab width.
  std::string caret = excerpt.substr(0, column);
  std::ranges::replace_if(
      caret, [](char c) { return c != '\t'; }, ' ');
  return fmt::format("{}:{}:{}: {}: {}\n  {}\n  {}^\n", file, at.line, at.column,
                     severity_name(diagnostic.severity), diagnostic.message, excerpt, caret);
}

} // namespace ptxasw::ptx
