// Line differences of a text and its rewritten form, for the side-by-side view.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ptxasw::report {

// Lines [before_begin, before_end) of the old text stand against [after_begin, after_end) of the
// new one: the same lines, or different ones.
struct Hunk {
  bool same = true;
  std::size_t before_begin = 0, before_end = 0, after_begin = 0, after_end = 0;
  friend bool operator==(const Hunk&, const Hunk&) = default;
};

// Lines without their line ends; an empty text has none.
std::vector<std::string_view> split_lines(std::string_view text);

// Hunks that cover both texts in order. Rewrites are local, so the search for the next common
// lines looks a bounded way ahead; past that the rest of the texts is one different hunk. Time is
// linear in the texts apart from that window.
std::vector<Hunk> diff(const std::vector<std::string_view>& before,
                       const std::vector<std::string_view>& after);

} // namespace ptxasw::report
