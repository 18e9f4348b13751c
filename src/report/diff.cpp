// A greedy line difference: walk both texts while they agree, and where they part find the nearest
// pair of places, by lines skipped, from which two lines in a row agree again.
#include "report/diff.hpp"

#include "words/words.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace ptxasw::report {
namespace {

constexpr std::size_t window = 1024; // lines skipped in both texts together
constexpr std::size_t agreement = 2; // lines in a row that end a difference

// Lines as numbers, so that comparing them is cheap.
class Interner {
public:
  std::vector<std::uint32_t> operator()(const std::vector<std::string_view>& lines) {
    std::vector<std::uint32_t> ids;
    ids.reserve(lines.size());
    for (const auto line : lines)
      ids.push_back(ids_.try_emplace(line, static_cast<std::uint32_t>(ids_.size())).first->second);
    return ids;
  }

private:
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

class Search {
public:
  Search(std::vector<std::uint32_t> before, std::vector<std::uint32_t> after)
      : a_(std::move(before)), b_(std::move(after)), a_end_(a_.size()), b_end_(b_.size()) {
    while (a_end_ > 0 && b_end_ > 0 && a_[a_end_ - 1] == b_[b_end_ - 1]) {
      --a_end_;
      --b_end_;
    }
  }

  std::vector<Hunk> run() {
    std::size_t i = 0, j = 0;
    while (i < a_end_ || j < b_end_) {
      const auto [same_i, same_j] = common_run(i, j);
      put(true, i, same_i, j, same_j);
      const auto [next_i, next_j] = resume(same_i, same_j);
      put(false, same_i, next_i, same_j, next_j);
      i = next_i;
      j = next_j;
    }
    put(true, a_end_, a_.size(), b_end_, b_.size());
    return std::move(hunks_);
  }

private:
  using LineSpan = std::pair<std::size_t, std::size_t>;

  [[nodiscard]] LineSpan common_run(std::size_t i, std::size_t j) const {
    while (i < a_end_ && j < b_end_ && a_[i] == b_[j]) {
      ++i;
      ++j;
    }
    return {i, j};
  }

  [[nodiscard]] bool agree(std::size_t i, std::size_t j) const {
    for (std::size_t k = 0; k < agreement; ++k)
      if (i + k >= a_.size() || j + k >= b_.size() || a_[i + k] != b_[j + k]) return false;
    return true;
  }

  [[nodiscard]] LineSpan resume(std::size_t i, std::size_t j) const {
    if (i == a_end_ || j == b_end_) return {a_end_, b_end_};
    for (std::size_t skipped = 1; skipped <= window; ++skipped)
      for (std::size_t in_a = 0; in_a <= skipped; ++in_a) {
        const std::size_t in_b = skipped - in_a;
        if (i + in_a <= a_end_ && j + in_b <= b_end_ && agree(i + in_a, j + in_b))
          return {i + in_a, j + in_b};
      }
    return {a_end_, b_end_};
  }

  void put(bool same, std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1) {
    if (a0 == a1 && b0 == b1) return;
    if (!hunks_.empty() && hunks_.back().same == same) {
      hunks_.back().before_end = a1;
      hunks_.back().after_end = b1;
    } else {
      hunks_.push_back({same, a0, a1, b0, b1});
    }
  }

  std::vector<std::uint32_t> a_, b_;
  std::size_t a_end_, b_end_; // without the common tail
  std::vector<Hunk> hunks_;
};

} // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = words::take(text, "\n");
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

std::vector<Hunk> diff(const std::vector<std::string_view>& before,
                       const std::vector<std::string_view>& after) {
  Interner intern;
  auto a = intern(before);
  auto b = intern(after);
  return Search(std::move(a), std::move(b)).run();
}

} // namespace ptxasw::report
