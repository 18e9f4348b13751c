// See messages.hpp.
#include "driver/messages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace ptxasw::driver {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// How far apart two places may be at which the texts agree again. A rewrite adds a few lines per
// load; what is further off is mapped line by line from where it began, which is near enough.
constexpr std::size_t window = 128;

struct Step {
  std::size_t removed = 1, added = 1;
};

// The nearest pair of equal lines; two in a row, because blank lines and braces agree by chance.
Step resynchronize(std::span<const std::string_view> before,
                   std::span<const std::string_view> after) {
  const auto agree = [&](std::size_t b, std::size_t a) {
    if (b >= before.size() || a >= after.size()) return false;
    if (before[b] != after[a]) return false;
    if (b + 1 == before.size() || a + 1 == after.size()) return true;
    return before[b + 1] == after[a + 1];
  };
  for (std::size_t distance = 1; distance <= window; ++distance)
    for (std::size_t removed = 0; removed <= distance; ++removed)
      if (agree(removed, distance - removed)) return {removed, distance - removed};
  return {};
}

bool is_statistics(std::string_view line) {
  constexpr std::array<std::string_view, 3> starts{"Compiling entry function '",
                                                   "Function properties for ", "Compile time = "};
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

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

} // namespace

std::vector<std::uint32_t> map_lines(std::string_view original, std::string_view rewritten) {
  const auto before = lines_of(original);
  const auto after = lines_of(rewritten);
  std::vector<std::uint32_t> map;
  map.reserve(after.size());
  const auto note = [&](std::size_t line) {
    const std::size_t last = std::max<std::size_t>(before.size(), 1) - 1;
    map.push_back(static_cast<std::uint32_t>(std::min(line, last) + 1));
  };
  std::size_t b = 0;
  while (map.size() < after.size()) {
    const std::size_t a = map.size();
    if (b < before.size() && before[b] == after[a]) {
      note(b++);
      continue;
    }
    const Step step = resynchronize(std::span(before).subspan(std::min(b, before.size())),
                                    std::span(after).subspan(a));
    for (std::size_t i = 0; i < step.added; ++i)
      note(step.removed == 0 ? b : b + std::min(i, step.removed - 1));
    b += step.removed;
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
  std::string kept;
  for (const std::string_view line : lines_of(messages))
    if (!is_statistics(line)) kept += line;
  return kept;
}

} // namespace ptxasw::driver
