// The word that somebody meant who typed another one.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::tool {

// Letters that have to be put in, left out or exchanged (Levenshtein).
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      before = std::exchange(
          row[j + 1], std::min({before + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, row[j] + 1}));
  }
  return row.back();
}

// Empty if none is near.
inline std::string_view nearest(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t near = 3; // less than so many
  const auto found = std::ranges::min_element(
      words, {}, [&](std::string_view other) { return distance(word, other); });
  return found != words.end() && distance(word, *found) < std::min(near, word.size()) ? *found : "";
}

// "; did you mean WORD?", or nothing.
inline std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const std::string_view other = nearest(word, words);
  return other.empty() ? std::string() : fmt::format("; did you mean {}?", other);
}

} // namespace ptxasw::tool
