// Proposals are made one after another, so that nothing is proven for one that is refused anyway.
#include "manager/arbitrate.hpp"

#include <algorithm>
#include <iterator>

namespace ptxasw::manager {

std::vector<ptx::Edit> arbitrate(std::span<const Proposal> proposals) {
  std::vector<ptx::Edit> edits;
  std::vector<Made> done;
  for (const Proposal& proposal : proposals) {
    const auto other = std::ranges::find_if(
        done, [&](const Made& made) { return (made.touched & proposal.needs) != 0; });
    if (other != done.end()) {
      proposal.refuse(other->claim);
      continue;
    }
    Made made = proposal.make();
    if (made.edits.empty()) continue;
    std::ranges::move(made.edits, std::back_inserter(edits));
    done.push_back({{}, made.touched, std::move(made.claim)});
  }
  return edits;
}

} // namespace ptxasw::manager
