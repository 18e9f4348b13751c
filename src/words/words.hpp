// What every reader of small texts needs: their parts and numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::words {

// Takes what stands in front of the next of the separators, and that separator; all if there is
// none.
inline std::string_view take(std::string_view& text, std::string_view separators) {
  const std::string_view word = text.substr(0, text.find_first_of(separators));
  text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
  return word;
}

// All parts, one more than there are separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Nothing unless the whole text is one that fits.
template <class Number> std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
// Of another base, digits alone.
template <class Number> std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

} // namespace ptxasw::words
