// Grows by what a jump leads to or comes from, block by block; it can only grow, so it ends.
#include "analysis/sese_region.hpp"

#include <algorithm>

namespace ptxasw::analysis {
namespace {

class Growing {
public:
  Growing(const Cfg& cfg, SeseRegion part) : cfg_(cfg), stretch_(part) {}

  std::optional<SeseRegion> run() {
    first_ = last_ = cfg_.block_of[stretch_.end - 1];
    look_at(last_);
    while (!ends_) {
      if (cfg_.block_of[stretch_.first] < first_) {
        look_at(--first_);
        look_at(first_ + 1); // was the start, where anybody may come in
      } else if (cfg_.block_of[stretch_.end - 1] > last_) {
        look_at(++last_);
      } else {
        return stretch_;
      }
    }
    return std::nullopt;
  }

private:
  // Its end is in the stretch; its start may lie ahead of it.
  void look_at(BlockId id) {
    const Block& block = cfg_.blocks[id];
    for (const BlockId succ : block.succs) {
      ends_ |= succ == cfg_.exit();
      stretch_.first = std::min(stretch_.first, cfg_.blocks[succ].first);
      stretch_.end = std::max(stretch_.end, cfg_.blocks[succ].first);
    }
    if (block.first <= stretch_.first) return;
    for (const BlockId pred : block.preds) { // with the jump that leads in
      stretch_.first = std::min(stretch_.first, cfg_.blocks[pred].end - 1);
      stretch_.end = std::max(stretch_.end, cfg_.blocks[pred].end);
    }
  }

  const Cfg& cfg_;
  SeseRegion stretch_;
  BlockId first_ = 0, last_ = 0; // looked at
  bool ends_ = false;
};

} // namespace

std::optional<SeseRegion> closed_around(const Cfg& cfg, SeseRegion part) {
  return Growing(cfg, part).run();
}

} // namespace ptxasw::analysis
