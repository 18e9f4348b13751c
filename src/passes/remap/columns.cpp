// Lines that a block brings into L1 beside what L1 itself has to do, for each width.
#include "passes/remap/columns.hpp"

#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

ColumnProposal propose_columns(const target::Profile& profile, std::span<const LinearLoad> loads,
                               unsigned threads) {
  constexpr double line = target::line_bytes,
                   lanes = target::warp_lanes; // a warp's elements of a row
  constexpr unsigned least = numbers::remap::least_column, most = numbers::remap::most_column;
  if (threads == 0) threads = numbers::remap::usual_block;
  if (loads.empty())
    return {.reason = "no loads that follow the index", .against = Reason::gains_too_little};
  if (threads <= least)
    return {.reason = "blocks of one warp share nothing", .against = Reason::nothing_to_share};
  // Per warp and pass over the loads: lines that the block's warps bring in when the block is some
  // rows of `width` elements. A row as long as the block is the naive order.
  const double warps = threads / lanes;
  const auto fetches = [&](double width) {
    double lines = 0;
    const double rows = threads / width;
    for (const LinearLoad& load : loads) {
      if (load.shares_line) continue;
      // Without x, a word for the whole row, and the next trip reads the one beside it.
      const double across = (load.follows_x ? width : 1) * load.bytes / line;
      lines += across * (load.follows_y ? rows : 1);
    }
    return lines / warps;
  };
  double requests = 0; // cycles of L1
  for (const LinearLoad& load : loads)
    requests += profile.load.cycles * std::max(1.0, lanes * load.bytes / line);
  const auto speed = [&](double width) {
    const auto cycles = [&](double w) {
      return std::max(requests, fetches(w) * profile.fetch.cycles);
    };
    return cycles(threads) / cycles(width);
  };
  ColumnProposal best;
  // The widest of equals: what narrow columns save in L1 they lose in rows of the other array.
  for (unsigned width = std::min(most, threads / 2); width >= least; width /= 2)
    if (speed(width) > best.speed)
      best = {width, fetches(width) / fetches(threads), speed(width), "", Reason::none};
  if (best.speed < numbers::remap::column_margin) {
    best.width = 0;
    best.against = Reason::gains_too_little;
    best.reason =
        fmt::format("columns gain nothing where L1 itself is the limit: at most {:.2f} times "
                    "the speed",
                    best.speed);
  } else {
    best.reason =
        fmt::format("columns of {} bring {:.2f} times as many lines into L1: up to {:.2f} "
                    "times the speed",
                    best.width, best.fetch_ratio, best.speed);
  }
  return best;
}

} // namespace ptxasw::passes
