// Lines of ptxas, with the names and line numbers of the input put back.
#include "driver/messages.hpp"

#include "report/diff.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ptxasw::driver {
namespace {

bool is_statistics(std::string_view line) {
  constexpr std::array<std::string_view, 4> starts{
      "Compiling entry function '", "Function properties for ",
      "Compile time = ", "Overriding maximum register limit "};
  constexpr std::string_view info = " info    : ";
  if (line.starts_with("    ") && line.find(" bytes stack frame, ") != std::string_view::npos)
    return true;
  const std::size_t at = line.find(info);
  if (at == std::string_view::npos) return false;
  const std::string_view text = line.substr(at + info.size());
  if (std::ranges::any_of(starts, [&](auto s) { return text.starts_with(s); })) return true;
  if (text.starts_with("Used ")) return text.find(" registers") != std::string_view::npos;
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find(" bytes gmem") != std::string_view::npos;
}

template <class Drops> std::string lines_unless(std::string_view messages, const Drops& drops) {
  std::string kept;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size() - 1) + 1;
    if (!drops(messages.substr(0, end))) kept += messages.substr(0, end);
    messages.remove_prefix(end);
  }
  return kept;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

} // namespace

std::vector<std::uint32_t> map_lines(std::string_view original, std::string_view rewritten) {
  const auto before = report::split_lines(original);
  const auto after = report::split_lines(rewritten);
  const std::size_t last = before.empty() ? 0 : before.size() - 1;
  std::vector<std::uint32_t> map;
  map.reserve(after.size());
  for (const report::Hunk& hunk : report::diff(before, after)) {
    const std::size_t lines = hunk.before_end - hunk.before_begin;
    for (std::size_t i = 0; i < hunk.after_end - hunk.after_begin; ++i) {
      const std::size_t line = hunk.before_begin + (lines == 0 ? 0 : std::min(i, lines - 1));
      map.push_back(static_cast<std::uint32_t>(std::min(line, last) + 1));
    }
  }
  return map;
}

std::string in_terms_of_original(std::string messages, const StandIn& file) {
  const std::string marker = file.path + ", line ";
  std::vector<std::uint32_t> map;
  for (std::size_t at = 0; (at = messages.find(marker, at)) != std::string::npos;) {
    if (map.empty()) map = map_lines(file.original, file.rewritten);
    const std::size_t digits = at + marker.size();
    std::size_t line = 0;
    const auto end =
        std::from_chars(messages.data() + digits, messages.data() + messages.size(), line);
    const auto length = static_cast<std::size_t>(end.ptr - messages.data()) - digits;
    if (line >= 1 && line <= map.size())
      messages.replace(digits, length, std::to_string(map[line - 1]));
    at = digits;
  }
  replace_all(messages, file.path, file.original_path);
  return messages;
}

std::string without_statistics(std::string_view messages) {
  return lines_unless(messages, is_statistics);
}

std::string without_entry_limits(std::string_view messages) {
  return lines_unless(messages, [](std::string_view line) {
    return line.find(" info    : Overriding global maxrregcount ") != std::string_view::npos &&
           line.find(" computed using thread count") != std::string_view::npos;
  });
}

} // namespace ptxasw::driver
