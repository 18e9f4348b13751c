// Who runs next. Each turn gives some fragment of some resident block a number of steps; a turn
// that finds nobody ready has found a deadlock.
#include "simt/engine.hpp"

#include <algorithm>

namespace ptxasw::simt {

namespace {

// Long enough to be cheap, short enough that a thread that spins does not starve the others.
constexpr std::uint64_t long_quantum = 4096;

bool finished(const Block& block) {
  return std::ranges::all_of(block.warps, [](const Warp& warp) { return warp.alive() == 0; });
}

} // namespace

// Puts the next blocks where others have ended. False: the grid is done.
bool Engine::refill() {
  bool any = false;
  for (Block& block : blocks_) {
    if (block.active && finished(block)) block.active = false;
    if (!block.active && next_block_ < order_.size()) begin_block(block, order_[next_block_++]);
    any = any || block.active;
  }
  return any;
}

// The first ready fragment at or behind `from`, going round.
std::optional<std::uint32_t> Engine::next_ready(const Warp& warp, std::uint32_t from) const {
  const auto count = static_cast<std::uint32_t>(warp.fragments.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t id = (from + i) % count;
    if (warp.fragments[id].state == Fragment::State::ready) return id;
  }
  return std::nullopt;
}

// A header that is reached from inside its loop begins the next trip, and loops inside begin anew.
void Engine::count_iteration(Frame& frame, const Fragment& f, const Ins& header) {
  const Code& code = *frame.code;
  if (!code.encloses(header.loop, code.insts[f.last_pc].loop)) return;
  for (std::uint32_t loop = header.loop; loop < code.loops.size(); ++loop) {
    if (!code.encloses(header.loop, loop)) continue;
    for_lanes(f.mask, [&](unsigned lane) {
      std::uint32_t& iterations = frame.iterations[loop][lane];
      iterations = loop == header.loop ? iterations + 1 : 0;
    });
  }
}

// At a header it is not yet known which trip the lanes are about to begin.
bool Engine::same_iterations(const Frame& frame, const Fragment& a, const Fragment& b) {
  const Code& code = *frame.code;
  if (a.pc == code.insts.size()) return true;
  const Ins& ins = code.insts[a.pc];
  if (ins.loop_header) return false;
  for (std::uint32_t loop = ins.loop; loop != nowhere; loop = code.loops[loop].parent)
    if (frame.iterations[loop][lowest(a.mask)] != frame.iterations[loop][lowest(b.mask)])
      return false;
  return true;
}

// Takes in the lanes of all fragments that stand at the same place and have the same future.
void Engine::merge_equals(Warp& warp, std::uint32_t id) {
  Fragment& f = warp.fragments[id];
  for (std::uint32_t other = 0; other < warp.fragments.size(); ++other) {
    Fragment& o = warp.fragments[other];
    if (other == id || o.state != Fragment::State::ready || o.pc != f.pc || o.frame != f.frame ||
        o.parent != f.parent)
      continue;
    if (!launch_.schedule.across_iterations && !same_iterations(warp.frames[f.frame], f, o))
      continue;
    f.mask |= o.mask;
    if (f.parent != nowhere) --warp.fragments[f.parent].children;
    o = {};
  }
}

bool Engine::turn_of_lockstep() {
  bool moved = false;
  for (Block& block : blocks_) {
    if (!block.active) continue;
    for (Warp& warp : block.warps) {
      // All that the warp can do until it waits; a fragment that spins gives way to the next.
      for (std::uint64_t rounds = 0; rounds < 64 && result_.ok(); ++rounds) {
        const auto id = next_ready(warp, warp.turn);
        if (!id) break;
        merge_equals(warp, *id);
        advance(warp, *id, long_quantum);
        moved = true;
        const bool still_ready = warp.fragments[*id].state == Fragment::State::ready;
        warp.turn = still_ready ? *id + 1 : *id;
      }
      if (!result_.ok()) return moved;
    }
  }
  return moved;
}

bool Engine::turn_of_one_lane() {
  bool moved = false;
  for (Block& block : blocks_) {
    if (!block.active) continue;
    for (Warp& warp : block.warps) {
      std::uint32_t from = launch_.schedule.seed == 0
                               ? 0
                               : static_cast<std::uint32_t>(random_.below(warp.fragments.size()));
      // One pass over the fragments that are ready now.
      for (std::size_t i = 0; i < warp.fragments.size() && result_.ok(); ++i) {
        const auto id = next_ready(warp, from);
        if (!id) break;
        advance(warp, *id, long_quantum);
        moved = true;
        from = *id + 1;
      }
      if (!result_.ok()) return moved;
    }
  }
  return moved;
}

bool Engine::turn_of_independent() {
  // A random warp, or the next one that can move.
  const std::size_t first_block = random_.below(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[(first_block + b) % blocks_.size()];
    if (!block.active) continue;
    const std::size_t first_warp = random_.below(block.warps.size());
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
      Warp& warp = block.warps[(first_warp + w) % block.warps.size()];
      const auto count = warp.fragments.size();
      const auto id = next_ready(warp, static_cast<std::uint32_t>(random_.below(count)));
      if (!id) continue;
      if (!random_.one_in(3)) merge_equals(warp, *id);
      const std::uint32_t mask = warp.fragments[*id].mask;
      const std::uint32_t some = mask & static_cast<std::uint32_t>(random_.next());
      if (random_.one_in(16) && some != 0 && some != mask) split(warp, *id, some);
      advance(warp, *id, 1 + random_.below(random_.one_in(8) ? 64 : 8));
      return true;
    }
  }
  return false;
}

} // namespace ptxasw::simt
