// Blocks that one block's threads run one after the other.
//
// The threads of one block run the body for block b0, meet, run it for b0 + 1, meet, and so on.
// That is one schedule of these blocks, and an allowed one (waiting.hpp), if every barrier of the
// body is met by the same threads as in a block of its own. There a thread that has ended is not
// waited for any more; here it stands at the place where all meet behind the body. So no thread may
// end ahead of others that still meet, and none may pass by a barrier that others come to.
#pragma once

#include "analysis/replica_divergence.hpp"
#include "emulator/emulate.hpp"
#include "ptxasw/reason.hpp"

#include <vector>

namespace ptxasw::passes {

class SerializedBlocks {
public:
  explicit SerializedBlocks(const emulator::Kernel& kernel);

  // The body may be run so: its barriers are all of the whole block, without a count, no branch at
  // which threads of a block part leads past one, and none leads to an end past a place where lanes
  // of a warp meet.
  [[nodiscard]] bool are_possible() const { return possible_; }

  // All threads of a block come to this branch, once in a launch, and go the same way there, and
  // nothing that others could tell has happened before it. So a block that has several blocks' work
  // may stop here and begin again with the first of them.
  [[nodiscard]] bool may_begin_again_at(ptx::InstId branch) const;

private:
  void part_at(analysis::BlockId branch);

  const emulator::Kernel& k_;
  std::vector<bool> some_;       // by block of the graph: only some threads of a block may run it
  std::vector<bool> some_ended_; // or others may have ended where these run it
  bool possible_ = true;
};

// Sound, but of no use: neighbours that part over whether the block's index is odd, or what a
// division leaves of it, do so in every group, and then all of them run one after the other. What
// only grows, or only falls, with the index parts one group (`ctaid * 64 >= n`). Empty, or a
// reason.
Why why_every_group_parts(const emulator::Kernel& kernel,
                          const analysis::ReplicaDivergence& replica_divergence);

} // namespace ptxasw::passes
