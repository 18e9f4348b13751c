// What can happen between two instructions, of which the first dominates the second: all paths from
// the first to the second that do not come back to the first.
#pragma once

#include "emulator/emulate.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ptxasw::passes {

class Between {
public:
  explicit Between(const emulator::Kernel& kernel);

  // Both must stand in the same innermost loop (or in none), or the second in a loop inside of it.
  // Calls visit(const Event&) for each memory event strictly between; stops at the first `false`.
  template <class Visit>
  bool all_events(ptx::InstId first, ptx::InstId second, const Visit& visit) {
    const auto& events = kernel_.trace.events;
    for (const Span& span : spans(first, second)) {
      const auto& here = events_of_block_[span.block]; // in the order of their instructions
      const auto inst = [&](std::size_t e) { return events[e].inst; };
      for (auto e = std::ranges::lower_bound(here, span.first, {}, inst);
           e != here.end() && inst(*e) < span.end; ++e) {
        kernel_.context->spend(1);
        if (!visit(events[*e])) return false;
      }
    }
    return true;
  }

  // May some instruction strictly between write `reg`?
  bool overwritten(ptx::InstId first, ptx::InstId second, ptx::RegId reg);

private:
  struct Span {
    analysis::BlockId block;
    ptx::InstId first, end;
  };
  std::vector<Span> spans(ptx::InstId first, ptx::InstId second);
  const std::vector<analysis::BlockId>& blocks_between(analysis::BlockId from,
                                                       analysis::BlockId to);

  const emulator::Kernel& kernel_;
  std::vector<std::vector<std::size_t>> events_of_block_;
  std::vector<std::vector<ptx::InstId>> definitions_;
  std::map<std::pair<analysis::BlockId, analysis::BlockId>, std::vector<analysis::BlockId>> memo_;
};

} // namespace ptxasw::passes
