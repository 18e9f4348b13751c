// What stands in the text of a stretch that may be a tree: all threads of the block come to it
// together, and there is nothing in it but barriers, accesses to shared memory and plain functions.
#pragma once

#include "passes/warp_reduce/find.hpp"
#include "passes/warp_reduce/tree_view.hpp"

namespace ptxasw::passes {

// All threads of the block, those of a warp together.
bool is_whole_barrier(const ptx::Body& body, const ptx::Inst& inst);

class TreeText : public TreeView {
public:
  explicit TreeText(emulator::Kernel& kernel) : TreeView(kernel) {}

  // Barriers of the stretch into `rounds`, whose begin and end are known. False: it is none, and
  // why() tells the reason.
  bool find(TreeReduction& rounds);

private:
  bool is_common(const TreeReduction& r);
  [[nodiscard]] bool decides(analysis::BlockId b, analysis::BlockId here) const;
  bool belongs(TreeReduction& r, ptx::InstId i);
  bool plain_text(const TreeReduction& r);
};

} // namespace ptxasw::passes
